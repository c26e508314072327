// What comes in: checked, copied and frozen, or refused with the name of its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, SessionService, Template, createEvent, isFinalResponse, isStatepadError } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { journalStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { storedWith } from '../support/store.mjs';
import { plain } from '../contract/read.mjs';
import { KEY } from '../support/fixtures.mjs';

async function open(state = {}) {
  const service = new SessionService();
  return { service, session: await service.createSession({ ...KEY, state }) };
}

/** Fails unless the promise is refused as no JSON, at this place. */
async function refused(promise, path) {
  await assert.rejects(promise, (error) => {
    assert.ok(isStatepadError(error), error?.stack);
    assert.equal(error.code, 'VALUE_NOT_JSON');
    assert.equal(error.path, path);
    assert.ok(error.message.includes(path), error.message);
    return true;
  });
}

class Point {
  x = 1;
}
const cycle = { a: [] };
cycle.a.push(cycle);
const withSymbol = { [Symbol('s')]: 1 };

for (const [what, value] of [
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['a bigint', 1n],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['a Map', new Map([[1, 2]])],
  ['a Set', new Set([1])],
  ['a typed array', new Uint8Array(2)],
  ['an ArrayBuffer', new ArrayBuffer(2)],
  ['a class instance', new Point()],
  ['a regular expression', /x/],
  ['an error', new Error('x')],
  ['a promise', Promise.resolve(1)],
  ['a WeakMap', new WeakMap()],
  ['a boxed number', Object(1)],
  ['a lone surrogate', 'a\ud800b'],
  ['a low surrogate first', '\udc00\ud800'],
  ['an invalid date', new Date(NaN)],
  ['a member under a symbol', withSymbol],
  ['a Map of another realm', runInNewContext('new Map()')],
]) {
  test(`${what} is refused, and its place is named`, async () => {
    const { service, session } = await open();
    const append = (event) => service.appendEvent({ session, event });
    await refused(append({ actions: { stateDelta: { x: value } } }), 'actions.stateDelta["x"]');
    await refused(
      append({ actions: { stateDelta: { cart: { items: [1, 2, 3, value] } } } }),
      'actions.stateDelta["cart"].items[3]',
    );
    await refused(
      append({ content: { parts: [{ text: 'x' }, { functionCall: { args: { 'a b': value } } }] } }),
      'content.parts[1].functionCall.args["a b"]',
    );
    await refused(
      service.createSession({ appName: 'app', userId: 'u', state: { 'user:x': [value] } }),
      'state["user:x"][0]',
    );
    assert.equal(session.revision, 0);
    assert.deepEqual(plain(await service.getUserState(KEY)), {});
  });
}

test('a cycle is refused', async () => {
  const { service, session } = await open();
  await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta: { x: cycle } } } }), /cycle/);
  const list = [];
  list.push([list]);
  await assert.rejects(service.appendEvent({ session, event: { content: { parts: list } } }), /cycle/);
});

test('undefined is refused as a whole value and in a list, and left out as a member', async () => {
  const { service, session } = await open();
  const append = (stateDelta) => service.appendEvent({ session, event: { actions: { stateDelta } } });
  await refused(append({ x: undefined }), 'actions.stateDelta["x"]');
  await refused(append({ x: [1, undefined] }), 'actions.stateDelta["x"][1]');
  await refused(append({ x: { l: Array(2) } }), 'actions.stateDelta["x"].l[0]');
  await append({ x: { a: undefined, b: 1 } });
  assert.deepEqual(plain(session.state), { x: { b: 1 } });
  assert.deepEqual(Object.keys(session.state.x), ['b']);
});

