// Opening the store: the statement that finds out what is in the database, and makes it what it should be.

import { CURRENT, type Schema } from './schema.js';
import { quotedSchema } from './schema-name.js';
import { inSchema, literal } from './script.js';
import { OTHER_LAYOUT, REFUSED, WRONG_VERSION } from './version.js';
import type { Migrate } from '../../store/contract.js';

/**
 * One statement that finds out what is there and makes it what it should be, or raises {@link REFUSED} with the
 * reason, {@link WRONG_VERSION} or {@link OTHER_LAYOUT}. One process at a time does that, in one transaction; what
 * others have made meanwhile is found.
 */
export function openStatement(schemaName: string, migrate: Migrate, schema: Schema = CURRENT): string {
  const quoted = quotedSchema(schemaName);
  const name = `$name$${schemaName}$name$`;
  const title = literal(`the schema ${quoted}`);
  const refuse = (message: string): string =>
    `raise exception using errcode = '${REFUSED}', message = format(${message}, ${name});`;
  return `do $open$
declare
  stored jsonb;
  found_version integer;
begin
  ${migrate === 'check' ? '' : `perform pg_advisory_xact_lock(hashtextextended('statepad ' || ${name}, 0));`}
  if to_regclass(format('%I.statepad_version', ${name})) is null then
    if exists (select from pg_class where relnamespace = to_regnamespace(quote_ident(${name})))
      or exists (select from pg_proc where pronamespace = to_regnamespace(quote_ident(${name})))
      or exists (select from pg_type where typnamespace = to_regnamespace(quote_ident(${name})))
    then
      ${refuse("'the schema %I holds something else'")}
    end if;
    ${migrate === 'check' ? refuse("'there is nothing in the schema %I yet'") : creation(name, quoted, schema)}
  end if;
  select to_jsonb(entry) into stored from ${quoted}.statepad_version entry;
  found_version := stored->>'version';
  if found_version is null then
    ${refuse("'the schema %I does not say which version it has'")}
  elsif stored->>'layout' is null then
    raise exception using errcode = '${OTHER_LAYOUT}', message = ${title}, detail = '';
  end if;
  ${migrate === 'upgrade' ? upgrade(quoted, schema) : ''}
  if found_version <> ${schema.version} then
    raise exception using errcode = '${WRONG_VERSION}', message = ${title}, detail = found_version::text;
  elsif stored->>'layout' <> '${schema.layout}' then
    raise exception using errcode = '${OTHER_LAYOUT}', message = ${title}, detail = stored->>'layout';
  end if;
end
$open$`;
}

function creation(name: string, quoted: string, { version, layout, scripts }: Schema): string {
  return `if to_regnamespace(quote_ident(${name})) is null then
      create schema ${quoted};
    end if;
    ${scripts.map((script) => inSchema(script, quoted)).join('\n')}
    insert into ${quoted}.statepad_version (version, layout) values (${version}, '${layout}');`;
}

/**
 * The statements that go from version to version; a way that ends too early is taken back as a whole. All that writes
 * begins at the table of the scopes: its lock waits for what has begun, and what begins later finds the new version.
 */
function upgrade(quoted: string, { version, layout, upgrades }: Schema): string {
  const steps = Object.entries(upgrades).map(
    ([from, script]) => `if found_version = ${from} then
      ${inSchema(script, quoted)}
      found_version := ${Number(from) + 1};
    end if;`,
  );
  return `if found_version < ${version} then
    lock table ${quoted}.scopes in access exclusive mode;
    ${steps.join('\n    ')}
    stored := jsonb_build_object('layout', '${layout}');
    update ${quoted}.statepad_version set version = found_version, layout = '${layout}';
  end if;`;
}
