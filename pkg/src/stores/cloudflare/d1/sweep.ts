// Sweeping D1: what has expired is removed in batches, and then the values of users in others.

import { batch, query as d1Query, type Bindings, type D1DatabaseLike, type D1Query } from './client.js';
import { NOW, READ_VERSION } from './read.js';
import { checkRemoval, sweepQueries, sweepUsersQueries, sweptFrom } from './remove.js';
import { countEnded, countIdle, countLeftIdle } from '../../sqlite-core/expiry-statements.js';
import { countedIn } from '../../sqlite-core/sweep-count.js';
import { toColumn } from '../../shared/column-text.js';
import type { StoreContext, SweepQuery, Swept } from '../../../store/contract.js';

/** See `SessionStore.sweep`. */
export async function sweep(
  database: D1DatabaseLike,
  query: SweepQuery,
  hasLog: boolean,
  context: StoreContext,
): Promise<Swept> {
  const limit = Math.min(query.limit, Number.MAX_SAFE_INTEGER);
  const sessions = await removeAll(database, limit, context, (most) =>
    sweepQueries({ ...query, limit: most }, Date.now()),
  );
  const left = limit - sessions;
  if (query.userTtl === undefined || left <= 0) {
    return { sessions, users: 0, more: left <= 0 };
  }
  context.answered?.();
  const users = await removeAll(database, left, context, (most) =>
    sweepUsersQueries({ ...query, limit: most }, Date.now(), hasLog),
  );
  return { sessions, users, more: users >= left };
}

/** Removes so many at most, in batches of few rows each. Resolves to how many there were. */
async function removeAll(
  database: D1DatabaseLike,
  limit: number,
  { signal, answered }: StoreContext,
  queriesOf: (most: number) => readonly D1Query[],
): Promise<number> {
  let removed = 0;
  for (;;) {
    const { count, isCut } = sweptFrom(await batch(database, queriesOf(limit - removed)));
    removed += count;
    if (!isCut || removed >= limit) {
      return removed;
    }
    answered?.();
    signal.throwIfAborted();
  }
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