test('a lone surrogate in a key, a member name or an id is refused', async () => {
  const { service, session } = await open();
  const append = (event) => service.appendEvent({ session, event });
  await assert.rejects(append({ actions: { stateDelta: { '\ud800': 1 } } }), { code: 'VALUE_NOT_JSON' });
  await assert.rejects(append({ actions: { stateDelta: { x: { '\udfff': 1 } } } }), { code: 'VALUE_NOT_JSON' });
  await assert.rejects(append({ id: '\ud800' }), (error) => isStatepadError(error));
  await assert.rejects(service.createSession({ ...KEY, sessionId: 'a\ud800' }), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(service.getSession({ ...KEY, appName: '\ud800' }), { code: 'INVALID_ARGUMENT' });
});

test('a toJSON is honoured, on a list too', async () => {
  const { service, session } = await open();
  const list = Object.assign([1], { toJSON: () => ['from', 'toJSON'] });
  const given = {
    date: new Date(0),
    url: new URL('http://a.b/'),
    own: { toJSON: (name) => ({ name }) },
    last: { hidden: () => 1, toJSON: () => 2 },
    list,
  };
  await service.appendEvent({ session, event: { actions: { stateDelta: { x: given } } } });
  assert.deepEqual(plain(session.state.x), JSON.parse(JSON.stringify(given)));
});

test('a toJSON that answers with what is no JSON is refused', async () => {
  const { service, session } = await open();
  const append = (x) => service.appendEvent({ session, event: { actions: { stateDelta: { x } } } });
  await refused(append({ toJSON: () => NaN }), 'actions.stateDelta["x"]');
  await refused(append([{ toJSON: () => undefined }]), 'actions.stateDelta["x"][0]');
  await refused(append({ toJSON: () => ({ a: 1n }) }), 'actions.stateDelta["x"].a');
});

test('a getter is read once', async () => {
  const { service, session } = await open();
  let count = 0;
  const value = Object.defineProperty({}, 'n', { enumerable: true, get: () => ++count });
  const event = await service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } });
  assert.deepEqual([event.actions.stateDelta.x.n, session.state.x.n, count], [1, 1, 1]);
});

test('a getter that throws refuses the event and changes nothing', async () => {
  const { service, session } = await open();
  const value = Object.defineProperty({}, 'n', {
    enumerable: true,
    get: () => {
      throw new RangeError('no');
    },
  });
  await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } }), RangeError);
  assert.equal(session.revision, 0);
});

test('frozen values, null prototypes and plain objects of another realm are taken', async () => {
  const { service, session } = await open();
  const frozen = Object.freeze({ a: Object.freeze([1]) });
  const bare = Object.assign(Object.create(null), { b: 2 });
  const foreign = runInNewContext('({ c: [3, { d: null }] })');
  await service.appendEvent({
    session,
    event: Object.freeze(createEvent({ actions: { stateDelta: { frozen, bare, foreign } } })),
  });
  assert.deepEqual(plain(session.state), { frozen: { a: [1] }, bare: { b: 2 }, foreign: { c: [3, { d: null }] } });
});

test('minus zero is zero, as in JSON', async () => {
  const { session } = await open({ x: -0, y: [-0] });
  assert.ok(Object.is(session.state.x, 0) && Object.is(session.state.y[0], 0));
});

test("the caller's event is never changed, whether the append succeeds or not", async () => {
  const { service, session } = await open();
  const make = (more) => ({
    author: 'a',
    actions: { stateDelta: { x: { y: [1] }, 'temp:t': 1, gone: DELETED, ...more } },
  });
  for (const [event, ok] of [
    [make({}), true],
    [make({ z: NaN }), false],
  ]) {
    const before = structuredClone(Object.keys(event.actions.stateDelta));
    await service.appendEvent({ session, event }).then(
      () => assert.ok(ok),
      () => assert.ok(!ok),
    );
    assert.deepEqual(Object.keys(event), ['author', 'actions']);
    assert.deepEqual(Object.keys(event.actions.stateDelta), before);
    assert.equal(event.actions.stateDelta.gone, DELETED);
    event.actions.stateDelta.x.y.push(2);
  }
});

test('what the caller changes after the call reaches nobody', async () => {
  const { service, session } = await open();
  const event = { id: 'e', actions: { stateDelta: { x: { y: [1] } } }, content: { parts: [{ text: 'a' }] } };
  const append = service.appendEvent({ session, event });
  event.id = 'f';
  event.actions.stateDelta.x.y.push(2);
  event.actions.stateDelta.z = 1;
  event.content.parts[0].text = 'b';
  const stored = await append;
  event.actions.stateDelta.x.y.push(3);
  assert.deepEqual(plain(session.state), { x: { y: [1] } });
  assert.equal(stored.id, 'e');
  assert.equal(stored.content.parts[0].text, 'a');
});

