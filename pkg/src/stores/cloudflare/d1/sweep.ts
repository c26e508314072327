// Sweeping D1: what has expired is removed in one batch, and the values of users in another.

import { batch, type D1DatabaseLike } from './client.js';
import { sweepQueries, sweepUsersQueries, sweptFrom } from './remove.js';
import type { StoreContext, SweepQuery, Swept } from '../../../store/contract.js';

/** See `SessionStore.sweep`. One batch finds only so many users as the one before has left of the limit. */
export async function sweep(
  database: D1DatabaseLike,
  query: SweepQuery,
  hasLog: boolean,
  { answered }: StoreContext,
): Promise<Swept> {
  const limit = Math.min(query.limit, Number.MAX_SAFE_INTEGER);
  const sessions = sweptFrom(await batch(database, sweepQueries({ ...query, limit }, Date.now())));
  const left = limit - sessions;
  if (query.userTtl === undefined || left <= 0) {
    return { sessions, users: 0, more: left <= 0 };
  }
  answered?.();
  const idle = sweepUsersQueries({ ...query, limit: left }, Date.now(), hasLog);
  const users = sweptFrom(await batch(database, idle));
  return { sessions, users, more: users >= left };
}
