// Contexts of an invocation, where they are more than their state.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, SessionService, State, StoreError, Template, injectSessionState } from 'statepad';
import { storeWith, storedWith } from '../support/store.mjs';
import { plain } from '../contract/read.mjs';
import { KEY, hasCode, warningsOf } from '../support/fixtures.mjs';

async function begin(state = {}, options = {}) {
  const service = new SessionService(options);
  const session = await service.createSession({ ...KEY, state });
  return { service, session, context: service.invocation(session, { invocationId: 'i', author: 'agent' }) };
}

test('a readonly context reads and has no way to write', async () => {
  const { context, session } = await begin({ x: 1 });
  const { readonly } = context;
  context.state.set('y', 2);
  assert.equal(readonly.state.get('x'), 1);
  assert.equal(readonly.state.get('y'), 2);
  assert.equal(readonly.state.has('z'), false);
  assert.deepEqual(plain(readonly.state.toRecord()), { x: 1, y: 2 });
  for (const [name, ...args] of [
    ['set', 'x', 9],
    ['delete', 'x'],
    ['update', { x: 9 }],
    ['setDefault', 'q', 9],
    ['write', 'x', 9],
  ]) {
    assert.throws(() => readonly.state[name](...args), `${name} must not write`);
  }
  assert.equal(readonly.append, undefined);
  assert.deepEqual(plain(readonly.state.toRecord()), { x: 1, y: 2 });
  context.discard();
  assert.deepEqual(plain(session.state), { x: 1 });
  context.end();
});

test('a change inside a value that was read throws', async () => {
  const { context } = await begin({ cart: { items: [1] } });
  context.state.set('list', [{ a: 1 }]);
  assert.throws(() => context.state.get('cart').items.push(2), TypeError);
  assert.throws(() => (context.state.get('list')[0].a = 2), TypeError);
  assert.throws(() => (context.state.toRecord().cart.items = []), TypeError);
  assert.throws(() => (context.state.setDefault('fresh', { b: 1 }).b = 2), TypeError);
  context.end({ discard: true });
});

test('a value that was set is copied: what happens to it later does not matter', async () => {
  const { context, session } = await begin();
  const value = { n: 1 };
  context.state.set('x', value);
  value.n = 2;
  assert.deepEqual(context.state.get('x'), { n: 1 });
  await context.append();
  assert.deepEqual(session.state.x, { n: 1 });
  context.end();
});

test('a value that is no JSON is refused when it is set, and an update then writes nothing', async () => {
  const { context } = await begin();
  assert.throws(() => context.state.set('x', () => 1), hasCode('VALUE_NOT_JSON'));
  assert.throws(() => context.state.set('x', undefined), hasCode('VALUE_NOT_JSON'));
  assert.throws(
    () => context.state.update({ y: 1, z: 1n }),
    (error) => hasCode('VALUE_NOT_JSON')(error) && error.path === 'state["z"]',
  );
  assert.equal(context.state.hasDelta(), false);
  context.end();
});

test('a value as deep as can be set can be appended', async () => {
  const { context } = await begin();
  let value = 1;
  for (let level = 0; level < 100; level++) {
    value = [value];
  }
  context.state.set('x', value);
  await context.append();
  assert.throws(() => context.state.set('x', [value]), hasCode('VALUE_NOT_JSON'));
  context.end();
});

test('DELETED deletes through set and update', async () => {
  const { context, session } = await begin({ x: 1, 'user:y': 2, z: 3 });
  context.state.set('x', DELETED);
  context.state.update({ 'user:y': DELETED, z: 4 });
  assert.deepEqual(plain(context.state.toRecord()), { z: 4 });
  const event = await context.append();
  assert.deepEqual(event.customMetadata.statepad.deleted, ['x', 'user:y']);
  assert.deepEqual(plain(session.state), { z: 4 });
  context.end();
});

test('an append that fails leaves the writes pending', async () => {
  let fail = false;
  const { context, session } = await begin(
    { x: 1 },
    storedWith(() => {
      if (fail) throw new Error('full');
    }),
  );
  context.state.set('x', 2);
  fail = true;
  await assert.rejects(context.append({ id: 'e' }));
  assert.equal(context.state.get('x'), 2);
  assert.equal(context.state.hasDelta(), true);
  assert.equal(session.state.x, 1);
  assert.throws(() => context.end(), hasCode('INVALID_ARGUMENT'));
  fail = false;
  await context.append({ id: 'e' });
  assert.equal(session.state.x, 2);
  context.end();
});

