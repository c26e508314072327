// Values that come in: checked, copied and frozen, or refused with the name of their place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { append, compareAndSet, createEvent, increment, isStatepadError, setOnce } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { plain } from '../../contract/read.mjs';
import { KEY } from '../../support/fixtures.mjs';
import { open, refused } from './admitting.mjs';

class Point {
  x = 1;
}

const cycle = { a: [] };
cycle.a.push(cycle);

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

for (const [what, lose] of Object.entries({
  'a structured clone': structuredClone,
  JSON: (operator) => JSON.parse(JSON.stringify(operator)),
})) {
  test(`an operator that lost its mark in ${what} is refused wherever state is written`, async () => {
    for (const operator of [increment(), append('x'), setOnce(null), compareAndSet(undefined, 1)]) {
      const value = lose(operator);
      const { service, session } = await open();
      await refused(
        service.appendEvent({ session, event: { actions: { stateDelta: { a: 1, 'app:x': value } } } }),
        'actions.stateDelta["app:x"]',
      );
      await refused(
        service.appendEvent({ session, event: { actions: { stateDelta: { x: { list: [value] } } } } }),
        'actions.stateDelta["x"].list[0]',
      );
      await refused(service.createSession({ appName: 'app', userId: 'u', state: { x: value } }), 'state["x"]');
      await refused(
        service.updateState({ appName: 'app' }, () => ({ 'app:x': value })),
        'delta["app:x"]',
      );
      assert.equal(session.revision, 0);
      assert.deepEqual(plain(await service.getAppState(KEY)), {});
      // Outside of state it means nothing.
      await service.appendEvent({ session, event: { content: { parts: [{ text: 'x', value }] } } });
    }
  });
}

test('a faked operator is refused by a code, and nothing is written', async () => {
  const mark = Symbol.for('statepad.operator');
  const fakes = [
    ...[
      null,
      'increment',
      1,
      true,
      [],
      {},
      [1],
      { increment: '1' },
      { increment: null },
      { append: 1 },
      { append: {} },
    ],
    ...[{ setOnce: undefined }, { compareAndSet: 1 }, { compareAndSet: {} }, { compareAndSet: { expected: 1 } }],
    ...[
      { compareAndSet: { value: 1, other: 2 } },
      { increment: 1, append: [] },
      { increment: 1, more: 1 },
      { twice: 1 },
    ],
  ];
  const { service, session } = await open();
  const unknown = (error) => {
    assert.ok(isStatepadError(error), error?.stack);
    assert.deepEqual([error.code, error.key], ['INVALID_ARGUMENT', 'app:x'], error.message);
    return true;
  };
  for (const fake of fakes.map((operator) => ({ [mark]: operator }))) {
    const stateDelta = { a: 1, 'app:x': fake };
    await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta } } }), unknown);
    await assert.rejects(
      service.updateState({ appName: 'app' }, () => ({ 'app:x': fake })),
      unknown,
    );
  }
  for (const [operator, place] of [
    [{ increment: NaN }, '.increment'],
    [{ append: [undefined] }, '.append[0]'],
    [{ setOnce: 1n }, '.setOnce'],
    [() => 1, ''],
  ]) {
    const stateDelta = { x: { [mark]: operator } };
    await refused(
      service.appendEvent({ session, event: { actions: { stateDelta } } }),
      `actions.stateDelta["x"]${place}`,
    );
  }
  assert.equal(session.revision, 0);
  assert.deepEqual(plain(await service.getAppState(KEY)), {});
});

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

test('a list with members beside its elements is refused: JSON would leave them out', async () => {
  const { service, session } = await open();
  const append = (x) => service.appendEvent({ session, event: { actions: { stateDelta: { x } } } });
  const match = /b/.exec('abc');
  await refused(append(match), 'actions.stateDelta["x"]');
  await refused(append([[Object.assign([1], { total: 1 })]]), 'actions.stateDelta["x"][0][0]');
  await refused(append(Object.assign([1], { [Symbol('s')]: 1 })), 'actions.stateDelta["x"]');
  await assert.rejects(append(Object.assign([1], { total: 1 })), /an extra member, "total"/);
  await append([...match]);
  await append(Object.defineProperty([1], 'hidden', { value: 1 }));
  assert.deepEqual(session.state, { x: [1] });
});

test('a symbol in a state or a delta is refused at any depth, also by the service under ADK', async () => {
  const { service, session } = await open();
  const append = (stateDelta) => service.appendEvent({ session, event: { actions: { stateDelta } } });
  const record = { x: 1, [Symbol('s')]: 1 };
  await refused(service.createSession({ ...KEY, sessionId: 't', state: record }), 'state');
  await refused(service.appendEvent({ session, event: { actions: { stateDelta: record } } }), 'actions.stateDelta');
  await refused(append({ x: [1, { a: record }] }), 'actions.stateDelta["x"][1].a');
  await refused(append({ x: { toJSON: () => record } }), 'actions.stateDelta["x"]');
  await refused(
    service.createSession({ ...KEY, sessionId: 't', state: { 'user:x': [record] } }),
    'state["user:x"][0]',
  );
  assert.equal(session.revision, 0);
  const adk = new StatepadSessionService();
  const held = await adk.createSession(KEY);
  await refused(
    adk.appendEvent({ session: held, event: createEvent({ actions: { stateDelta: record } }) }),
    'actions.stateDelta',
  );
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
  // The JSON text of these is an empty object.
  await refused(append({ toJSON: () => new Date(0) }), 'actions.stateDelta["x"]');
  await refused(append({ toJSON: () => new URL('http://a.b/') }), 'actions.stateDelta["x"]');
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
