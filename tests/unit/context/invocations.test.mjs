// The beginning and the end of an invocation, and the fate of writes that were never appended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { storedWith } from '../../support/store.mjs';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode, warningsOf } from '../../support/fixtures.mjs';
import { begin } from '../../support/invocation.mjs';

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
