// Deleting in D1: sessions and the values of scopes, those that are named and those that have expired.
//
// One statement decides that a session has expired, and marks those that are to go with an end that no other has. The
// others of its batch go by the mark: each of them finds another time.

import { query, type Bindings, type D1Query } from './client.js';
import { logRemoval } from './log.js';
import { ifCurrent, IS_CURRENT, isLive, isSession, NOW, READ_VERSION } from './read.js';
import { checkVersion } from '../../sqlite-core/open.js';
import { IS_IDLE } from '../../sqlite-core/expiry-statements.js';
import { FORGET_CREATIONS, scopeColumn } from '../../sqlite-core/statements.js';
import { numberIn, textIn } from '../../sqlite-core/rows.js';
import { checkFence } from '../../../store/lease.js';
import { toColumn } from '../../shared/column-text.js';
import { isNamed } from '../../shared/keys.js';
import { REMEMBERED_MS } from '../../shared/limits.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Guard, ScopeName, SweepQuery } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** The end of a session, and the last change of a user, that a batch removes. */
const MARK = -1;
const IS_MARKED = `expires = ${MARK}`;

/** Marks the sessions that a condition means, and answers a column of each. */
function mark(areMeant: (all: Bindings) => string, column = 'n'): D1Query {
  return query(
    (all) =>
      `UPDATE statepad_sessions SET expires = ${MARK} WHERE ${areMeant(all)} AND ${IS_CURRENT} RETURNING ${column}`,
  );
}

/** Removes the sessions that are marked; `now` is the time by the clock. */
function removeMarked(now: number): D1Query[] {
  const marked = `SELECT n FROM statepad_sessions WHERE ${IS_MARKED}`;
  return [
    {
      sql: `INSERT INTO statepad_creations (id, app, user, session, time, digest)
        SELECT created, app, user, id, ?1, digest FROM statepad_sessions WHERE ${IS_MARKED}
        ON CONFLICT (id) DO UPDATE SET time = excluded.time, digest = excluded.digest`,
      values: [now],
    },
    { sql: `DELETE FROM statepad_values WHERE owner IN (${marked})`, values: [] },
    { sql: `DELETE FROM statepad_events WHERE session IN (${marked})`, values: [] },
    {
      sql: `WITH marked AS MATERIALIZED (SELECT app, user FROM statepad_sessions WHERE ${IS_MARKED}),
        gone AS MATERIALIZED (
          SELECT x.n, count(*) AS sessions FROM marked
            CROSS JOIN statepad_scopes AS x ON x.of_app IS NULL AND x.name = marked.app GROUP BY x.n
          UNION ALL
          SELECT x.n, count(*) FROM marked
            CROSS JOIN statepad_scopes AS x ON x.of_app = marked.app AND x.name = marked.user GROUP BY x.n
        )
        UPDATE statepad_scopes SET sessions = statepad_scopes.sessions - gone.sessions FROM gone
          WHERE statepad_scopes.n = gone.n`,
      values: [],
    },
    { sql: `DELETE FROM statepad_sessions WHERE ${IS_MARKED}`, values: [] },
    { sql: ifCurrent(FORGET_CREATIONS), values: [now - REMEMBERED_MS] },
  ];
}

/**
 * The statements that delete a session; `now` is the time by the clock. The answers are for {@link checkRemoved}.
 */
export function removeQueries(
  key: SessionKey,
  { created, fence }: Pick<Guard, 'created' | 'fence'>,
  now: number,
): D1Query[] {
  return [
    READ_VERSION,
    query((all) => `SELECT created, fence FROM statepad_sessions WHERE ${isSession(key, all)} AND ${isLive()}`),
    mark((all) =>
      [
        isSession(key, all),
        ...(created === undefined ? [] : [`created = ${all.add(toColumn(created))}`]),
        // One that has expired goes, too: it is not there for its caller, and must not stay any longer either.
        ...(fence === undefined ? [] : [`(fence = ${all.add(fence)} OR NOT ${isLive()})`]),
      ].join(' AND '),
    ),
    ...removeMarked(now),
  ];
}

/** The statements that delete a session if it has expired; `now` is the time by the clock. */
export function removeExpiredQueries(key: SessionKey, now: number): D1Query[] {
  return [mark((all) => `${isSession(key, all)} AND expires <= ${NOW}`), ...removeMarked(now)];
}

/**
 * The number of rows after which a sweep ends its batch, as D1 stops batches that take too long, and others wait for
 * them meanwhile. A session is removed whole, however many rows it has.
 */
const MOST_ROWS = 2_000;