test('an empty id is none: an event is not taken for one that failed before', async () => {
  let fails = true;
  const { context } = await begin(
    {},
    storedWith(({ kind }) => {
      if (kind === 'append' && fails) throw new StoreError('unavailable', 'told to refuse');
    }),
  );
  context.state.set('x', 1);
  await assert.rejects(context.append({ id: '' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append(), hasCode('STORE_UNAVAILABLE'));
  context.state.set('x', 2);
  fails = false;
  assert.deepEqual((await context.append({ id: '' })).actions.stateDelta, { x: 2 });
  context.end();
});

test('an event that failed carries the same, whatever other events have failed with its writes since', async () => {
  let fails = true;
  const { context } = await begin(
    {},
    storedWith(({ kind }) => {
      if (kind === 'append' && fails) throw new StoreError('unavailable', 'told to refuse');
    }),
  );
  context.state.set('x', 1);
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append(), hasCode('STORE_UNAVAILABLE'));
  context.state.set('x', 2);
  fails = false;
  assert.deepEqual((await context.append({ id: 'e' })).actions.stateDelta, { x: 1 });
  assert.deepEqual((await context.append()).actions.stateDelta, { x: 2 });
  context.end();
});

test('an event whose delta has to be looked up first keeps its place before those that are sent after it', async () => {
  let fails = true;
  const { context, session } = await begin(
    {},
    storedWith(({ kind }) => {
      if (kind === 'append' && fails) throw new StoreError('unavailable', 'told to refuse');
    }),
  );
  const other = context.child('other');
  context.state.update({ x: 1, y: 1 });
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  fails = false;
  other.state.set('x', 2);
  await other.append();
  const again = context.append({ id: 'e' });
  other.state.set('y', 2);
  const next = other.append();
  assert.deepEqual((await again).actions.stateDelta, { y: 1 });
  assert.deepEqual((await next).actions.stateDelta, { y: 2 });
  assert.deepEqual(plain(session.state), { x: 2, y: 2 });
  context.end();
});

test('an event whose delta cannot be looked up fails alone: those that are sent after it are stored', async () => {
  let fails = true;
  let isCut = false;
  const refuse = () => {
    throw new StoreError('unavailable', 'told to refuse');
  };
  const store = storeWith(({ kind }) => {
    if (kind === 'append' && fails) refuse();
  });
  const load = async (...args) => (isCut ? refuse() : await store.load(...args));
  const { context, session } = await begin({}, { store: { ...store, load }, retry: { attempts: 1 } });
  const other = context.child('other');
  context.state.update({ x: 1, y: 1, z: 1 });
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  fails = false;
  other.state.set('x', 2);
  await other.append();
  isCut = true;
  const again = context.append({ id: 'e' });
  other.state.set('y', 2);
  const next = other.append();
  await assert.rejects(again, hasCode('STORE_UNAVAILABLE'));
  assert.deepEqual((await next).actions.stateDelta, { y: 2 });
  isCut = false;
  assert.deepEqual(
    (await context.append({ id: 'e' })).actions.stateDelta,
    { z: 1 },
    'what nobody has written since is pending again',
  );
  assert.deepEqual(plain(session.state), { x: 2, y: 2, z: 1 });
  context.end();
});

test('an event that was stored without what was overtaken, although its answer was lost, says the same when it is given again', async () => {
  let outcome = 'stored';
  const store = storeWith(() => {
    if (outcome === 'unavailable') throw new StoreError('unavailable', 'told to refuse');
  });
  const commit = async (...args) => {
    const committed = await store.commit(...args);
    if (outcome === 'lost') throw new Error('the connection is cut');
    return committed;
  };
  const { context, session } = await begin({}, { store: { ...store, commit }, retry: { attempts: 1 } });
  const other = context.child('other');
  context.state.update({ x: 1, y: 1, 'temp:t': 1 });
  outcome = 'unavailable';
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  outcome = 'stored';
  other.state.set('x', 2);
  await other.append();
  outcome = 'lost';
  await assert.rejects(context.append({ id: 'e' }), hasCode('COMMIT_UNKNOWN'));
  outcome = 'stored';
  assert.deepEqual((await context.append({ id: 'e' })).actions.stateDelta, { y: 1 });
  assert.deepEqual(plain(session.state), { x: 2, y: 1, 'temp:t': 1 });
  assert.equal(session.revision, 2);
  context.end();
});

test('an event with temp: keys whose answer was lost says what it said, although a key of it has been written since', async () => {
  let isLost = false;
  const store = storeWith(() => undefined);
  const commit = async (...args) => {
    const committed = await store.commit(...args);
    if (isLost) throw new Error('the connection is cut');
    return committed;
  };
  const { context, session } = await begin({}, { store: { ...store, commit }, retry: { attempts: 1 } });
  const other = context.child('other');
  context.state.update({ x: 1, 'temp:t': 1 });
  isLost = true;
  await assert.rejects(context.append({ id: 'e' }), hasCode('COMMIT_UNKNOWN'));
  isLost = false;
  other.state.set('x', 2);
  await other.append();
  assert.deepEqual((await context.append({ id: 'e' })).actions.stateDelta, { x: 1 });
  assert.equal(session.state.x, 2);
  assert.equal(session.revision, 2);
  context.end();
});

test('events whose deltas have to be looked up keep their order, and their place before those that need none', async () => {
  let fails = true;
  let look = async () => undefined;
  const store = storeWith(({ kind }) => {
    if (kind === 'append' && fails) throw new StoreError('unavailable', 'told to refuse');
  });
  const load = async (...args) => {
    await look();
    return await store.load(...args);
  };
  const { context: one, service, session } = await begin({}, { store: { ...store, load }, retry: { attempts: 1 } });
  const [two, three] = [one.child('two'), one.child('three')];
  one.state.set('a', 1);
  two.state.set('b', 1);
  await assert.rejects(one.append({ id: '1' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(two.append({ id: '2' }), hasCode('STORE_UNAVAILABLE'));
  fails = false;
  three.state.update({ a: 2, b: 2 });
  await three.append({ id: '0' });

  let release;
  const held = new Promise((resolve) => (release = resolve));
  const looks = [async () => undefined, () => held];
  look = async () => await looks.shift()();
  const [first, second] = [one.append({ id: '1' }), two.append({ id: '2' })];
  await first;
  const third = three.append({ id: '3' });
  release();
  await Promise.all([second, third]);
  await Promise.all([one.append({ id: '4' }), service.appendEvent({ session, event: { id: '5' } })]);
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ['0', '1', '2', '3', '4', '5'],
  );
  one.end();
});

test('events of a context and of its service are stored in the order in which they were asked for', async () => {
  for (const options of [{}, storedWith(() => undefined)]) {
    const { context, service, session } = await begin({}, options);
    const direct = (id) => service.appendEvent({ session, event: { id } });
    await Promise.all([
      context.append({ id: '1' }),
      direct('2'),
      context.append({ id: '3' }),
      context.append({ id: '4' }),
      direct('5'),
    ]);
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ['1', '2', '3', '4', '5'],
    );
    context.end();
  }
});

test('a context and its reader know their invocation and their session', async () => {
  const { context, session } = await begin();
  for (const each of [context, context.readonly, context.child('other'), context.child('other').readonly]) {
    assert.equal(each.session, session);
    assert.equal(each.invocationId, 'i');
  }
  context.end();
});

test('a partial event is handed back as it is, and carries nothing', async () => {
  const { context, session } = await begin();
  context.state.set('x', 1);
  const event = { partial: true, content: { parts: [{ text: 'so f' }] } };
  assert.equal(await context.append(event), event);
  assert.deepEqual(event, { partial: true, content: { parts: [{ text: 'so f' }] } });
  assert.equal(session.revision, 0);
  assert.deepEqual((await context.append()).actions.stateDelta, { x: 1 });
  context.end();
});

test('to end with writes that were never appended names all of them, in the order of writing', async () => {
  const { context } = await begin({ x: 0 });
  context.state.set('x', 1);
  context.child('other').state.set('y', 1);
  context.state.delete('x');
  const names = (error) =>
    hasCode('INVALID_ARGUMENT')(error) &&
    error.key === 'y' &&
    error.message === 'writes were never appended: "y", "x"; append or discard them';
  assert.throws(() => context.end(), names);
  context.end({ discard: true });
});

test('to end and to dispose of an invocation that has ended leaves the next one alone', async () => {
  const { context, service, session } = await begin();
  context.end();
  const next = service.invocation(session);
  next.state.set('temp:t', 1);
  await next.append();
  context.end();
  context[Symbol.dispose]();
  assert.equal(session.state['temp:t'], 1);
  next.end();
});

test('a context renders with artifacts', async () => {
  const { context } = await begin({ x: 1 });
  const artifact = (name) => `<${name}>`;
  assert.equal(context.render('{x}{artifact.f}', { artifact }), '1<f>');
  assert.equal(context.readonly.render(new Template('{artifact.f}'), { artifact }), '<f>');
  context.end();
});

test('a write made while an event is on its way goes into the next one', async () => {
  const { context, session, service } = await begin(
    {},
    storedWith(() => new Promise((done) => setTimeout(done, 5))),
  );
  context.state.set('x', 1);
  const first = context.append({ id: '1' });
  context.state.set('x', 2);
  context.state.set('y', 2);
  assert.deepEqual((await first).actions.stateDelta, { x: 1 });
  assert.equal(context.state.get('x'), 2);
  assert.deepEqual((await context.append({ id: '2' })).actions.stateDelta, { x: 2, y: 2 });
  assert.deepEqual(plain(session.state), { x: 2, y: 2 });
  assert.deepEqual(plain((await service.getSession(KEY)).state), { x: 2, y: 2 });
  context.end();
});

test('a context may be disposed of, which ends the invocation', async () => {
  const { context, session } = await begin();
  context.state.set('temp:x', 1);
  await context.append();
  assert.equal(session.state['temp:x'], 1);
  assert.deepEqual(await warningsOf(() => context[Symbol.dispose]()), []);
  assert.deepEqual(plain(session.state), {});
  assert.throws(() => context.state, hasCode('INVOCATION_ENDED'));
  assert.deepEqual(await warningsOf(() => context[Symbol.dispose]()), []);
});

test('to dispose of a context with pending writes never throws: it discards them, and names them in one warning', async () => {
  const { context, session } = await begin({ x: 0 });
  context.state.set('x', 1);
  context.child('other').state.set('y"', 1);
  context.child('third').state.set('x', 3);
  const warnings = await warningsOf(() => context[Symbol.dispose]());
  assert.deepEqual(warnings, [
    ['STATEPAD_WRITES_DISCARDED', 'writes were never appended, and are discarded: "y\\"", "x"'],
  ]);
  assert.throws(() => context.state, hasCode('INVOCATION_ENDED'));
  assert.deepEqual(plain(session.state), { x: 0 });
});

test('to dispose of a context leaves alone what is on its way', async () => {
  const { context, session } = await begin(
    {},
    storedWith(() => new Promise((done) => setTimeout(done, 5))),
  );
  context.state.set('x', 1);
  const event = context.append();
  assert.deepEqual(await warningsOf(() => context[Symbol.dispose]()), []);
  assert.deepEqual(plain((await event).actions.stateDelta), { x: 1 });
  assert.deepEqual(plain(session.state), { x: 1 });
});

test('where there are no process warnings the console is told', async () => {
  const { context } = await begin();
  context.state.set('x', 1);
  const { warn } = console;
  const { emitWarning } = process;
  const heard = [];
  try {
    console.warn = (message) => heard.push(message);
    process.emitWarning = undefined;
    context[Symbol.dispose]();
  } finally {
    Object.assign(console, { warn });
    Object.assign(process, { emitWarning });
  }
  assert.deepEqual(heard, ['STATEPAD_WRITES_DISCARDED: writes were never appended, and are discarded: "x"']);
});

test('the error that is on its way is not hidden by using', async () => {
  const { context } = await begin();
  const warnings = await warningsOf(() => {
    assert.throws(() => {
      try {
        context.state.set('x', 1);
        throw new Error('the cause');
      } finally {
        context[Symbol.dispose]();
      }
    }, /the cause/);
  });
  assert.equal(warnings.length, 1);
});

test('a key that cannot be stored is refused when it is written', async () => {
  const { context } = await begin();
  const { state } = context;
  for (const key of [Symbol('s'), undefined, null, 1, {}]) {
    assert.throws(() => state.set(key, 1), hasCode('INVALID_ARGUMENT'), String(key));
    assert.throws(() => state.setDefault(key, 1), hasCode('INVALID_ARGUMENT'), String(key));
  }
  const isLone = (error) => hasCode('VALUE_NOT_JSON')(error) && error.path === 'state["user:\\ud800"]';
  assert.throws(() => state.set('user:\ud800', 1), isLone);
  assert.throws(() => state.setDefault('user:\ud800', 1), isLone);
  assert.throws(() => state.update({ x: 1, 'user:\ud800': 1 }), isLone);
  assert.throws(() => state.update({ x: 1, [Symbol('s')]: 1 }), hasCode('VALUE_NOT_JSON'));
  for (const values of [null, undefined, 1, 'text', [], new Map([['x', 1]])]) {
    assert.throws(() => state.update(values), hasCode('INVALID_ARGUMENT'), String(values));
  }
  assert.equal(state.hasDelta(), false);
  await context.append();
  context.end();
});

test('an event keeps the author of its context, unless it has one of its own', async () => {
  const { context } = await begin();
  assert.equal((await context.append({ author: undefined })).author, 'agent');
  assert.equal((await context.append()).author, 'agent');
  assert.equal((await context.append({ author: 'other' })).author, 'other');
  context.end();
});

test('a wrong argument is told as such', async () => {
  const { context, service, session } = await begin();
  const wrong = hasCode('INVALID_ARGUMENT');
  for (const given of [{}, null, undefined, 1, Symbol('s'), { render: 1 }]) {
    assert.throws(() => context.render(given), wrong, String(given));
    assert.throws(() => context.readonly.render(given), wrong, String(given));
  }
  for (const answer of [undefined, null, 1, {}]) {
    assert.throws(() => context.readonly.render(() => answer), wrong, String(answer));
  }
  assert.throws(() => context.readonly.render('x', null), wrong);
  for (const author of [undefined, null, 1, {}, Symbol('s')]) {
    assert.throws(() => context.child(author), wrong, String(author));
  }
  for (const event of [null, 1, 'text', []]) {
    await assert.rejects(context.append(event), wrong, String(event));
  }
  for (const actions of [null, 1, 'text', [], { stateDelta: 1 }]) {
    await assert.rejects(context.append({ actions }), wrong, String(actions));
  }
  assert.throws(() => context.end(null), wrong);
  for (const options of [null, 1, { author: 1 }, { author: null }, { invocationId: 1 }, { invocationId: '\ud800' }]) {
    assert.throws(() => service.invocation(session, options), wrong, JSON.stringify(options));
  }
  for (const given of [null, 1, 'text', []]) {
    assert.throws(() => new State(given), wrong, String(given));
    assert.throws(() => new State({}, given), wrong, String(given));
  }
  context.end();
});

test('a promise of any kind may be the text of a template', async () => {
  const { context } = await begin();
  const thenable = { then: (resolve) => resolve('text') };
  assert.equal(await context.readonly.render(() => thenable), 'text');
  assert.equal(await context.readonly.render(() => runInNewContext('Promise.resolve("text")')), 'text');
  context.end();
});

describe('a state over plain values', () => {
  test('hands out what nobody can change, and changes nothing itself', () => {
    const value = { cart: { items: [{ n: 1 }] }, frozen: Object.freeze({ inner: {} }) };
    const delta = { list: [{ n: 1 }] };
    const state = new State(value, delta);
    for (const read of [(key) => state.get(key), (key) => state.toRecord()[key], (key) => state.setDefault(key, 1)]) {
      assert.throws(() => (read('cart').items = []), TypeError);
      assert.throws(() => read('cart').items.push(2), TypeError);
      assert.throws(() => (read('cart').items[0].n = 2), TypeError);
      assert.throws(() => (read('list')[0].n = 2), TypeError);
      assert.throws(() => (read('frozen').inner.x = 1), TypeError);
    }
    assert.throws(() => (state.toRecord().cart = 1), TypeError);
    assert.deepEqual(value, { cart: { items: [{ n: 1 }] }, frozen: { inner: {} } });
    assert.ok(
      !Object.isFrozen(value.cart) && !Object.isFrozen(value.cart.items) && !Object.isFrozen(delta.list),
      "they are their owner's",
    );
    value.cart.items.push({ n: 2 });
    assert.deepEqual(state.get('cart'), value.cart);
  });

  test('hands out what is frozen already as it is', () => {
    const cart = Object.freeze({ items: Object.freeze([Object.freeze({ n: 1 })]) });
    const state = new State({ cart });
    assert.equal(state.get('cart'), cart);
    assert.equal(state.get('cart'), cart);
    assert.equal(state.toRecord().cart, cart);
  });

  test('names the key of a value that is no JSON', () => {
    assert.throws(
      () => new State({ x: { f: () => 1 } }).get('x'),
      (error) => hasCode('VALUE_NOT_JSON')(error) && error.path === 'state["x"].f',
    );
  });

  test('a record of all values is an ordinary object, whatever its keys', () => {
    const state = new State(JSON.parse('{"__proto__": {"x": 1}, "y": 2}'));
    state.set('__proto__', { z: 3 });
    const record = state.toRecord();
    assert.equal(Object.getPrototypeOf(record), Object.prototype);
    assert.deepEqual(Object.entries(record), [
      ['__proto__', { z: 3 }],
      ['y', 2],
    ]);
    assert.equal(record.z, undefined);
    assert.equal(`${record}`, '[object Object]');
  });
});

test('the end is the end for children, for readers and for a state that is still held', async () => {
  const { context } = await begin({ x: 1 });
  const child = context.child('other');
  const { state, readonly } = child;
  context.end();
  for (const use of [
    () => child.state,
    () => child.child('third'),
    () => readonly.state,
    () => readonly.render('{x}'),
    () => readonly.render(() => 'x'),
    () => child.render('x'),
    () => state.get('x'),
    () => state.has('x'),
    () => state.set('x', 1),
    () => state.delete('x'),
    () => state.toRecord(),
    () => state.setDefault('x', 1),
  ]) {
    assert.throws(use, hasCode('INVOCATION_ENDED'), String(use));
  }
  await assert.rejects(child.append(), hasCode('INVOCATION_ENDED'));
});

test('an invocation has an id of its own unless it is given one', async () => {
  const { service, session } = await begin();
  const [one, two] = [service.invocation(session), service.invocation(session)];
  assert.ok(one.invocationId.length > 8);
  assert.notEqual(one.invocationId, two.invocationId);
  assert.equal(one.author, 'user');
  assert.equal((await one.append()).invocationId, one.invocationId);
  assert.equal(one.child('x').invocationId, one.invocationId);
});

test("a handle remembers the last 64 invocations: a user's event of an earlier one begins it anew", async () => {
  const { service, session } = await begin();
  const say = (invocationId, stateDelta = {}) =>
    service.appendEvent({ session, event: { author: 'user', invocationId, actions: { stateDelta } } });
  const others = Array.from({ length: 64 }, (_, index) => `i${index}`);
  for (const id of ['first', ...others]) {
    await say(id);
  }
  await say('i63', { 'temp:t': 1 });
  for (const id of others) {
    await say(id);
    assert.equal(session.state['temp:t'], 1, id);
  }
  await say('first');
  assert.equal(session.state['temp:t'], undefined);
  await say('i1', { 'temp:t': 2 });
  assert.equal(session.state['temp:t'], 2);
  await say('first');
  assert.equal(session.state['temp:t'], 2);
  await say('i0');
  assert.equal(session.state['temp:t'], undefined, 'it was seen longest ago when the first came back');
});

test('only a handle of the service can begin an invocation', async () => {
  const { service, session } = await begin();
  for (const other of [{ ...session }, await new SessionService().createSession(KEY), {}, undefined, null]) {
    assert.throws(() => service.invocation(other), hasCode('INVALID_ARGUMENT'));
  }
});

describe('an instruction', () => {
  test('may be a function, whose text is used as it is', async () => {
    const { context } = await begin({ x: 1 });
    assert.equal(
      context.readonly.render((reader) => `{x} is ${reader.state.get('x')}`),
      '{x} is 1',
    );
    assert.equal(await context.readonly.render(async () => '{{y}}'), '{{y}}');
    context.end();
  });

  test('is injected with the state of a context, of a readonly context or of a session', async () => {
    const { context, session } = await begin({ x: 1 });
    context.state.set('temp:y', 2);
    const template = new Template('{x} {temp:y?}');
    assert.equal(await injectSessionState(template, context), '1 2');
    assert.equal(await injectSessionState('{x} {temp:y}', context.readonly), '1 2');
    assert.equal(await injectSessionState('{x} {temp:y?}', session), '1 ');
    assert.equal(
      await injectSessionState('{x}{artifact.f}', { state: { x: 3 }, artifact: async (name) => `<${name}>` }),
      '3<f>',
    );
    context.end({ discard: true });
  });
});
