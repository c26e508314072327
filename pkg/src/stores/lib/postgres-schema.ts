// What lies in the database, and how it comes to be there.

import { commitFunction, removeFunction, removeScopeFunction } from './postgres-commit.js';
import { StoreError } from '../../store-error.js';
import type { Migrate } from '../../store.js';

/** The version of what this module makes. */
const VERSION = 1;
/** How long the name of anything in Postgres may be, in bytes. */
const NAME_LIMIT = 63;
/** The code of the errors that {@link openStatement} raises. Postgres itself has none of this class. */
export const REFUSED = 'ZS001';

/** A schema's name as it is written in a statement. */
export function quotedSchema(name: string): string {
  const size = new TextEncoder().encode(name).length;
  // Where a statement quotes with dollars the name must have none.
  if (size === 0 || size > NAME_LIMIT || /[\0$]/.test(name)) {
    const rule = `it needs 1 to ${NAME_LIMIT} bytes, none of them NUL or $`;
    throw new StoreError('rejected', `a schema cannot be named ${JSON.stringify(name)}: ${rule}`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * One statement that finds out what is there and makes it what it should be, or raises {@link REFUSED} with the reason. One
 * process at a time does that; what others have made meanwhile is found.
 */
export function openStatement(schema: string, migrate: Migrate): string {
  const quoted = quotedSchema(schema);
  const name = `$name$${schema}$name$`;
  const refuse = (message: string): string => `raise exception using errcode = '${REFUSED}', message = format(${message})`;
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
  if found_version is null then
    ${refuse(`'the schema %I does not say which version it has', ${name}`)};
  elsif found_version > ${VERSION} then
    ${refuse(`'the schema %I has version %s, which is newer than the version ${VERSION} of this store', ${name}, found_version`)};
  elsif found_version < ${VERSION} then
    ${refuse(`'the schema %I has version %s, ${older(migrate)}', ${name}, found_version`)};
  end if;
end
$open$`;
}

/** What to do about an older version. There is none so far: the first that comes has its steps here. */
function older(migrate: Migrate): string {
  return migrate === 'upgrade'
    ? `from which no way leads to the version ${VERSION} of this store`
    : `which is older than the version ${VERSION} of this store: open it with migrate "upgrade"`;
}

function creation(name: string, quoted: string): string {
  const schema = `if to_regnamespace(quote_ident(${name})) is null then create schema ${quoted}; end if`;
  return [schema, ...version1(quoted), ''].join(';\n    ');
}

/**
 * The statements that make version 1. Texts are in the order of their bytes. Values and events are texts: `jsonb` would
 * refuse some of them and change others.
 */
function version1(schema: string): string[] {
  const next = `nextval('${schema.replaceAll("'", "''")}.numbers')`;
  return [
    // Apps, which have the parent 0, and users, which have their app's number as theirs.
    `create sequence ${schema}.numbers`,
    `create table ${schema}.scopes (
      no bigint primary key default ${next},
      parent bigint not null,
      name text collate "C" not null,
      pos bigint not null default 0,
      unique (parent, name)
    ) with (fillfactor = 70)`,
    // A session has a number that no other ever had: what belongs to it can never belong to a later one under its key.
    `create table ${schema}.sessions (
      usr bigint not null,
      id text collate "C" not null,
      no bigint not null default ${next},
      app bigint not null,
      user_id text collate "C" not null,
      created text collate "C" not null,
      rev integer not null,
      time double precision not null,
      primary key (usr, id)
    ) with (fillfactor = 90)`,
    `create index sessions_of_app on ${schema}.sessions (app, time)`,
    // Each question has an index that fits no other one. A planner knows averages: where most users have one session, it would
    // as soon go through all sessions of a user as to the one it is asked for. So these are indexes of negative numbers, or
    // inverted ones, for nothing but to be told apart.
    `create index sessions_of_user on ${schema}.sessions ((-usr), time)`,
    `create table ${schema}.events (
      session bigint not null,
      rev integer not null,
      id text collate "C" not null,
      time double precision not null,
      data text collate "C" not null,
      primary key (session, rev)
    )`,
    `create unique index events_by_id on ${schema}.events ((-session), id)`,
    `create index events_by_time on ${schema}.events ((~session), time)`,
    // A row for each value of a session, a user or an app, whose numbers are never the same. Names that were written later
    // have a later `at` (the revision, or the position), or the same and a later `nth`.
    `create table ${schema}.state (
      owner bigint not null,
      name text collate "C" not null,
      value text collate "C" not null,
      at bigint not null,
      nth integer not null,
      primary key (owner, name)
    ) with (fillfactor = 80)`,
    // How many sessions a scope has is the sum of its rows.
    `create table ${schema}.counts (
      scope bigint not null,
      shard integer not null,
      sessions bigint not null,
      primary key (scope, shard)
    ) with (fillfactor = 70)`,
    `create table ${schema}.updates (
      scope bigint not null,
      id text collate "C" not null,
      at timestamp with time zone not null default now(),
      primary key (scope, id)
    )`,
    `create index updates_by_time on ${schema}.updates (at)`,
    commitFunction(schema),
    removeFunction(schema),
    removeScopeFunction(schema),
    `create table ${schema}.statepad_version (version integer not null)`,
    `insert into ${schema}.statepad_version (version) values (${VERSION})`,
  ];
}