/** Those of a query with `n`, a time `due` and a `size` in rows that have not too many rows due before them. */
function fewOf(query: string): string {
  return `SELECT n FROM (
      SELECT n, sum(size) OVER (ORDER BY due, n ROWS UNBOUNDED PRECEDING) - size AS before FROM (${query})
    ) WHERE before < ${MOST_ROWS}`;
}

/** The statements that delete sessions that have expired; the answers are for {@link sweptFrom}. */
export function sweepQueries({ app, limit }: SweepQuery, now: number): D1Query[] {
  const expired = (all: Bindings): string => `SELECT n, expires AS due, rev + keys + 1 AS size
    FROM statepad_sessions INDEXED BY statepad_sessions_by_expiry
    WHERE expires <= ${NOW} ${app === undefined ? '' : `AND app = ${all.add(toColumn(app))}`}
    ORDER BY expires LIMIT ${all.add(limit)}`;
  return [
    READ_VERSION,
    mark((all) => `n IN (${fewOf(expired(all))})`, 'rev + keys + 1 AS size'),
    ...removeMarked(now),
  ];
}

/** The statements that delete the values of users without sessions; the answers are for {@link sweptFrom}. */
export function sweepUsersQueries({ app, limit, userTtl = 0 }: SweepQuery, now: number, hasLog: boolean): D1Query[] {
  const idle = (all: Bindings): string => `SELECT n, changed AS due, keys + 1 AS size
    FROM statepad_scopes INDEXED BY statepad_scopes_idle
    WHERE ${IS_IDLE} AND changed <= ${NOW} - ${all.add(userTtl)}
    ${app === undefined ? '' : `AND of_app = ${all.add(toColumn(app))}`} ORDER BY changed LIMIT ${all.add(limit)}`;
  const sweeping = query(
    (all) => `UPDATE statepad_scopes SET changed = ${MARK} WHERE n IN (${fewOf(idle(all))})
      AND ${IS_CURRENT} RETURNING keys + 1 AS size`,
  );
  return [READ_VERSION, sweeping, ...clearScopes(() => `${IS_IDLE} AND changed = ${MARK}`, hasLog ? now : undefined)];
}

/** Reads the answers of a sweep: how much was removed, and if that were so many rows that more may be left. */
export function sweptFrom(answers: readonly (readonly SqlRow[])[]): {
  readonly count: number;
  readonly isCut: boolean;
} {
  checkRemoval(answers);
  const sizes = (answers[1] ?? []).map((row) => numberIn(row, 'size'));
  return { count: sizes.length, isCut: sizes.reduce((sum, size) => sum + size, 0) >= MOST_ROWS };
}

/**
 * The statements that delete the values of a scope; `now` is the time by the clock, where that is logged. The first
 * answer is for {@link checkRemoval}.
 */
export function removeScopeQueries({ app, user }: ScopeName, now: number | undefined): D1Query[] {
  return [READ_VERSION, ...clearScopes((all) => `scope = ${all.add(scopeColumn(app, user))}`, now)];
}

/** Deletes the values of the scopes that a condition means. */
function clearScopes(areMeant: (all: Bindings) => string, now: number | undefined): D1Query[] {
  const owners = (all: Bindings): string => `(SELECT n FROM statepad_scopes WHERE ${areMeant(all)})`;
  return [
    ...(now === undefined ? [] : [logRemoval(areMeant, now)]),
    query((all) => ifCurrent(`DELETE FROM statepad_values WHERE owner IN ${owners(all)}`)),
    query((all) => ifCurrent(`DELETE FROM statepad_changes WHERE owner IN ${owners(all)}`)),
    query((all) =>
      ifCurrent(`UPDATE statepad_scopes SET pos = pos + 1, mark = NULL, recent = '', keys = 0, bytes = 0,
        log_base = ${now === undefined ? 'NULL' : 'coalesce(log_base, pos)'} WHERE ${areMeant(all)}`),
    ),
  ];
}

/** Throws when a session was not deleted: `rejected`, as {@link checkRemoval}, and `fenced`. */
export function checkRemoved(answers: readonly (readonly SqlRow[])[], guard: Pick<Guard, 'created' | 'fence'>): void {
  checkRemoval(answers);
  const [, [session] = [], marked = []] = answers;
  if (marked.length === 0 && session !== undefined && isNamed({ created: textIn(session, 'created') }, guard)) {
    checkFence(numberIn(session, 'fence'), guard.fence);
  }
}

/** Throws `rejected` when nothing was deleted or counted, as the tables have another version. */
export function checkRemoval(answers: readonly (readonly SqlRow[])[]): void {
  checkVersion(answers[0]?.[0]?.['value']);
}