test('what the caller changes after the very first call of a service, or one that waits for a store, reaches nobody', async () => {
  for (const service of [new SessionService(), new SessionService(storedWith(() => undefined))]) {
    const state = { x: { y: 1 } };
    const creating = service.createSession({ ...KEY, state });
    state.x.y = 2;
    state.z = 3;
    assert.deepEqual(plain((await creating).state), { x: { y: 1 } });
  }
});

test('an event of createEvent is taken with what it fills in', async () => {
  const { service, session } = await open();
  const event = createEvent({ author: 'a', actions: { stateDelta: { x: 1 } } });
  const stored = await service.appendEvent({ session, event });
  assert.equal(stored.id, event.id);
  assert.equal(stored.timestamp, event.timestamp);
  assert.notEqual(stored, event);
  assert.ok(Object.isFrozen(stored) && !Object.isFrozen(event));
});

test('a partial event is handed back as the very object it is', async () => {
  const { service, session } = await open();
  const event = { partial: true, actions: { stateDelta: { x: () => 1 } } };
  assert.equal(await service.appendEvent({ session, event }), event);
});

test('the stored event is handed back frozen, and again for a retry of itself', async () => {
  const { service, session } = await open();
  const stored = await service.appendEvent({
    session,
    event: { actions: { stateDelta: { x: 1, y: DELETED, 'temp:z': 1 } } },
  });
  assert.ok(Object.isFrozen(stored) && Object.isFrozen(stored.actions.stateDelta));
  assert.equal(await service.appendEvent({ session, event: stored }), stored);
  assert.equal(session.revision, 1);
});

test('a list with members beside its elements is refused: JSON would leave them out', async () => {
  const { service, session } = await open();
  const append = (x) => service.appendEvent({ session, event: { actions: { stateDelta: { x } } } });
  const match = /b/.exec('abc');
  await refused(append(match), 'actions.stateDelta["x"]');
  await refused(append([[Object.assign([1], { total: 1 })]]), 'actions.stateDelta["x"][0][0]');
  await refused(append(Object.assign([1], { [Symbol('s')]: 1 })), 'actions.stateDelta["x"]');
  await assert.rejects(append(Object.assign([1], { total: 1 })), /a member beside its elements, "total"/);
  await append([...match]);
  await append(Object.defineProperty([1], 'hidden', { value: 1 }));
  assert.deepEqual(session.state, { x: [1] });
});

test('a symbol among the keys of a state or a delta is refused, also by the service under ADK', async () => {
  const { service, session } = await open();
  const record = { x: 1, [Symbol('s')]: 1 };
  await refused(service.createSession({ ...KEY, sessionId: 't', state: record }), 'state');
  await refused(service.appendEvent({ session, event: { actions: { stateDelta: record } } }), 'actions.stateDelta');
  const adk = new StatepadSessionService();
  const held = await adk.createSession(KEY);
  await refused(
    adk.appendEvent({ session: held, event: createEvent({ actions: { stateDelta: record } }) }),
    'actions.stateDelta',
  );
});

test('an event, or its actions, that is no plain object is refused: its getters or its delta would be lost', async () => {
  const { service, session } = await open();
  class Made {
    author = 'a';
    get actions() {
      return { stateDelta: { x: 1 } };
    }
  }
  class Actions {
    get stateDelta() {
      return { x: 1 };
    }
  }
  const entries = new Map([['stateDelta', { x: 1 }]]);
  for (const [event, path, what] of [
    [new Made(), 'event', 'an instance of Made'],
    [new Map(Object.entries({ actions: { stateDelta: { x: 1 } } })), 'event', 'an instance of Map'],
    [{ actions: new Actions() }, 'actions', 'an instance of Actions'],
    [{ actions: entries }, 'actions', 'an instance of Map'],
    [{ actions: [] }, 'actions', 'a list'],
    [{ actions: null }, 'actions', 'null'],
  ]) {
    const isTold = (error) =>
      isStatepadError(error) &&
      error.code === 'INVALID_ARGUMENT' &&
      error.path === path &&
      error.message.includes(what);
    await assert.rejects(service.appendEvent({ session, event }), isTold, what);
  }
  assert.equal(session.revision, 0);
  await service.appendEvent({
    session,
    event: Object.assign(Object.create(null), { actions: runInNewContext('({ stateDelta: { x: 1 } })') }),
  });
  assert.deepEqual(session.state, { x: 1 });
});

