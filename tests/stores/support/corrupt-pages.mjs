// The answer of every store to a list in which sessions are corrupt. It runs in pages and workers, too: nothing of
// Node.

import { SessionService } from 'statepad';

const appName = 'app';

/**
 * The sessions of each user, in ascending order: `r` can be read, `c` is corrupt. Pages of every size below meet
 * corrupt ones at their beginning, in their middle and at their end, pages of nothing else, and a list that ends with
 * them.
 */
const users = { ana: 'ccrrcrrcccccccrrcrc', bob: 'cccccccc', eve: 'rrrrr' };
const limits = [1, 2, 3, 4, 7, 50];

/**
 * All sessions in ascending order. Each two that follow each other have one time; the ids of a user are in its order.
 * If the values of users are damaged, each session that is to be corrupt has a user of its own.
 */
function sessionsFor(part) {
  return Object.entries(users).flatMap(([user, kinds], place) =>
    [...kinds].map((kind, index) => {
      const sessionId = `${user} ${String(index).padStart(2, '0')}`;
      const isCorrupt = kind === 'c';
      const userId = part === 'user' && isCorrupt ? `user of ${sessionId}` : user;
      return { key: { appName, userId, sessionId }, time: 1_000 * (place + 1) + Math.floor(index / 2), isCorrupt };
    }),
  );
}

const idOf = ({ sessionId }) => sessionId;
const keyOf = ({ key }) => key;

function same(actual, expected, what) {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value));
  if (left !== right) {
    throw new Error(`${what}: ${left} is not ${right}`);
  }
}

/** Descending is by time alone: sessions of one time stay in the order of their ids. */
function ordered(all, descending) {
  return descending ? [...all].sort((a, b) => b.time - a.time) : all;
}

/** Writes what there is to be damaged: the value `name` of a session is its id, that of a user is the user's. */
async function fill(store, sessions, context) {
  for (const { key, time } of sessions) {
    const { userId, sessionId } = key;
    const change = (kind, more) => ({ id: `${kind} ${sessionId}`, kind, key, time, delta: {}, ...more });
    await store.commit(change('create', { delta: { session: { set: { name: sessionId } } } }), context);
    await store.commit(
      change('update', { key: { appName, userId }, delta: { user: { set: { name: userId } } } }),
      context,
    );
    const id = `append ${sessionId}`;
    await store.commit(change('append', { event: { id, time, data: JSON.stringify({ id }) } }), context);
  }
}

/**
 * Fills a store with sessions, damages some, and follows their list.
 *
 * - `open` makes a store: one to be filled, and another one on the same storage when the damage is done.
 * - `part` is what is damaged: the values of a `session`, or those of its `user`.
 * - `damage` gets the keys of the sessions that cannot be read any more when it is done; the list of their app still
 *   can. The value `name` of what is to be damaged is the id of the session, or of the user, and no other value is the
 *   same.
 * - `isPlaced` is false for a store that has lost where they stand with them: it tells all of them with the first
 *   page.
 * - `tellsEnd` is false for a store that does not say where a page ends: {@link Page.next} is optional.
 */
export async function checkCorruptPages({ open, damage, part = 'session', isPlaced = true, tellsEnd = true }) {
  // Workers can make a signal in a request only.
  const context = { signal: new AbortController().signal };
  const sessions = sessionsFor(part);
  const opened = async () => {
    const store = await open();
    await store.open?.({ migrate: 'create' }, context);
    return store;
  };
  const filled = await opened();
  await fill(filled, sessions, context);
  await filled.close?.();
  await damage(sessions.filter(({ isCorrupt }) => isCorrupt).map(keyOf));
  const store = await opened();
  const service = new SessionService({ store });
  for (const user of part === 'user' ? [undefined] : [undefined, ...Object.keys(users)]) {
    const mine = sessions.filter(({ key }) => user === undefined || key.userId === user);
    for (const descending of [false, true]) {
      for (const limit of limits) {
        const what = `${user ?? 'all'}, ${descending ? 'descending' : 'ascending'}, ${limit} at once`;
        const query = { app: appName, ...(user && { user }), descending, limit };
        await followStore(store, query, mine, { isPlaced, tellsEnd, context }, what);
        await followService(
          service,
          { appName, ...(user && { userId: user }), order: descending ? 'desc' : 'asc', limit },
          mine,
          what,
        );
      }
    }
  }
  await service.close();
}

/** Each page of the store says where it ends, when there is something corrupt in it. */
async function followStore(store, query, mine, { isPlaced, tellsEnd, context }, what) {
  const standing = ordered(isPlaced ? mine : mine.filter(({ isCorrupt }) => !isCorrupt), query.descending);
  let after;
  for (let start = 0; start === 0 || start < standing.length; start += query.limit) {
    const page = await store.list({ ...query, ...(after && { after }) }, context);
    const expected = standing.slice(start, start + query.limit);
    const lost = isPlaced ? expected : start === 0 ? mine : [];
    const corrupt = lost.filter(({ isCorrupt }) => isCorrupt).map(keyOf);
    const last = expected.at(-1);
    const place = last && { time: last.time, sessionId: last.key.sessionId, userId: last.key.userId };
    const where = `${what}, the page from ${start} on`;
    same(page.total, mine.length, `${where}: the total`);
    same(
      page.rows.map(keyOf).map(idOf),
      expected
        .filter(({ isCorrupt }) => !isCorrupt)
        .map(keyOf)
        .map(idOf),
      `${where}: the rows`,
    );
    same((page.corrupt ?? []).map(idOf).sort(), corrupt.map(idOf).sort(), `${where}: what is corrupt`);
    same(
      [...page.users.keys()].sort(),
      [...new Set(page.rows.map(({ key }) => key.userId))].sort(),
      `${where}: the users`,
    );
    const { time, sessionId, userId } = page.next ?? {};
    if (tellsEnd) {
      same({ time, sessionId, userId }, corrupt.length > 0 ? { ...place } : {}, `${where}: where it ends`);
    }
    after = place;
  }
}

/** A reader that follows the cursor visits each readable session once, in order, and gets the keys of the others. */
async function followService(service, request, mine, what) {
  const visited = [];
  const corrupt = new Set();
  let cursor;
  let pages = 0;
  do {
    const answer = await service.listSessions({ ...request, ...(cursor && { cursor }) });
    visited.push(...answer.sessions.map(({ id }) => id));
    (answer.corrupt ?? []).forEach((key) => corrupt.add(idOf(key)));
    ({ cursor } = answer);
    pages += 1;
    same(pages <= mine.length + 1, true, `${what}: the cursor leads on`);
  } while (cursor);
  const expected = ordered(mine, request.order === 'desc');
  same(
    visited,
    expected
      .filter(({ isCorrupt }) => !isCorrupt)
      .map(keyOf)
      .map(idOf),
    `${what}: what is visited`,
  );
  same(
    [...corrupt].sort(),
    mine
      .filter(({ isCorrupt }) => isCorrupt)
      .map(keyOf)
      .map(idOf)
      .sort(),
    `${what}: what is told to be corrupt`,
  );
}
