// A model of the service that is naive enough to be plainly right, and random operations on both.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DELETED, SessionService, isStatepadError } from 'statepad';
import { storedWith } from '../support/store.mjs';

const names = fc.constantFrom('a', 'b', 'c', '', '__proto__', 'constructor', '名', 'x.y');
const keys = fc.tuple(fc.constantFrom('', '', 'app:', 'user:', 'temp:'), names).map((parts) => parts.join(''));
const values = fc.oneof(fc.constant(DELETED), fc.jsonValue({ maxDepth: 2 }), fc.nat(9));
const deltas = fc.uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key, maxLength: 6 });
const sessionKeys = fc.record({
  appName: fc.constantFrom('one', 'two'),
  userId: fc.constantFrom('ana', 'bob'),
  sessionId: fc.constantFrom('s', 't'),
});
const windows = fc.record({
  numRecentEvents: fc.option(fc.nat(4), { nil: undefined }),
  afterTimestamp: fc.option(fc.nat(9), { nil: undefined }),
});
const fails = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const op = (kind, weight, members) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), fails, ...members }),
});

/** Random operations. `fails` is whether the store would fail at that moment. */
export const operations = fc.array(
  fc.oneof(
    op('create', 3, { key: sessionKeys, delta: deltas }),
    op('get', 3, { key: sessionKeys, window: fc.option(windows, { nil: undefined }) }),
    op('append', 8, {
      through: fc.nat(),
      author: fc.constantFrom('user', 'bot'),
      invocationId: fc.constantFrom('i', 'j', 'k'),
      timestamp: fc.nat(9),
      delta: deltas,
    }),
    op('appendByKey', 2, { key: sessionKeys, delta: deltas }),
    op('update', 2, { key: sessionKeys, by: fc.constantFrom('session', 'user', 'app'), delta: deltas }),
    op('list', 1, { key: sessionKeys }),
    op('delete', 1, { key: sessionKeys }),
    op('look', 6, { through: fc.nat() }),
  ),
  { maxLength: 60, size: 'max' },
);

/** Several services as one: each call goes to the next, but a handle to the service that gave it. */
function takingTurns(services) {
  const owners = new WeakMap();
  let turn = 0;
  const own = (handle, service) => (handle && owners.set(handle, service), handle);
  const call =
    (method) =>
    async (request, ...more) => {
      const service = owners.get(request.session) ?? services[turn++ % services.length];
      const answer = await service[method](request, ...more);
      answer?.sessions?.forEach((row) => own(row, service));
      return ['createSession', 'getSession'].includes(method) ? own(answer, service) : answer;
    };
  const methods = [
    'createSession',
    'getSession',
    'listSessions',
    'appendEvent',
    'deleteSession',
    'updateState',
    'getAppState',
    'getUserState',
  ];
  return Object.fromEntries(methods.map((method) => [method, call(method)]));
}

/** The service under test beside its model. */
export class Twin {
  #failing = false;
  #count = 0;
  #scopes = new Map();
  #sessions = new Map();
  #held = [];

  /**
   * With `services`, several of them take turns over one store; with `cachedEvents`, that is the room in each. They
   * are asked `through` a client, if there is one.
   */
  constructor({ stored, services = 1, cachedEvents, through = (service) => service }) {
    const commit = async () => {
      await null;
      if (this.#failing) {
        throw new Error('the disk is full');
      }
    };
    this.stored = stored;
    const options = stored ? { ...storedWith(commit), cachedEvents } : {};
    const asked = Array.from({ length: services }, () => through(new SessionService(options)));
    this.service = services === 1 ? asked[0] : takingTurns(asked);
  }

  /** Does an operation on both and compares. */
  async run(step) {
    this.#failing = this.stored && step.fails;
    await this[step.kind](step);
  }

