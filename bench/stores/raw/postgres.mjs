/**
 * Rows in Postgres, by `pg`, of tables and indexes as the store has them: one statement, prepared, which is one
 * transaction and one way to the server and back. Each session has an app's row of its own, so that none waits for the
 * lock of another one, and a connection of its own, so that the server writes many commits to the disk together.
 */

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { rawService } from './service.mjs';

const tables = (schema) => `
  create schema ${schema};
  create table ${schema}.scopes (no bigint primary key, pos bigint not null, mark text collate "C")
    with (fillfactor = 70);
  create table ${schema}.sessions (
    no bigint primary key, app text collate "C" not null, user_id text collate "C" not null,
    id text collate "C" not null, rev integer not null, time double precision not null
  ) with (fillfactor = 90);
  create index on ${schema}.sessions (app, time);
  create index on ${schema}.sessions (user_id, time);
  create table ${schema}.events (
    session bigint not null, rev integer not null, id text collate "C" not null, time double precision not null,
    data text collate "C" not null, primary key (session, rev)
  );
  create unique index on ${schema}.events ((-session), id);
  create index on ${schema}.events ((~session), time);
  create table ${schema}.state (
    owner bigint not null, name text collate "C" not null, value text collate "C" not null, wrote bigint not null,
    primary key (owner, name)
  ) with (fillfactor = 80);
  create table ${schema}.moves (
    scope bigint not null, pos bigint not null, mark text collate "C" not null, names jsonb not null,
    primary key (scope, pos)
  );`;

/** `$1` session, `$2` rev, `$3` id, `$4` time, `$5` data, `$6` mark, then name and value of session, user, app. */
const append = (schema) => `
  with event as (insert into ${schema}.events values ($1, $2, $3, $4, $5)),
    moved as (update ${schema}.sessions set rev = $2, time = $4 where no = $1),
    scope as (update ${schema}.scopes set pos = $2, mark = $6 where no in ($1 + 1000000, $1 + 2000000)),
    written as (insert into ${schema}.state values
      ($1, $7, $8, $2), ($1 + 1000000, $9, $10, $2), ($1 + 2000000, $11, $12, $2)
      on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote)
  insert into ${schema}.moves values
    ($1 + 1000000, $2, $6, jsonb_build_array($9::text)), ($1 + 2000000, $2, $6, jsonb_build_array($11::text))`;

/** A service over a new schema of a server. */
export function rawPostgres(url, schema) {
  const pool = new pg.Pool({ connectionString: url, max: 64 });
  const text = append(schema);
  const open = () => pool.query(tables(schema));
  const create = async ({ appName, userId, id, number }) => {
    await pool.query(`insert into ${schema}.sessions values ($1, $2, $3, $4, 0, 0)`, [number, appName, userId, id]);
    await pool.query(`insert into ${schema}.scopes values ($1, 0), ($2, 0)`, [number + 1000000, number + 2000000]);
  };
  const write = ({ session: { number, rev }, id, time, data, values: { session, user, app } }) =>
    pool.query({
      name: 'append',
      text,
      values: [number, rev, id, time, data, randomUUID(), ...session[0], ...user[0], ...app[0]],
    });
  return { connect: () => rawService({ open, create, write }), close: () => pool.end() };
}