test('metadata that cannot hold the keys that are deleted refuse the event', async () => {
  const { service, session } = await open({ x: 1 });
  const append = (customMetadata, stateDelta = { x: DELETED }) =>
    service.appendEvent({ session, event: { customMetadata, actions: { stateDelta } } });
  for (const [given, path] of [
    ['text', 'customMetadata'],
    [7, 'customMetadata'],
    [[1], 'customMetadata'],
    [true, 'customMetadata'],
    [{ statepad: 'text' }, 'customMetadata.statepad'],
    [{ statepad: [1] }, 'customMetadata.statepad'],
    [{ statepad: 0 }, 'customMetadata.statepad'],
  ]) {
    await assert.rejects(
      append(given),
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path === path,
    );
  }
  assert.deepEqual(session.state, { x: 1 });
  const kept = await append('text', { y: 1 });
  assert.equal(kept.customMetadata, 'text');
  const stored = await append({ a: 1, statepad: { b: 2 } });
  assert.deepEqual(stored.customMetadata, { a: 1, statepad: { b: 2, deleted: ['x'] } });
  assert.deepEqual((await append(null, { y: DELETED })).customMetadata, { statepad: { deleted: ['y'] } });
});

test('a clock that answers with anything but a number of milliseconds is refused', async () => {
  for (const [now, what] of [
    [() => new Date(), 'an instance of Date'],
    [() => '7', 'a string'],
    [() => 7n, 'a bigint'],
    [() => NaN, 'NaN'],
    [() => undefined, 'undefined'],
    [() => Infinity, 'Infinity'],
  ]) {
    for (const more of [{}, { store: memoryStore() }]) {
      let answer = now;
      const service = new SessionService({ now: () => answer(), ...more });
      const isTold = (error) =>
        isStatepadError(error) &&
        error.code === 'INVALID_ARGUMENT' &&
        error.path === 'now' &&
        error.message.includes(what);
      await assert.rejects(service.createSession(KEY), isTold, what);
      answer = () => 5;
      const session = await service.createSession(KEY);
      answer = now;
      await assert.rejects(service.appendEvent({ session, event: {} }), isTold);
      await assert.rejects(
        service.updateState(KEY, () => ({ x: 1 })),
        isTold,
      );
      await assert.rejects(
        service.updateState({ appName: 'app' }, () => ({ 'app:x': 1 })),
        isTold,
      );
      await service.appendEvent({ session, event: { timestamp: 6 } });
      assert.equal(session.lastUpdateTime, 6);
    }
  }
});

test('minus zero is zero in events, too', async () => {
  const { service, session } = await open();
  const event = {
    timestamp: -0,
    usageMetadata: { n: -0, l: [-0] },
    actions: { stateDelta: { x: -0, y: { z: [-0] } }, agentState: -0 },
  };
  const stored = await service.appendEvent({ session, event });
  const { timestamp, usageMetadata, actions } = stored;
  for (const zero of [
    timestamp,
    usageMetadata.n,
    usageMetadata.l[0],
    actions.stateDelta.x,
    actions.stateDelta.y.z[0],
    actions.agentState,
    session.state.x,
    session.lastUpdateTime,
  ]) {
    assert.ok(Object.is(zero, 0));
  }
});

