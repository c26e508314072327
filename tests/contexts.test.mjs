// Contexts of an invocation, where they are more than their state.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService, Template, injectSessionState, isStatepadError } from 'statepad';
import { storedWith } from './support/store.mjs';
import { plain } from './contract/read.mjs';

const key = { appName: 'app', userId: 'u', sessionId: 's' };
const hasCode = (code) => (error) => isStatepadError(error) && error.code === code;

async function begin(state = {}, options = {}) {
  const service = new SessionService(options);
  const session = await service.createSession({ ...key, state });
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
  for (const [name, ...args] of [['set', 'x', 9], ['delete', 'x'], ['update', { x: 9 }], ['setDefault', 'q', 9], ['write', 'x', 9]]) {
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
  assert.throws(() => context.state.update({ y: 1, z: 1n }), (error) => hasCode('VALUE_NOT_JSON')(error) && error.path === 'state["z"]');
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
  const { context, session } = await begin({ x: 1 }, storedWith(() => { if (fail) throw new Error('full'); }));
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

test('a write made while an event is on its way goes into the next one', async () => {
  const { context, session, service } = await begin({}, storedWith(() => new Promise((done) => setTimeout(done, 5))));
  context.state.set('x', 1);
  const first = context.append({ id: '1' });
  context.state.set('x', 2);
  context.state.set('y', 2);
  assert.deepEqual((await first).actions.stateDelta, { x: 1 });
  assert.equal(context.state.get('x'), 2);
  assert.deepEqual((await context.append({ id: '2' })).actions.stateDelta, { x: 2, y: 2 });
  assert.deepEqual(plain(session.state), { x: 2, y: 2 });
  assert.deepEqual(plain((await service.getSession(key)).state), { x: 2, y: 2 });
  context.end();
});

test('a context may be disposed of, which ends the invocation', async () => {
  const { context, session } = await begin();
  context.state.set('temp:x', 1);
  assert.throws(() => context[Symbol.dispose](), hasCode('INVALID_ARGUMENT'));
  await context.append();
  assert.equal(session.state['temp:x'], 1);
  context[Symbol.dispose]();
  assert.deepEqual(plain(session.state), {});
  assert.throws(() => context.state, hasCode('INVOCATION_ENDED'));
});

test('the end is the end for children, for readers and for a state that is still held', async () => {
  const { context } = await begin({ x: 1 });
  const child = context.child('other');
  const { state, readonly } = child;
  context.end();
  for (const use of [
    () => child.state, () => child.child('third'), () => readonly.state, () => readonly.render('{x}'), () => readonly.render(() => 'x'),
    () => child.render('x'), () => state.get('x'), () => state.has('x'), () => state.set('x', 1), () => state.delete('x'), () => state.toRecord(), () => state.setDefault('x', 1),
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

test('only a handle of the service can begin an invocation', async () => {
  const { service, session } = await begin();
  for (const other of [{ ...session }, await new SessionService().createSession(key), {}, undefined, null]) {
    assert.throws(() => service.invocation(other), hasCode('INVALID_ARGUMENT'));
  }
});

describe('an instruction', () => {
  test('may be a function, whose text is used as it is', async () => {
    const { context } = await begin({ x: 1 });
    assert.equal(context.readonly.render((reader) => `{x} is ${reader.state.get('x')}`), '{x} is 1');
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
    assert.equal(await injectSessionState('{x}{artifact.f}', { state: { x: 3 }, artifact: async (name) => `<${name}>` }), '3<f>');
    context.end({ discard: true });
  });
});
