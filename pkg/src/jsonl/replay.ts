// Writes the content of a file to a service.

import { DELETED } from '../model/deletion.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import type { LogWriter } from '../service/log-writer.js';
import type { SessionService } from '../service/session-service.js';
import type { Abortable, Json } from '../model/types.js';
import type { Members } from './members.js';
import type { Contents, FileScope, FileSession } from './read.js';

/** Runs a task for a line; answers `undefined` when the line was refused and the refusal was recorded. */
export type Watch = <T>(line: number, task: () => Promise<T>, place?: string) => Promise<T | undefined>;

/** Writes all sessions and values one by one: the shared values depend on the order. */
export async function replay({ sessions, scopes }: Contents, service: SessionService, watch: Watch): Promise<void> {
  const writer = await service.logWriter({});
  for (const session of sessions) {
    await replaySession(session, writer, watch);
  }
  for (const scope of scopes) {
    await watch(scope.line, async () => await makeScope(scope, service));
  }
}

/** Creates a session as in a log, and appends its events. */
async function replaySession(session: FileSession, writer: LogWriter, watch: Watch): Promise<void> {
  const { line, key, timestamp, state, events } = session;
  const created = await watch(line, async () => await writer.create({ ...key, state }, timestamp));
  if (created === undefined) {
    return;
  }
  const { appName, userId, sessionId: id } = key;
  for (const { line: place, place: prefix, event } of events) {
    await watch(place, async () => await writer.append({ appName, userId, id }, event), prefix);
  }
}

/** Makes the values of an app, or of a user in it, exactly those of the file, in their order. */
export async function makeScope(
  { appName, userId, state }: Omit<FileScope, 'line'>,
  service: SessionService,
  { signal }: Abortable = {},
): Promise<void> {
  const prefix = userId === undefined ? APP_PREFIX : USER_PREFIX;
  const now =
    userId === undefined
      ? await service.getAppState({ appName, signal })
      : await service.getUserState({ appName, userId, signal });
  const expected = Object.keys(state);
  const present = Object.keys(now);
  const retained = present.filter((name) => Object.hasOwn(state, name));
  const isInOrder = retained.every((name, index) => name === expected[index]);
  const deleted = isInOrder ? present.filter((name) => !Object.hasOwn(state, name)) : present;
  const changed = isInOrder
    ? expected.filter((name) => !(Object.hasOwn(now, name) && isSame(now[name], state[name])))
    : expected;

  const deletions = deleted.map((name) => [prefix + name, DELETED] as const);
  const values = changed.map((name) => [prefix + name, state[name]] as const);
  // A name that is deleted and then written goes to the end, but not by a single change.
  for (const delta of isInOrder ? [[...deletions, ...values]] : [deletions, values]) {
    await service.updateState({ appName, userId }, () => Object.fromEntries(delta), { signal });
  }
}

function isSame(value: Json | undefined, expected: Members[string]): boolean {
  return JSON.stringify(value) === JSON.stringify(expected);
}