  /** Everything that anybody holds shows what it should. */
  async end() {
    this.#held.forEach((held) => this.#compare(held));
    for (const { key } of this.#sessions.values()) {
      this.#failing = false;
      await this.get({ key });
      this.#compare(this.#held.at(-1));
      assert.deepEqual(Object.entries(await this.service.getAppState(key)), [...this.#values('app', key)]);
      assert.deepEqual(Object.entries(await this.service.getUserState(key)), [...this.#values('user', key)]);
    }
  }

  async create({ key, delta }) {
    const taken = this.#sessions.has(name(key));
    const handle = await this.#attempt(
      this.service.createSession({ ...key, state: recordOf(delta) }),
      taken && 'SESSION_EXISTS',
    );
    if (handle !== undefined) {
      const session = { key, events: [], revision: 0, time: handle.lastUpdateTime, deleted: false, own: new Map() };
      this.#sessions.set(name(key), session);
      this.#write(session, delta);
      this.#hold(handle, session, []);
    }
  }

  async get({ key, window = {} }) {
    const session = this.#sessions.get(name(key));
    const handle = await this.service.getSession({ ...key, config: window });
    assert.equal(handle !== undefined, session !== undefined);
    if (session !== undefined) {
      const { numRecentEvents = Infinity, afterTimestamp = -Infinity } = window;
      const after = session.events.filter(({ timestamp }) => timestamp >= afterTimestamp);
      this.#hold(handle, session, after.slice(Math.max(0, after.length - numRecentEvents)));
    }
  }

  async append({ through, delta, ...event }) {
    const held = this.#held[through % this.#held.length];
    if (held === undefined || held.isRow) {
      return;
    }
    const { session, handle } = held;
    const given = { id: `e${++this.#count}`, ...event, actions: { stateDelta: recordOf(delta) } };
    const stored = await this.#attempt(
      this.service.appendEvent({ session: handle, event: given }),
      session.deleted && 'SESSION_NOT_FOUND',
    );
    if (stored === undefined) {
      return;
    }
    this.#applyEvent(session, delta, stored);
    if (event.author === 'user' && !held.invocations.has(event.invocationId)) {
      held.temp.clear();
    }
    held.invocations.add(event.invocationId);
    writeInto(
      held.temp,
      delta.filter(([key]) => key.startsWith('temp:')),
    );
    held.events = [...held.events, ...session.events.slice(held.seen)];
    this.#snapshot(held);
  }

  async appendByKey({ key, delta }) {
    const session = this.#sessions.get(name(key));
    const event = { id: `e${++this.#count}`, timestamp: 5, actions: { stateDelta: recordOf(delta) } };
    const named = { appName: key.appName, userId: key.userId, id: key.sessionId };
    const stored = await this.#attempt(
      this.service.appendEvent({ session: named, event }),
      session === undefined && 'SESSION_NOT_FOUND',
    );
    if (stored !== undefined) {
      this.#applyEvent(session, delta, stored);
    }
  }

  async update({ key, by, delta }) {
    const session = this.#sessions.get(name(key));
    const scopes = { session: ['app:', 'user:', ''], user: ['app:', 'user:'], app: ['app:'] }[by];
    const allowed = delta.filter(
      ([full]) => !full.startsWith('temp:') && scopes.some((prefix) => prefix === '' || full.startsWith(prefix)),
    );
    const target = { session: key, user: { appName: key.appName, userId: key.userId }, app: { appName: key.appName } }[
      by
    ];
    const before = by === 'session' && session !== undefined ? session.events.length : 0;
    const answer = await this.#attempt(
      this.service.updateState(target, () => recordOf(allowed)),
      by === 'session' && session === undefined && 'SESSION_NOT_FOUND',
      allowed.length > 0,
    );
    if (answer === undefined || allowed.length === 0) {
      return;
    }
    if (by === 'session') {
      const { events } = await this.service.getSession(key);
      assert.equal(events.length, before + 1);
      this.#applyEvent(session, allowed, events.at(-1));
    } else {
      this.#write({ key }, allowed);
    }
  }

