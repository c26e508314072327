// What is in a file becomes sessions of a service.

import { DELETED } from '../model/deletion.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import type { SessionService } from '../service/session-service.js';
import type { Json } from '../model/types.js';
import type { Members } from './members.js';
import type { Contents, FileScope, FileSession } from './read.js';

/** Does something with a line; answers `undefined` when the line was refused, and that is not thrown. */
export type Watch = <T>(line: number, task: () => Promise<T>, place?: string) => Promise<T | undefined>;

/** The clock of a service: it stands still while a session is created. */
export class Clock {
  readonly now: () => number;
  #stopped: number | undefined;

  constructor(now: () => number) {
    this.now = () => this.#stopped ?? now();
  }

  /** Runs a task at a time; at the time of now when it is `undefined`. */
  async at<T>(time: number | undefined, task: () => Promise<T>): Promise<T> {
    this.#stopped = time;
    try {
      return await task();
    } finally {
      this.#stopped = undefined;
    }
  }
}

/** Writes all sessions and values, one after the other: what they share depends on the order. */
export async function replay(
  { sessions, scopes }: Contents,
  service: SessionService,
  clock: Clock,
  watch: Watch,
): Promise<void> {
  for (const session of sessions) {
    await replaySession(session, service, clock, watch);
  }
  for (const scope of scopes) {
    await watch(scope.line, async () => await makeScope(scope, service));
  }
}

async function replaySession(
  session: FileSession,
  service: SessionService,
  clock: Clock,
  watch: Watch,
): Promise<void> {
  const { line, key, timestamp, state, events } = session;
  const created = await watch(
    line,
    async () => await clock.at(timestamp, async () => await service.createSession({ ...key, state })),
  );
  if (created === undefined) {
    return;
  }
  const { appName, userId, sessionId: id } = key;
  for (const { line: place, place: prefix, event } of events) {
    await watch(place, async () => await service.appendEvent({ session: { appName, userId, id }, event }), prefix);
  }
}

/** Makes the values of an app, or of a user in it, exactly those of the file, and in their order. */
async function makeScope({ appName, userId, state }: FileScope, service: SessionService): Promise<void> {
  const prefix = userId === undefined ? APP_PREFIX : USER_PREFIX;
  const now =
    userId === undefined ? await service.getAppState({ appName }) : await service.getUserState({ appName, userId });
  const wanted = Object.keys(state);
  const present = Object.keys(now);
  const kept = present.filter((name) => Object.hasOwn(state, name));
  const isInOrder = kept.every((name, index) => name === wanted[index]);
  const gone = isInOrder ? present.filter((name) => !Object.hasOwn(state, name)) : present;
  const changed = isInOrder
    ? wanted.filter((name) => !(Object.hasOwn(now, name) && isSame(now[name], state[name])))
    : wanted;

  const deletions = gone.map((name) => [prefix + name, DELETED] as const);
  const values = changed.map((name) => [prefix + name, state[name]] as const);
  // A name that is deleted and written goes to the end: but not by one change.
  for (const delta of isInOrder ? [[...deletions, ...values]] : [deletions, values]) {
    await service.updateState({ appName, userId }, () => Object.fromEntries(delta));
  }
}

function isSame(value: Json | undefined, wanted: Members[string]): boolean {
  return JSON.stringify(value) === JSON.stringify(wanted);
}