test('a toJSON is asked once, as by JSON.stringify, whatever it answers with', async () => {
  const { service, session } = await open();
  const append = (x) => service.appendEvent({ session, event: { actions: { stateDelta: { x } } } });
  for (const make of [
    (again) => ({ a: 1, toJSON: again }),
    (again) => Object.create(null, { a: { value: 1, enumerable: true }, toJSON: { value: again, enumerable: true } }),
  ]) {
    let asked = 0;
    const again = () => (asked += 1);
    await append({ toJSON: () => make(again) });
    assert.deepEqual([session.state.x, asked], [{ a: 1 }, 0]);
  }
  class Self {
    a = 1;
    #asked = 0;
    toJSON(name) {
      assert.equal(name, 'x');
      assert.equal((this.#asked += 1), 1);
      return this;
    }
  }
  await append(new Self());
  assert.deepEqual(session.state.x, { a: 1 });
  class List extends Array {
    toJSON() {
      return this;
    }
  }
  await append(List.of(1, 2));
  assert.deepEqual(session.state.x, [1, 2]);
  // What JSON.stringify makes of these is an empty object.
  await refused(append({ toJSON: () => new Date(0) }), 'actions.stateDelta["x"]');
  await refused(append({ toJSON: () => new URL('http://a.b/') }), 'actions.stateDelta["x"]');
});

test('a timestamp that the clock has given does not make a retry another event; one that was given does', async () => {
  for (const more of [{}, { store: memoryStore() }]) {
    let time = 0;
    const service = new SessionService({ now: () => (time += 1), ...more });
    const session = await service.createSession(KEY);
    const event = { id: 'e', author: 'a', actions: { stateDelta: { x: 1 } } };
    const first = await service.appendEvent({ session, event });
    const again = await service.appendEvent({ session, event });
    assert.deepEqual([again, again.timestamp, session.revision], [first, 2, 1]);
    await service.appendEvent({ session, event: { ...event, timestamp: 2 } });
    await assert.rejects(service.appendEvent({ session, event: { ...event, timestamp: 3 } }), {
      code: 'EVENT_ID_CONFLICT',
    });
    await assert.rejects(service.appendEvent({ session, event: { ...event, author: 'b' } }), {
      code: 'EVENT_ID_CONFLICT',
    });
  }
});

test('what is missing or of another kind is named', async () => {
  const { service, session } = await open();
  for (const [call, message] of [
    [() => service.createSession({ userId: 'u' }), 'appName is missing'],
    [() => service.createSession({ appName: 'a' }), 'userId is missing'],
    [() => service.getSession({ appName: 'a', userId: 'u' }), 'sessionId is missing'],
    [() => service.getSession(), 'request is missing'],
    [() => service.getSession(null), 'request must be an object, not null'],
    [() => service.getSession([]), 'request must be an object, not a list'],
    [() => service.getSession({ ...KEY, userId: 7 }), 'userId must be a string and not 7'],
    [() => service.getSession({ ...KEY, userId: '\ud800' }), 'userId must be a string without lone surrogates'],
    [() => service.getSession({ ...KEY, signal: {} }), 'signal must be an AbortSignal, not an object'],
    [() => service.appendEvent({ session }), 'event is missing'],
    [() => service.appendEvent({ event: {} }), 'session is missing'],
    [
      () => service.appendEvent({ session: { appName: 'a', userId: 'u', sessionId: 's' }, event: {} }),
      'session.id is missing',
    ],
    [() => service.appendEvent({ session: {}, event: {} }), 'session.appName is missing'],
    [
      () => service.appendEvent({ session, event: { timestamp: '7' } }),
      'timestamp must be a number of milliseconds, not a string',
    ],
    [() => service.updateState(KEY), 'fn is missing'],
    [() => service.updateState(KEY, {}), 'fn must be a function, not an object'],
    [() => service.updateState(KEY, () => ({}), { attempts: 0 }), 'attempts must be a whole number from 1, not 0'],
    [
      () => service.updateState({ appName: 'a', sessionId: 's' }, () => ({})),
      'userId is missing: a sessionId needs one',
    ],
    [() => service.updateState({ appName: 'a', userId: 'u' }, () => ({ count: 1 })), 'use "user:count"'],
    [() => service.updateState({ appName: 'a' }, () => ({ 'user:count': 1 })), 'use "app:count"'],
    [() => service.history(session), 'key is missing'],
    [() => service.stateAt(session), 'and not undefined'],
    [async () => new Template('x').render({}), 'state is missing'],
    [async () => new Template(), 'a template must be a string, not undefined'],
    [async () => isFinalResponse({ content: { parts: [null] } }), 'content.parts[0] must be an object, not null'],
    [
      async () => new SessionService({ store: 'sessions.db' }),
      'store must be a store, not a string: give that to a store',
    ],
    [async () => new SessionService({ store: memoryStore }), 'store must be a store, not a function: call it'],
    [async () => new SessionService({ store: Promise.resolve(memoryStore()) }), 'await it first'],
    [
      async () => new SessionService({ store: { commit: () => undefined } }),
      'it has no load, no list, no remove, no loadScope',
    ],
    [async () => new SessionService({ persist: 'x', restore: () => [] }), 'persist must be a function, not a string'],
    [async () => new SessionService({ now: 7 }), 'now must be a function, not 7'],
    [async () => new SessionService(null), 'options must be an object, not null'],
    [async () => journalStore(), 'medium is missing'],
    [async () => journalStore({ append: () => undefined }), 'medium.read is missing'],
  ]) {
    await assert.rejects(call(), (error) => {
      assert.ok(isStatepadError(error), error?.stack);
      assert.equal(error.code, 'INVALID_ARGUMENT');
      assert.ok(error.message.includes(message), error.message);
      return true;
    });
  }
});

test('nothing is done by a service that is closed, however it was used before, nor by one that starts meanwhile', async () => {
  for (const more of [() => ({}), () => ({ store: memoryStore() })]) {
    const service = new SessionService(more());
    const session = await service.createSession(KEY);
    await service.close();
    const fresh = new SessionService(more());
    const pending = fresh.createSession(KEY);
    await Promise.all([assert.rejects(pending, { code: 'CLOSED' }), fresh.close()]);
    for (const closed of [service, fresh]) {
      for (const call of [
        () => closed.createSession(KEY),
        () => closed.getSession(KEY),
        () => closed.getOrCreateSession(KEY),
        () => closed.listSessions(KEY),
        () => closed.deleteSession(KEY),
        () => closed.appendEvent({ session, event: {} }),
        () => closed.getAppState(KEY),
        () => closed.getUserState(KEY),
        () => closed.updateState(KEY, () => ({})),
        () => closed.stateAt(session, 0),
        () => closed.history(session, 'x'),
        () => closed.appendEvent({ session, event: { partial: true } }),
        async () => closed.invocation(session),
      ]) {
        await assert.rejects(call(), { code: 'CLOSED' }, String(call));
      }
      await closed.flush();
      await closed.close();
    }
  }
});

test('a session is taken where its key is asked for', async () => {
  for (const more of [{}, { store: memoryStore() }]) {
    const service = new SessionService(more);
    const session = await service.createSession({ ...KEY, state: { x: 1, 'user:x': 2 } });
    assert.equal((await service.getSession(session)).id, 's');
    assert.deepEqual((await service.getSession({ ...session, config: { numRecentEvents: 0 } })).events, []);
    // Without this the update would be one of the user's keys.
    assert.deepEqual(await service.updateState(session, ({ x }) => ({ x: x + 1 })), { x: 2, 'user:x': 2 });
    assert.equal((await service.getSession(KEY)).events.length, 1);
    const adk = new StatepadSessionService();
    const held = await adk.createSession({ ...KEY, state: { x: 1 } });
    assert.deepEqual(await adk.service.updateState(held, ({ x }) => ({ x: x + 1 })), { x: 2 });
    assert.equal((await adk.service.getSession(held)).id, 's');
    await adk.service.deleteSession(held);
    assert.equal(await adk.getSession(KEY), undefined);
    await service.deleteSession(session);
    assert.equal(await service.getSession(session), undefined);
  }
});

test('instances of classes are taken by the service under ADK alone, and only those that their members make up', async () => {
  class Actions {
    stateDelta = { x: 1 };
  }
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: { ...createEvent(), actions: new Actions() } });
  assert.equal(session.state.x, 1);
  await assert.rejects(service.appendEvent({ session, event: { ...createEvent(), actions: new Map() } }), {
    code: 'INVALID_ARGUMENT',
    path: 'actions',
  });
});

