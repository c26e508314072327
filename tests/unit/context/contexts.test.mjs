// Contexts of an invocation, where they are more than their state: what is read, written and rendered.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, State, Template, injectSessionState } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { hasCode } from '../../support/fixtures.mjs';
import { begin } from '../../support/invocation.mjs';

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

test('a context and its reader know their invocation and their session', async () => {
  const { context, session } = await begin();
  for (const each of [context, context.readonly, context.child('other'), context.child('other').readonly]) {
    assert.equal(each.session, session);
    assert.equal(each.invocationId, 'i');
  }
  context.end();
});

test('a context renders with artifacts', async () => {
  const { context } = await begin({ x: 1 });
  const artifact = (name) => `<${name}>`;
  assert.equal(context.render('{x}{artifact.f}', { artifact }), '1<f>');
  assert.equal(context.readonly.render(new Template('{artifact.f}'), { artifact }), '<f>');
  context.end();
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
