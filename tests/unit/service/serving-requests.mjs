// Requests with an identity for the tests of servers' access to a service: each kind, with what makes it impossible.

import { DELETED, SessionService, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import sqlite from 'node-sqlite3-wasm';
import { plain } from '../../contract/read.mjs';
import { APP, KEY, USER, setting } from '../../support/fixtures.mjs';

export const NAME = { ...USER, id: KEY.sessionId };
const FORK = { ...USER, sessionId: 'fork' };
const NEW = { ...USER, sessionId: 'new' };

/** The places that outlive a service. Each makes a function that makes stores over the same sessions. */
export const storages = {
  'memory store': () => {
    const store = memoryStore();
    return () => store;
  },
  SQLite: () => {
    const database = new sqlite.Database(':memory:');
    return () => sqliteStore(database);
  },
};

/** The identity of a request, which notes whether its answers were repeated ones: `repeated` has `isKnown` of each. */
export function onceOf(id, digest = `digest of ${id}`) {
  const repeated = [];
  return { id, digest, repeated, onRepeated: (isKnown) => repeated.push(isKnown) };
}

/** A service with a session of two turns. */
export async function prepared(store) {
  const service = new SessionService({ store, retry: { attempts: 1 }, timeout: 10_000 });
  const state = { n: 0, open: true, 'user:open': true, 'user:c': 0, 'app:open': true, 'app:c': 0 };
  await service.createSession({ ...KEY, state });
  await service.appendEvent({ session: NAME, event: setting({ n: 1 }, { id: 'e1', invocationId: 'i1' }) });
  await service.appendEvent({ session: NAME, event: setting({ n: 2 }, { id: 'e2', invocationId: 'i2' }) });
  return service;
}

/** All that a service has of the app. */
export async function contentOf(service) {
  const { sessions } = await service.listSessions(APP);
  const whole = await Promise.all(sessions.map((session) => service.getSession(session)));
  return plain({
    sessions: whole.map(({ userId, id, state, events }) => ({ userId, id, state, events })),
    app: await service.getAppState(APP),
    user: await service.getUserState(USER),
  });
}

const session = ({ id, userId, state, revision, events }) => plain({ id, userId, state, revision, events });
const values = (answer) => plain(answer);
const rewound = ({ event, revision, shared }) => plain({ event, revision, shared });
const setOpen = (target, key) => async (service, isOpen) =>
  void (await service.updateState(target, () => ({ [key]: isOpen })));

/**
 * The kinds of requests. `run` makes one; `seen` is what counts of its answer; `block` makes it impossible, with the
 * code of the refusal, and `unblock` makes it possible again.
 */
export const requests = {
  'a creation': {
    run: (access, once) => access.create({ ...USER, state: { a: 1, 'user:c': 7 } }, once),
    seen: session,
  },
  'a creation under an id': {
    run: (access, once) => access.create({ ...NEW, state: { a: 1, 'user:c': 7 } }, once),
    seen: session,
    code: 'SESSION_EXISTS',
    block: (service) => service.createSession(NEW),
    unblock: (service) => service.deleteSession(NEW),
  },
  'a write to a session': {
    run: (access, once) =>
      access.write(
        KEY,
        { delta: { n: increment(1), 'user:c': increment(1) }, expected: { set: { open: true } } },
        once,
      ),
    seen: values,
    code: 'STATE_CONFLICT',
    block: (service) => setOpen(KEY, 'open')(service, false),
    unblock: (service) => setOpen(KEY, 'open')(service, true),
  },
  'a write to a user': {
    run: (access, once) =>
      access.write(
        USER,
        { delta: { 'user:c': increment(1), 'app:c': increment(2) }, expected: { set: { 'user:open': true } } },
        once,
      ),
    seen: values,
    code: 'STATE_CONFLICT',
    block: (service) => setOpen(USER, 'user:open')(service, false),
    unblock: (service) => setOpen(USER, 'user:open')(service, true),
  },
  'a write to an app': {
    run: (access, once) =>
      access.write(APP, { delta: { 'app:c': increment(1) }, expected: { unset: ['app:closed'] } }, once),
    seen: values,
    code: 'STATE_CONFLICT',
    block: (service) => setOpen(APP, 'app:closed')(service, true),
    unblock: (service) => service.updateState(APP, () => ({ 'app:closed': DELETED })),
  },
  'a rewind': {
    run: (access, once) => access.rewind(NAME, { before: 'i2' }, once),
    seen: rewound,
    code: 'INVALID_ARGUMENT',
    block: (service) => service.rewind(NAME, { before: 'i2' }),
    unblock: (service) => service.redo(NAME),
  },
  'a redo': {
    prepare: (service) => service.rewind(NAME, { before: 'i2' }),
    run: (access, once) => access.redo(NAME, {}, once),
    seen: rewound,
    code: 'INVALID_ARGUMENT',
    block: (service) => service.redo(NAME),
    unblock: (service) => service.rewind(NAME, { before: 'i2' }),
  },
  'a fork': {
    run: (access, once) => access.fork(NAME, {}, once),
    seen: session,
    code: 'SESSION_NOT_FOUND',
    block: (service) => service.deleteSession(KEY),
    unblock: (service) => service.createSession(KEY),
  },
  'a fork under an id': {
    run: (access, once) => access.fork(NAME, { at: 1, sessionId: FORK.sessionId }, once),
    seen: session,
    code: 'SESSION_EXISTS',
    block: (service) => service.createSession(FORK),
    unblock: (service) => service.deleteSession(FORK),
  },
};