test("ADK's mark of its events is kept, and is on no other", async () => {
  const mark = Symbol.for('google.adk.event');
  const { service, session } = await open();
  const marked = await service.appendEvent({ session, event: createEvent({ id: '1' }) });
  const unmarked = await service.appendEvent({ session, event: { id: '2', [mark]: 'x' } });
  assert.deepEqual([marked[mark], mark in unmarked], [true, false]);
  assert.equal(mark in (await service.appendEvent({ session, event: { id: '3' } })), false);
});

test('deletions of temp: keys are not stored, and leave no trace of themselves', async () => {
  const { service, session } = await open({ x: 1 });
  const append = (stateDelta, customMetadata) =>
    service.appendEvent({ session, event: { customMetadata, actions: { stateDelta } } });
  await append({ 'temp:t': 1, 'temp:u': 2 });
  const bare = await append({ 'temp:t': DELETED });
  assert.equal('customMetadata' in bare, false);
  assert.deepEqual(session.state, { x: 1, 'temp:u': 2 });
  const named = await append({ 'temp:u': null }, { a: 1, statepad: { deleted: ['temp:u'] } });
  assert.deepEqual(named.customMetadata, { a: 1, statepad: { deleted: [] } });
  assert.deepEqual(session.state, { x: 1 });
  assert.deepEqual((await append({ y: 1 }, { statepad: {} })).customMetadata, { statepad: {} });
  assert.deepEqual((await append({ x: DELETED, 'temp:t': DELETED })).customMetadata, { statepad: { deleted: ['x'] } });
});

