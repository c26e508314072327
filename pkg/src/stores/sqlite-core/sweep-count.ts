// The count of what a sweep of SQLite tables would remove. It only reads.

import { checkVersion } from './open.js';
import { readVersion } from './read.js';
import { numberIn } from './rows.js';
import * as sql from './expiry-statements.js';
import { toColumn } from '../shared/column-text.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { SweepQuery, Swept } from '../../store/contract.js';

/** See `SweepQuery.dry`. Within a snapshot. */
export function countSweep(driver: SqlDriver, { app, limit, userTtl }: SweepQuery): Swept {
  checkVersion(readVersion(driver));
  const now = Date.now();
  const most = Math.min(limit, Number.MAX_SAFE_INTEGER);
  const ofApp = app === undefined ? [] : [toColumn(app)];
  const texts = { now: '?', latest: '?', limit: '?', ...(app !== undefined && { app: '?' }) };
  const ended = driver.all(sql.countEnded(texts), [now, ...ofApp, most]);
  if (userTtl === undefined) {
    return countedIn([ended], limit);
  }
  const latest = now - userTtl;
  const idle = driver.all(sql.countIdle(texts), [latest, ...ofApp, most]);
  const leftIdle = driver.all(sql.countLeftIdle(texts), [now, ...ofApp, most, latest]);
  return countedIn([ended, idle, leftIdle], limit);
}

/** The outcome by the rows of `countEnded` and, where users are counted, of `countIdle` and `countLeftIdle`. */
export function countedIn(answers: readonly (readonly SqlRow[])[], limit: number): Swept {
  const [sessions = 0, ...users] = answers.map(([row]) => (row === undefined ? 0 : numberIn(row, 'count')));
  const all = users.reduce((sum, count) => sum + count, 0);
  return { sessions, users: Math.min(all, limit - sessions), more: sessions + all >= limit };
}
