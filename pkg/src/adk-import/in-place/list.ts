// Lists sessions, apps and users: a page at a time, whatever the number of all of them is.

import { valuesIn, type ReadParts } from './load.js';
import { orCorrupt } from './refusals.js';
import { sessionName } from '../readers/lists.js';
import { contentOf } from '../session.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { pageWithin } from '../../stores/shared/name-page.js';
import { PageRows } from '../../stores/shared/page-rows.js';
import type { ListQuery, NamePage, NameQuery, Page } from '../../store/contract.js';

/** The largest number of rows. */
const MOST = Number.MAX_SAFE_INTEGER;

/** Lists sessions, see `SessionStore.list`. */
export async function listSessions({ source, numbers }: ReadParts, query: ListQuery): Promise<Page> {
  const { app, user, descending, limit = Infinity, offset = 0, after } = query;
  const { sessions, counts, users, ofApp, total } = await source.read(async ({ rows, lists }) => {
    const range = { limit: Math.min(Math.ceil(limit), MOST), offset: Math.ceil(offset) };
    const found = await lists.sessions({ app, user, descending, after, ...range });
    return {
      sessions: found,
      counts: await lists.eventCounts(app, found),
      users: await lists.users(app, [...new Set(found.map(({ key }) => key.userId))]),
      ofApp: await rows.scopeRows({ appName: app }),
      total: await lists.total({ appName: app, userId: user }),
    };
  });
  const page = new PageRows();
  for (const row of sessions) {
    const { key, moment } = row;
    page.add(
      key,
      () => {
        const { state, created } = orCorrupt(sessionTitle(key), () => contentOf(row, numbers));
        const rev = counts.get(sessionName(key.userId, key.sessionId)) ?? 0;
        return { created: String(created), rev, time: moment, state: valuesIn(state) };
      },
      () => orCorrupt(scopeTitle({ app, user: key.userId }), () => valuesIn(users(key.userId, numbers))),
    );
  }
  const end = sessions.at(-1);
  const place = end && { time: end.moment, sessionId: end.key.sessionId, userId: end.key.userId };
  return page.page(
    orCorrupt(scopeTitle({ app }), () => valuesIn(ofApp(numbers))),
    total,
    place,
  );
}

/** Lists apps, see `SessionStore.listApps`. */
export async function listApps({ source }: ReadParts, query: NameQuery): Promise<NamePage> {
  return await source.read(async ({ lists }) => pageWithin(await lists.apps(query.after, oneMore(query)), query));
}

/** Lists the users in an app, see `SessionStore.listUsers`. */
export async function listUsers({ source }: ReadParts, app: string, query: NameQuery): Promise<NamePage> {
  return await source.read(async ({ lists }) =>
    pageWithin(await lists.usersOf(app, query.after, oneMore(query)), query),
  );
}

/** One name more than the page has shows whether there are others. */
function oneMore({ limit = Infinity }: NameQuery): number {
  return Math.min(limit + 1, MOST);
}
