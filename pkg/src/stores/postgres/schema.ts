// What lies in the database: the statements that make its tables and functions.

import { commitFunction } from './functions/commit.js';
import { leaseFunction } from './functions/lease.js';
import { cleanLogFunction, trimLogFunction } from './functions/log.js';
import { changedFunction, valuesFunction } from './functions/moves.js';
import { numberFunction, resolveFunction } from './functions/operators.js';
import { removeFunction, removeScopeFunction } from './functions/remove.js';
import { releaseFunction, reserveFunction } from './functions/turns.js';
import { VERSION } from './version.js';

/**
 * The statements that make the tables as they were in version 1. Texts are in the order of their bytes. Values and
 * events are texts: `jsonb` would refuse some of them and change others.
 */
export function version1(schema: string): string[] {
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
    // Each question has an index that fits no other one. A planner knows averages: where most users have one session,
    // it would as soon go through all sessions of a user as to the one it is asked for. So these are indexes of
    // negative numbers, or inverted ones, for no other purpose than that no other index fits.
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
    // A row for each value of a session, a user or an app, whose numbers are never the same. Names that were written
    // later have a later `at` (the revision, or the position), or the same and a later `nth`.
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
    `create table ${schema}.statepad_version (version integer not null)`,
    `insert into ${schema}.statepad_version (version) values (1)`,
  ];
}

/** The statements that make version 2 of the tables of version 1. */
export function version2(schema: string): string[] {
  return [
    // What has moved a scope to the position `marked`. Where it is at another one that is not known: all values were
    // deleted, or version 1 has moved it.
    `alter table ${schema}.scopes add column mark text collate "C", add column marked bigint not null default 0`,
    // Each move of a scope, the last 1,000 at least: the position that it came to, the call that moved it, and the
    // names that were written or deleted. What has happened since a position can be told when it and all after it have
    // rows.
    `create table ${schema}.moves (
      scope bigint not null,
      pos bigint not null,
      mark text collate "C" not null,
      names jsonb not null,
      primary key (scope, pos)
    )`,
    // The revision or the position that has given a value what it is; 0 where version 1 has.
    `alter table ${schema}.state add column wrote bigint not null default 0`,
    // The creations of sessions that are gone.
    `create table ${schema}.creations (
      id text collate "C" primary key,
      at timestamp with time zone not null default now()
    )`,
    `create index creations_by_time on ${schema}.creations (at)`,
    // Calls of which a second or later try was refused: none of their tries is written any more.
    `create table ${schema}.refused (
      call text collate "C" primary key,
      at timestamp with time zone not null default now()
    )`,
    `create index refused_by_time on ${schema}.refused (at)`,
    // The queues of turns: worth nothing after a crash, so unlogged.
    `create unlogged table ${schema}.turns (
      target bigint not null,
      ticket bigint not null,
      due timestamp with time zone not null,
      primary key (target, ticket)
    ) with (fillfactor = 70)`,
    `create sequence ${schema}.tickets`,
    // Who holds a session and until when, in milliseconds since the epoch; each holder has a greater number than the
    // one before.
    `alter table ${schema}.sessions add column fence integer not null default 0, add column holder text collate "C",
      add column held_until double precision`,
    // What the operators of an event came to, see `resultsIn`; and where the scopes were after it, if there is a log.
    `alter table ${schema}.events add column results text collate "C", add column app_pos bigint, add column user_pos bigint`,
    // What the operators of an update came to, likewise.
    `alter table ${schema}.updates add column results text collate "C"`,
    // What was written to a scope at each position, and by which event, in the order of writing (nth). A position at
    // which names were deleted has a row without a name, as there may have been none of them. All positions of a scope
    // above its base are here.
    `alter table ${schema}.scopes add column base bigint not null default 0`,
    `create table ${schema}.log (
      scope bigint not null,
      pos bigint not null,
      nth integer not null,
      name text collate "C",
      was text collate "C",
      value text collate "C",
      time double precision not null,
      user_id text collate "C",
      session_id text collate "C",
      event text collate "C",
      primary key (scope, pos, nth)
    )`,
    `create index log_by_name on ${schema}.log ((-scope), name, pos)`,
    numberFunction(schema),
    resolveFunction(schema),
    leaseFunction(schema),
    trimLogFunction(schema),
    cleanLogFunction(schema),
    changedFunction(schema),
    valuesFunction(schema),
    commitFunction(schema),
    removeFunction(schema),
    removeScopeFunction(schema),
    reserveFunction(schema),
    releaseFunction(schema),
    `alter table ${schema}.statepad_version add primary key (version)`,
    `update ${schema}.statepad_version set version = ${VERSION}`,
  ];
}
