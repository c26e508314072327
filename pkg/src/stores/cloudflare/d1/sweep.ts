// Sweeping D1: what has expired is removed in one batch, and the values of users in another.

import { batch, query as d1Query, type Bindings, type D1DatabaseLike, type D1Query } from './client.js';
import { NOW, READ_VERSION } from './read.js';
import { checkRemoval, sweepQueries, sweepUsersQueries, sweptFrom } from './remove.js';
import { countEnded, countIdle, countLeftIdle } from '../../sqlite-core/expiry-statements.js';
import { countedIn } from '../../sqlite-core/sweep-count.js';
import { toColumn } from '../../shared/column-text.js';
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

/** See `SweepQuery.dry`. One batch counts sessions and users. */
export async function count(database: D1DatabaseLike, query: SweepQuery): Promise<Swept> {
  const answers = await batch(database, [READ_VERSION, ...countQueries(query)]);
  checkRemoval(answers);
  return countedIn(answers.slice(1), query.limit);
}

function countQueries({ app, limit, userTtl }: SweepQuery): D1Query[] {
  const bounds = (all: Bindings) => ({
    now: NOW,
    limit: all.add(Math.min(limit, Number.MAX_SAFE_INTEGER)),
    ...(app !== undefined && { app: all.add(toColumn(app)) }),
  });
  const users = userTtl === undefined ? [] : [countIdle, countLeftIdle];
  return [
    d1Query((all) => countEnded(bounds(all))),
    ...users.map((write) => d1Query((all) => write({ ...bounds(all), latest: `${NOW} - ${all.add(userTtl ?? 0)}` }))),
  ];
}
