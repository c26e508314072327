// What comes in: checked, copied and frozen, or refused with the name of its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, SessionService, createEvent, isStatepadError } from 'statepad';
import { storedWith } from './support/store.mjs';
import { plain } from './contract/read.mjs';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

async function open(state = {}) {
  const service = new SessionService();
  return { service, session: await service.createSession({ ...key, state }) };
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
  ['a function', () => 1], ['a symbol', Symbol('s')], ['a bigint', 1n], ['NaN', NaN], ['Infinity', Infinity], ['-Infinity', -Infinity],
  ['a Map', new Map([[1, 2]])], ['a Set', new Set([1])], ['a typed array', new Uint8Array(2)], ['an ArrayBuffer', new ArrayBuffer(2)],
  ['a class instance', new Point()], ['a regular expression', /x/], ['an error', new Error('x')], ['a promise', Promise.resolve(1)],
  ['a WeakMap', new WeakMap()], ['a boxed number', Object(1)], ['a lone surrogate', 'a\ud800b'], ['a low surrogate first', '\udc00\ud800'],
  ['an invalid date', new Date(NaN)], ['a member under a symbol', withSymbol], ['a Map of another realm', runInNewContext('new Map()')],
]) {
  test(`${what} is refused, and its place is named`, async () => {
    const { service, session } = await open();
    const append = (event) => service.appendEvent({ session, event });
    await refused(append({ actions: { stateDelta: { x: value } } }), 'actions.stateDelta["x"]');
    await refused(append({ actions: { stateDelta: { cart: { items: [1, 2, 3, value] } } } }), 'actions.stateDelta["cart"].items[3]');
    await refused(append({ content: { parts: [{ text: 'x' }, { functionCall: { args: { 'a b': value } } }] } }), 'content.parts[1].functionCall.args["a b"]');
    await refused(service.createSession({ appName: 'app', userId: 'u', state: { 'user:x': [value] } }), 'state["user:x"][0]');
    assert.equal(session.revision, 0);
    assert.deepEqual(plain(await service.getUserState(key)), {});
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
  await assert.rejects(service.createSession({ ...key, sessionId: 'a\ud800' }), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(service.getSession({ ...key, appName: '\ud800' }), { code: 'INVALID_ARGUMENT' });
});

test('a toJSON is honoured, on a list too', async () => {
  const { service, session } = await open();
  const list = Object.assign([1], { toJSON: () => ['from', 'toJSON'] });
  const given = { date: new Date(0), url: new URL('http://a.b/'), own: { toJSON: (name) => ({ name }) }, last: { hidden: () => 1, toJSON: () => 2 }, list };
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
  const value = Object.defineProperty({}, 'n', { enumerable: true, get: () => { throw new RangeError('no'); } });
  await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } }), RangeError);
  assert.equal(session.revision, 0);
});

test('frozen values, null prototypes and plain objects of another realm are taken', async () => {
  const { service, session } = await open();
  const frozen = Object.freeze({ a: Object.freeze([1]) });
  const bare = Object.assign(Object.create(null), { b: 2 });
  const foreign = runInNewContext('({ c: [3, { d: null }] })');
  await service.appendEvent({ session, event: Object.freeze(createEvent({ actions: { stateDelta: { frozen, bare, foreign } } })) });
  assert.deepEqual(plain(session.state), { frozen: { a: [1] }, bare: { b: 2 }, foreign: { c: [3, { d: null }] } });
});

test('minus zero is zero, as in JSON', async () => {
  const { session } = await open({ x: -0, y: [-0] });
  assert.ok(Object.is(session.state.x, 0) && Object.is(session.state.y[0], 0));
});

test("the caller's event is never changed, whether the append succeeds or not", async () => {
  const { service, session } = await open();
  const make = (more) => ({ author: 'a', actions: { stateDelta: { x: { y: [1] }, 'temp:t': 1, gone: DELETED, ...more } } });
  for (const [event, ok] of [[make({}), true], [make({ z: NaN }), false]]) {
    const before = structuredClone(Object.keys(event.actions.stateDelta));
    await service.appendEvent({ session, event }).then(() => assert.ok(ok), () => assert.ok(!ok));
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
    const creating = service.createSession({ ...key, state });
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
  const stored = await service.appendEvent({ session, event: { actions: { stateDelta: { x: 1, y: DELETED, 'temp:z': 1 } } } });
  assert.ok(Object.isFrozen(stored) && Object.isFrozen(stored.actions.stateDelta));
  assert.equal(await service.appendEvent({ session, event: stored }), stored);
  assert.equal(session.revision, 1);
});
