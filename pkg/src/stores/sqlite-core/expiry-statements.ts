// The statements that find what has expired. The comment of each names its parameters, in their order.

import type { SweepQuery } from '../../store/contract.js';

/** True of a user who has values and no sessions: the condition of the index. */
export const IS_IDLE = 'of_app IS NOT NULL AND sessions = 0 AND keys > 0';

/**
 * The statement that counts the sessions of an app (`app`), or of a user in it (`app`, `user`), that have expired and
 * are still stored: behind these the present time. They are few where sweeps are made.
 */
export function countExpired(user: string | undefined, now = '?'): string {
  return user === undefined
    ? `SELECT count(*) AS expired FROM statepad_sessions INDEXED BY statepad_sessions_by_expiry
    WHERE app = ? AND expires <= ${now}`
    : `SELECT count(*) AS expired FROM statepad_sessions INDEXED BY statepad_sessions_of_user_by_expiry
    WHERE app = ? AND user = ? AND expires <= ${now}`;
}

/**
 * The statement that finds sessions that have expired, those that expired first before the others: the present time;
 * the `app`, if one is meant; how many at most.
 */
export function findExpired({ app }: Pick<SweepQuery, 'app'>): string {
  return `SELECT app, user, id, rev, keys FROM statepad_sessions INDEXED BY statepad_sessions_by_expiry
    WHERE expires <= ? ${app === undefined ? '' : 'AND app = ?'} ORDER BY expires LIMIT ?`;
}

/**
 * The statement that finds users who have values and no sessions, those whose values were changed longest ago before
 * the others: the latest time of that change; the `app`, if one is meant; how many at most.
 */
export function findIdle({ app }: Pick<SweepQuery, 'app'>): string {
  return `SELECT of_app, name, keys FROM statepad_scopes INDEXED BY statepad_scopes_idle
    WHERE ${IS_IDLE} AND changed <= ? ${app === undefined ? '' : 'AND of_app = ?'} ORDER BY changed LIMIT ?`;
}

/** `scope`, the latest time of its last change. One row where it is of a user who has values and no sessions. */
export const IS_STILL_IDLE = `SELECT n FROM statepad_scopes WHERE scope = ? AND ${IS_IDLE} AND changed <= ?`;

/** Expressions in a statement that counts: the time, the latest time of a change, an app if one is meant, a limit. */
export interface CountExpressions {
  readonly now: string;
  readonly latest: string;
  readonly app?: string;
  readonly limit: string;
}

/** The statement that counts sessions that have expired, up to the limit: `now`, `app`, `limit`. */
export function countEnded({ now, app, limit }: Omit<CountExpressions, 'latest'>): string {
  return `SELECT count(*) AS count FROM (SELECT 1 FROM statepad_sessions INDEXED BY statepad_sessions_by_expiry
    WHERE expires <= ${now} ${app === undefined ? '' : `AND app = ${app}`} LIMIT ${limit})`;
}

/** The statement that counts users who have values and no sessions, up to the limit: `latest`, `app`, `limit`. */
export function countIdle({ latest, app, limit }: Omit<CountExpressions, 'now'>): string {
  return `SELECT count(*) AS count FROM (SELECT 1 FROM statepad_scopes INDEXED BY statepad_scopes_idle
    WHERE ${IS_IDLE} AND changed <= ${latest} ${app === undefined ? '' : `AND of_app = ${app}`} LIMIT ${limit})`;
}

/**
 * The statement that counts users who have values, and sessions that have all expired: `now`, `app`, `limit`,
 * `latest`. They are as the users of {@link countIdle} once a sweep has removed those sessions. It looks at no more
 * sessions than the limit: where there are so many, a sweep comes to no users.
 */
export function countLeftIdle({ now, app, limit, latest }: CountExpressions): string {
  return `SELECT count(*) AS count FROM (
      SELECT app, user, count(*) AS sessions FROM (
        SELECT app, user FROM statepad_sessions INDEXED BY statepad_sessions_by_expiry
          WHERE expires <= ${now} ${app === undefined ? '' : `AND app = ${app}`} LIMIT ${limit}
      ) GROUP BY app, user
    ) AS ended CROSS JOIN statepad_scopes AS x ON x.of_app = ended.app AND x.name = ended.user
    WHERE x.sessions = ended.sessions AND x.keys > 0 AND x.changed <= ${latest}`;
}