test('a symbol among the members of an event is refused, and at any depth', async () => {
  const { service, session } = await open();
  const mine = { [Symbol('s')]: 1 };
  await assert.rejects(service.appendEvent({ session, event: { author: 'a', ...mine } }), { code: 'VALUE_NOT_JSON' });
  await refused(service.appendEvent({ session, event: { actions: mine } }), 'actions');
  await refused(service.appendEvent({ session, event: { customMetadata: { a: [mine] } } }), 'customMetadata.a[0]');
});

test('a delta is a plain object of keys and values, or none', async () => {
  const { service, session } = await open({ x: 1, y: 2, z: 3 });
  const append = (stateDelta) => service.appendEvent({ session, event: { actions: { stateDelta } } });
  for (const given of [[], [['x', 1]], 'x', 7, true, () => ({}), new Map([['x', 1]]), new Date(0)]) {
    await assert.rejects(append(given), { code: 'INVALID_ARGUMENT', path: 'actions.stateDelta' });
    await assert.rejects(service.createSession({ ...KEY, sessionId: 't', state: given }), {
      code: 'INVALID_ARGUMENT',
      path: 'state',
    });
  }
  assert.deepEqual((await append(null)).actions.stateDelta, {});
  assert.deepEqual((await append(undefined)).actions.stateDelta, {});
  await append({ x: DELETED, y: DELETED, w: 1 });
  assert.deepEqual(session.state, { z: 3, w: 1 });
});

test('lists and objects may be nested 100 levels deep, and no deeper', async () => {
  const { service, session } = await open();
  const nested = (levels, value = 1) =>
    levels === 0 ? value : nested(levels - 1, levels % 2 ? [value] : { a: value });
  const append = (value) => service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } });
  await append(nested(100));
  assert.deepEqual(session.state.x, nested(100));
  await assert.rejects(append(nested(101)), /nested deeper than 100 levels/);
  await service.appendEvent({ session, event: { customMetadata: nested(100) } });
  await assert.rejects(
    service.appendEvent({ session, event: { customMetadata: nested(101) } }),
    /nested deeper than 100 levels/,
  );
});
