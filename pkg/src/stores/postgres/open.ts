// Opening the store: the statement that finds out what is in the database, and makes it what it should be.

import { literal } from './functions/common.js';
import { version1, version2 } from './schema.js';
import { upgradeFrom1 } from './upgrade.js';
import { makeQuickFunctions, quickFunctions, regnamespace } from './functions/quick.js';
import { REFUSED, VERSION, WRONG_VERSION } from './version.js';
import { StoreError } from '../../store/store-error.js';
import type { Migrate } from '../../store/contract.js';

/** How long the name of anything in Postgres may be, in bytes. */
const NAME_LIMIT = 63;

/** A schema's name as it is written in a statement. */
export function quotedSchema(name: string): string {
  const size = new TextEncoder().encode(name).length;
  // Statements quote it with dollars.
  if (size === 0 || size > NAME_LIMIT || /[\0$]/.test(name)) {
    const rule = `it needs 1 to ${NAME_LIMIT} bytes, none of them NUL or $`;
    throw new StoreError('rejected', `a schema cannot be named ${JSON.stringify(name)}: ${rule}`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * One statement that finds out what is there and makes it what it should be, or raises {@link REFUSED} with the
 * reason, or {@link WRONG_VERSION}. One process at a time does that, in one transaction; what others have made
 * meanwhile is found.
 */
export function openStatement(schema: string, migrate: Migrate): string {
  const quoted = quotedSchema(schema);
  const name = `$name$${schema}$name$`;
  const refuse = (message: string): string =>
    `raise exception using errcode = '${REFUSED}', message = format(${message})`;
  return `do $open$
declare
  found_version integer;
begin
  ${migrate === 'check' ? '' : `perform pg_advisory_xact_lock(hashtextextended('statepad ' || ${name}, 0));`}
  if to_regclass(format('%I.statepad_version', ${name})) is null then
    if exists (select from pg_class where relnamespace = to_regnamespace(quote_ident(${name})))
      or exists (select from pg_proc where pronamespace = to_regnamespace(quote_ident(${name})))
      or exists (select from pg_type where typnamespace = to_regnamespace(quote_ident(${name})))
    then
      ${refuse(`'the schema %I holds something else', ${name}`)};
    end if;
    ${migrate === 'check' ? `${refuse(`'there is nothing in the schema %I yet', ${name}`)};` : creation(name, quoted)}
  end if;
  select max(version) into found_version from ${quoted}.statepad_version;
  ${migrate === 'upgrade' ? upgrade(quoted) : ''}
  if found_version is null then
    ${refuse(`'the schema %I does not say which version it has', ${name}`)};
  elsif found_version <> ${VERSION} then
    raise exception using errcode = '${WRONG_VERSION}', message = ${literal(`the schema ${quoted}`)}, detail = found_version::text;
  end if;
  ${migrate === 'check' ? '' : makeQuickFunctions(quoted)}
end
$open$`;
}

/** One of the functions that {@link functionsStatement} finds. */
export interface Found {
  readonly name: string;
}

/**
 * The statement that finds which of the functions are there, and can be called, that a schema may be without: it was
 * made by an older version of this package, and the role may make none.
 */
export function functionsStatement(quoted: string): string {
  const names = quickFunctions(quoted).map(([name]) => literal(name));
  return `select proname::text as name from pg_proc
where pronamespace = ${regnamespace(quoted)} and proname in (${names.join()}) and has_function_privilege(oid, 'execute')`;
}

function upgrade(quoted: string): string {
  const steps = [...upgradeFrom1(quoted), ...version2(quoted), ''].join(';\n    ');
  return `if found_version = 1 then
    ${steps}found_version := ${VERSION};
  end if;`;
}

function creation(name: string, quoted: string): string {
  const schema = `if to_regnamespace(quote_ident(${name})) is null then create schema ${quoted}; end if`;
  return [schema, ...version1(quoted), ...version2(quoted), ''].join(';\n    ');
}