  async list({ key: { appName } }) {
    const { sessions, totalItems } = await this.service.listSessions({ appName });
    const there = [...this.#sessions.values()].filter(({ key }) => key.appName === appName);
    assert.equal(totalItems, there.length);
    for (const handle of sessions) {
      const session = this.#sessions.get(name({ appName, userId: handle.userId, sessionId: handle.id }));
      this.#hold(handle, session, [], true);
    }
  }

  async delete({ key }) {
    await this.service.deleteSession(key);
    const session = this.#sessions.get(name(key));
    if (session !== undefined) {
      session.deleted = true;
      this.#sessions.delete(name(key));
    }
  }

  async look({ through }) {
    const held = this.#held[through % this.#held.length];
    if (held !== undefined) {
      this.#compare(held);
    }
  }

  /** Waits for what should succeed, or fail with that code, or with the store's own error. */
  async #attempt(promise, code, writes = true) {
    if (!code && !(this.#failing && writes)) {
      return await promise;
    }
    // A server does not say what its store has said.
    const isOwn = (error) =>
      this.#failing &&
      writes &&
      (/disk is full/.test(error.message + error.cause?.message) || error.code === 'COMMIT_UNKNOWN');
    await assert.rejects(promise, (error) => (code && isStatepadError(error) && error.code === code) || isOwn(error));
    return undefined;
  }

  #applyEvent(session, delta, { id, timestamp }) {
    session.events.push({ id, timestamp });
    session.revision += 1;
    session.time = timestamp;
    this.#write(session, delta);
  }

  #write(session, delta) {
    for (const [scope, prefix] of [
      ['app', 'app:'],
      ['user', 'user:'],
    ]) {
      const part = delta.filter(([key]) => key.startsWith(prefix));
      writeInto(
        this.#values(scope, session.key),
        part.map(([key, value]) => [key.slice(prefix.length), value]),
      );
    }
    session.own &&
      writeInto(
        session.own,
        delta.filter(([key]) => !/^(app|user|temp):/.test(key)),
      );
  }

  #values(scope, { appName, userId }) {
    const owner = scope === 'app' ? `app ${appName}` : `user ${appName} ${userId}`;
    if (!this.#scopes.has(owner)) {
      this.#scopes.set(owner, new Map());
    }
    return this.#scopes.get(owner);
  }

  #hold(handle, session, events, isRow = false) {
    const held = { handle, session, events, isRow, temp: new Map(), invocations: new Set() };
    this.#snapshot(held);
    this.#held.push(held);
  }

  #snapshot(held) {
    const { session, temp } = held;
    const shared = (scope, prefix) =>
      [...this.#values(scope, session.key)].map(([key, value]) => [prefix + key, value]);
    held.entries = [...session.own, ...shared('app', 'app:'), ...shared('user', 'user:'), ...temp];
    held.seen = session.events.length;
    held.revision = session.revision;
    held.time = session.time;
  }

  #compare({ handle, entries, events, revision, time }) {
    assert.deepEqual(Object.entries(handle.state), entries);
    assert.deepEqual(
      handle.events.map(({ id }) => id),
      events.map(({ id }) => id),
    );
    assert.equal(handle.revision, revision);
    assert.equal(handle.lastUpdateTime, time);
  }
}

function name({ appName, userId, sessionId }) {
  return JSON.stringify([appName, userId, sessionId]);
}

function recordOf(delta) {
  return Object.fromEntries(delta);
}

function writeInto(values, delta) {
  for (const [key, value] of delta) {
    if (value === DELETED) {
      values.delete(key);
    } else {
      values.set(key, structuredCloneOf(value));
    }
  }
}

/** As JSON has it: without minus zero, and with the `__proto__` that an assignment would lose. */
function structuredCloneOf(value) {
  return JSON.parse(JSON.stringify(value));
}
