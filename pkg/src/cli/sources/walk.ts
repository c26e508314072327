// The apps, users and sessions of a source that are meant, page by page: none of the lists is in memory as a whole.

import type { SessionFilter } from './names.js';
import type { SessionOperations } from '../../client.js';
import type { Session, SessionKey } from '../../index.js';

/** The names, and the sessions, that are asked for at a time. */
const NAMES = 200;
const SESSIONS = 200;

/** The apps that are meant. A single one that is named is not looked for. */
export async function* appsIn(source: SessionOperations, { app }: SessionFilter): AsyncGenerator<string> {
  if (app.only !== undefined) {
    yield app.only;
    return;
  }
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await source.listApps({ limit: NAMES, cursor });
    yield* page.apps.filter((name) => app.matches(name));
    cursor = page.cursor;
  }
}

/** The users in an app that are meant. A single one that is named is not looked for. */
export async function* usersIn(
  source: SessionOperations,
  appName: string,
  { user }: SessionFilter,
): AsyncGenerator<string> {
  if (user.only !== undefined) {
    yield user.only;
    return;
  }
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await source.listUsers({ appName, limit: NAMES, cursor });
    yield* page.users.filter((name) => user.matches(name));
    cursor = page.cursor;
  }
}

/** A session of a list, without its events; or one that the store cannot read. */
export type Listed = { readonly session: Session } | { readonly corrupt: SessionKey };

/**
 * The sessions that are meant, the last updated first within an app. Those before `since`, in milliseconds since the
 * epoch, are left out.
 */
export async function* sessionsIn(
  source: SessionOperations,
  filter: SessionFilter,
  since = -Infinity,
): AsyncGenerator<Listed> {
  for await (const appName of appsIn(source, filter)) {
    yield* sessionsOf(source, { appName, userId: filter.user.only }, filter, since);
  }
}

async function* sessionsOf(
  source: SessionOperations,
  owner: { readonly appName: string; readonly userId: string | undefined },
  { user, session: id }: SessionFilter,
  since: number,
): AsyncGenerator<Listed> {
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await source.listSessions({ ...owner, limit: SESSIONS, order: 'desc', cursor });
    for (const session of page.sessions) {
      if (session.lastUpdateTime < since) {
        return;
      }
      if (user.matches(session.userId) && id.matches(session.id)) {
        yield { session };
      }
    }
    for (const corrupt of page.corrupt ?? []) {
      if (user.matches(corrupt.userId) && id.matches(corrupt.sessionId)) {
        yield { corrupt };
      }
    }
    cursor = page.cursor;
  }
}
