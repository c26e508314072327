// Deleting in D1.

import { defined } from '../../../model/defined.js';
import { query, type Bindings, type D1Query } from './client.js';
import { logRemoval } from './log.js';
import { ifCurrent, IS_CURRENT, isSession, READ_VERSION } from './read.js';
import { checkVersion } from '../../sqlite-core/open.js';
import { FORGET_CREATIONS, scopeColumn } from '../../sqlite-core/statements.js';
import { numberIn, textIn } from '../../sqlite-core/rows.js';
import { checkFence } from '../../../store/lease.js';
import { toColumn } from '../../shared/column-text.js';
import { isNamed } from '../../shared/keys.js';
import { REMEMBERED_MS } from '../../shared/limits.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Guard, ScopeName } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/**
 * The statements that delete a session; `now` is the time by the clock. The answers are for {@link checkRemoved}.
 */
export function removeQueries(
  key: SessionKey,
  { created, fence }: Pick<Guard, 'created' | 'fence'>,
  now: number,
): D1Query[] {
  const { appName, userId } = key;
  const isMeant = (all: Bindings): string =>
    [
      isSession(key, all),
      ...(created === undefined ? [] : [`created = ${all.add(toColumn(created))}`]),
      ...(fence === undefined ? [] : [`fence = ${all.add(fence)}`]),
      IS_CURRENT,
    ].join(' AND ');
  const n = (all: Bindings): string => `SELECT n FROM statepad_sessions WHERE ${isMeant(all)}`;
  return [
    READ_VERSION,
    query((all) => `SELECT created, fence FROM statepad_sessions WHERE ${isSession(key, all)}`),
    query(
      (all) => `INSERT INTO statepad_creations (id, app, user, session, time, digest)
        SELECT created, app, user, id, ${all.add(now)}, digest FROM statepad_sessions WHERE ${isMeant(all)}
        ON CONFLICT (id) DO UPDATE SET time = excluded.time, digest = excluded.digest`,
    ),
    query((all) => `DELETE FROM statepad_values WHERE owner = (${n(all)})`),
    query(
      (all) => `WITH session AS MATERIALIZED (${n(all)})
        DELETE FROM statepad_events
          WHERE place BETWEEN (SELECT n << 32 FROM session) AND (SELECT n << 32 | 4294967295 FROM session)`,
    ),
    query(
      (all) => `UPDATE statepad_scopes SET sessions = sessions - 1
        WHERE scope IN (${all.add(scopeColumn(appName, undefined))}, ${all.add(scopeColumn(appName, userId))})
        AND EXISTS (${n(all)})`,
    ),
    query((all) => `DELETE FROM statepad_sessions WHERE ${isMeant(all)}`),
    { sql: ifCurrent(FORGET_CREATIONS), values: [now - REMEMBERED_MS] },
  ];
}

/**
 * The statements that delete the values of a scope; `now` is the time by the clock, where that is logged. The first
 * answer is for {@link checkRemoval}.
 */
export function removeScopeQueries({ app, user }: ScopeName, now: number | undefined): D1Query[] {
  const values = [scopeColumn(app, user)];
  const owner = '(SELECT n FROM statepad_scopes WHERE scope = ?1)';
  return [
    READ_VERSION,
    ...(now === undefined ? [] : [logRemoval(defined({ app, user }), now)]),
    { sql: ifCurrent(`DELETE FROM statepad_values WHERE owner = ${owner}`), values },
    { sql: ifCurrent(`DELETE FROM statepad_changes WHERE owner = ${owner}`), values },
    {
      sql: ifCurrent(`UPDATE statepad_scopes SET pos = pos + 1, mark = NULL, recent = '',
        log_base = ${now === undefined ? 'NULL' : 'coalesce(log_base, pos)'} WHERE scope = ?1`),
      values,
    },
  ];
}

/** Throws when a session was not deleted: `rejected`, as {@link checkRemoval}, and `fenced`. */
export function checkRemoved(answers: readonly (readonly SqlRow[])[], guard: Pick<Guard, 'created' | 'fence'>): void {
  checkRemoval(answers);
  const session = answers[1]?.[0];
  if (session !== undefined && isNamed({ created: textIn(session, 'created') }, guard)) {
    checkFence(numberIn(session, 'fence'), guard.fence);
  }
}

/** Throws `rejected` when nothing was deleted, as the tables have another version. */
export function checkRemoval(answers: readonly (readonly SqlRow[])[]): void {
  checkVersion(answers[0]?.[0]?.['value']);
}
