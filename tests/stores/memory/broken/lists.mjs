// Stores that are broken in lists.

import { changing, context, without } from './ways.mjs';

const listing = (map) => (store) => ({ list: async (query) => map(await store.list(query, context), query, store) });

const asking = (map) => (store) => ({ list: (query) => store.list(map(query), context) });

const utf16 = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const sortedBy =
  (compare) =>
  (page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted((a, b) => (descending ? b.time - a.time : a.time - b.time) || compare(a, b)),
  });

/** A page that says that it ends at a row. */
const ending = (page, row) =>
  row ? { ...page, next: { time: row.time, sessionId: row.key.sessionId, userId: row.key.userId } } : page;

export const brokenLists = {
  'sorts ids by UTF-16': listing(sortedBy((a, b) => utf16(a.key.sessionId, b.key.sessionId))),
  'sorts users by UTF-16': listing(
    sortedBy(({ key: a }, { key: b }) => (a.sessionId === b.sessionId ? utf16(a.userId, b.userId) : 0)),
  ),
  'turns ties around': listing((page, { descending }) =>
    descending
      ? {
          ...page,
          rows: page.rows.toReversed().sort((a, b) => b.time - a.time),
        }
      : page,
  ),
  'sorts times in whole milliseconds': listing((page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted(
      ({ time: a, key }, { time: b, key: other }) =>
        (descending ? -1 : 1) * (Math.trunc(a) - Math.trunc(b)) ||
        Buffer.compare(Buffer.from(key.sessionId), Buffer.from(other.sessionId)),
    ),
  })),
  'sorts times as texts': listing((page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted((a, b) => (descending ? -1 : 1) * utf16(String(a.time), String(b.time))),
  })),
  'sorts by the time of creation': changing((change) => ({
    ...change,
    time: change.kind === 'append' ? 1_000 : change.time,
  })),
  'counts the page for the total': listing((page) => ({ ...page, total: page.rows.length })),
  'counts all users for the total of one': listing(async (page, query, store) => ({
    ...page,
    total: (await store.list(without('user')(query), context)).total,
  })),
  'takes no limit for a limit of none': asking(({ limit, ...query }) => (limit === 0 ? query : { limit, ...query })),
  'ignores the offset': asking(without('offset')),
  'goes on at the place and not behind it': asking(({ after, ...query }) =>
    after ? { ...query, after: { ...after, userId: '' } } : query,
  ),
  'goes on behind the time': asking(({ after, ...query }) =>
    after ? { ...query, after: { ...after, sessionId: '\u{10ffff}\u{10ffff}' } } : query,
  ),
  'goes on from a place that is there': listing(async (page, { after, ...query }, store) => {
    const { rows } = await store.list(without('limit')(query), context);
    const place = JSON.stringify([after?.time, after?.sessionId, after?.userId]);
    const isThere = rows.some(({ key, time }) => JSON.stringify([time, key.sessionId, key.userId]) === place);
    return after === undefined || isThere ? page : { ...page, rows: [], users: new Map() };
  }),
  'goes on behind as many sessions as came before the place': (store) => {
    const passed = new Map();
    const placeOf = ({ key: { sessionId, userId }, time }) => JSON.stringify([time, sessionId, userId]);
    return {
      list: async ({ after, ...query }) => {
        const offset = after && passed.get(JSON.stringify([after.time, after.sessionId, after.userId]));
        const page = await store.list(
          offset === undefined ? { ...query, ...(after && { after }) } : { ...query, offset },
          context,
        );
        page.rows.forEach((row, index) => passed.set(placeOf(row), (offset ?? query.offset ?? 0) + index + 1));
        return page;
      },
    };
  },
  'says that a page ends at its first session': listing((page) => ending(page, page.rows[0])),
  'says that a page ends at its last session of the user who comes first': listing((page) =>
    ending(
      page,
      page.rows.findLast(({ key }) => key.userId === page.rows[0].key.userId),
    ),
  ),
  'says that a page ends where the list does': listing(async (page, query, store) => {
    const { rows } = await store.list(without('limit')(query), context);
    return ending(page, rows.at(-1));
  }),
  'says that a page without sessions ends where it begins': listing((page, { after }) =>
    page.rows.length === 0 && after ? { ...page, next: after } : page,
  ),
  'lists a hundred at most': listing((page) => ({ ...page, rows: page.rows.slice(0, 100) })),
  'lists all users for the one without a name': listing((page, query, store) =>
    query.user === '' ? store.list(without('user')(query), context) : page,
  ),
  'lists the values of users that are not in the rows': listing(async (page, { app }, store) => {
    const { users } = await store.list({ app, descending: false }, context);
    return { ...page, users };
  }),
  'leaves out users without values': listing((page) => ({
    ...page,
    users: new Map([...page.users].filter(([, state]) => Object.keys(state).length > 0)),
  })),
  'lists no values of an app without sessions': listing((page) =>
    page.total === 0 ? { ...page, app: Object.create(null) } : page,
  ),
  'takes a row for corrupt': listing((page) => ({ ...page, corrupt: page.rows.slice(0, 1).map(({ key }) => key) })),
};
