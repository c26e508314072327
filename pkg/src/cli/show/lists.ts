// The lists of `show`: apps, users and sessions, one by one.

import { appsIn, sessionsIn, usersIn } from '../sources/walk.js';
import type { AppRecord, ScopeRecord, SessionRecord, ShowRecord } from './records.js';
import type { ShowSettings } from './settings.js';
import type { SessionOperations } from '../../client.js';
import type { Session } from '../../index.js';

type Wanted = Pick<ShowSettings, 'filter' | 'since' | 'redaction'>;

/** The requests that are under way at a time, for the numbers of a list. */
const AT_ONCE = 8;

/** The apps that are meant. */
export async function* apps(source: SessionOperations, { filter, since }: Wanted): AsyncGenerator<ShowRecord> {
  const listed = inOrder(appsIn(source, filter), async (appName) => ({
    kind: 'app' as const,
    appName,
    ...(await numbersOf(source, { appName })),
  }));
  for await (const record of listed) {
    if (isSince(record, since)) {
      yield record;
    }
  }
}

/** The users that are meant; before them the values of their app, if its name leads to them. */
export async function* users(
  source: SessionOperations,
  { filter, since, redaction }: Wanted,
): AsyncGenerator<ShowRecord> {
  for await (const appName of appsIn(source, filter)) {
    if (filter.user.isOpen) {
      const state = await source.getAppState({ appName });
      yield* valuesOf({ appName }, redaction.state(state, 'app:'));
    }
    const listed = inOrder(usersIn(source, appName, filter), async (userId) => ({
      kind: 'user' as const,
      appName,
      userId,
      ...(await numbersOf(source, { appName, userId })),
    }));
    for await (const record of listed) {
      if (isSince(record, since)) {
        yield record;
      }
    }
  }
}

/** The sessions that are meant; before them the values of their user, if its name leads to them. */
export async function* sessions(
  source: SessionOperations,
  { filter, since, redaction }: Wanted,
): AsyncGenerator<ShowRecord> {
  const { only: appName } = filter.app;
  const { only: userId } = filter.user;
  if (appName !== undefined && userId !== undefined && filter.session.isOpen) {
    const state = await source.getUserState({ appName, userId });
    yield* valuesOf({ appName, userId }, redaction.state(state, 'user:'));
  }
  for await (const listed of sessionsIn(source, filter, since)) {
    if ('session' in listed) {
      yield sessionRecord(listed.session, redaction);
    } else {
      const { sessionId, ...owner } = listed.corrupt;
      yield { kind: 'corrupt', ...owner, id: sessionId };
    }
  }
}

/** The record of a session as it is now. */
export function sessionRecord(
  { appName, userId, id, revision, lastUpdateTime, expireTime, state }: Session,
  redaction: ShowSettings['redaction'],
): SessionRecord {
  const times = { lastUpdateTime, ...(expireTime !== undefined && { expireTime }) };
  return { kind: 'session', appName, userId, id, revision, ...times, state: redaction.state(state) };
}

/** The values of an app or a user, if it has any. */
function* valuesOf(
  owner: { readonly appName: string; readonly userId?: string },
  state: ScopeRecord['state'],
): Generator<ScopeRecord> {
  if (Object.keys(state).length > 0) {
    yield { kind: 'scope', ...owner, state };
  }
}

async function numbersOf(
  source: SessionOperations,
  owner: { readonly appName: string; readonly userId?: string },
): Promise<Pick<AppRecord, 'sessions' | 'lastUpdateTime'>> {
  const {
    totalItems,
    sessions: [last],
  } = await source.listSessions({ ...owner, limit: 1, order: 'desc' });
  return { sessions: totalItems, ...(last !== undefined && { lastUpdateTime: last.lastUpdateTime }) };
}

function isSince({ lastUpdateTime = -Infinity }: { readonly lastUpdateTime?: number }, since: number): boolean {
  return lastUpdateTime >= since;
}

/** The answers about names, in the order of these, with a few questions at a time. */
async function* inOrder<Answer>(
  names: AsyncIterable<string>,
  ask: (name: string) => Promise<Answer>,
): AsyncGenerator<Answer> {
  const asked: Promise<Answer>[] = [];
  for await (const name of names) {
    const answer = ask(name);
    // It is awaited later, when it may have failed already.
    answer.catch(() => undefined);
    asked.push(answer);
    if (asked.length >= AT_ONCE) {
      yield (await asked.shift()) as Answer;
    }
  }
  for (const answer of asked) {
    yield await answer;
  }
}
