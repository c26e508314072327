// The events that a context appends: what they carry when they fail, when others come between and when they are sent
// again, and in which order they are stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from 'statepad';
import { storeWith, storedWith } from '../../support/store.mjs';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode } from '../../support/fixtures.mjs';
import { begin } from '../../support/invocation.mjs';

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

test('a context refuses what is no plain object as appendEvent does, and its writes stay pending', async () => {
  const { context, session } = await begin({});
  context.state.set('x', 1);
  class Said {
    author = 'agent';
  }
  for (const event of [new Said(), new Map([['author', 'agent']]), { actions: new Said() }]) {
    await assert.rejects(context.append(event), hasCode('INVALID_ARGUMENT'));
  }
  assert.equal(session.events.length, 0);
  await context.append();
  assert.equal(session.state.x, 1);
  context.end();
});

/** A context whose events cannot be appended until that is mended. */
async function failing() {
  let fails = true;
  const before = ({ kind }) => {
    if (kind === 'append' && fails) throw new StoreError('unavailable', 'told to refuse');
  };
  return { ...(await begin({}, storedWith(before))), mend: () => (fails = false) };
}

test('an empty id is none: an event is not taken for one that failed before', async () => {
  const { context, mend } = await failing();
  context.state.set('x', 1);
  await assert.rejects(context.append({ id: '' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append(), hasCode('STORE_UNAVAILABLE'));
  context.state.set('x', 2);
  mend();
  assert.deepEqual((await context.append({ id: '' })).actions.stateDelta, { x: 2 });
  context.end();
});

test('an event that failed carries the same, whatever other events have failed with its writes since', async () => {
  const { context, mend } = await failing();
  context.state.set('x', 1);
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  await assert.rejects(context.append(), hasCode('STORE_UNAVAILABLE'));
  context.state.set('x', 2);
  mend();
  assert.deepEqual((await context.append({ id: 'e' })).actions.stateDelta, { x: 1 });
  assert.deepEqual((await context.append()).actions.stateDelta, { x: 2 });
  context.end();
});

test('an event whose delta has to be looked up first keeps its place before those that are sent after it', async () => {
  const { context, session, mend } = await failing();
  const other = context.child('other');
  context.state.update({ x: 1, y: 1 });
  await assert.rejects(context.append({ id: 'e' }), hasCode('STORE_UNAVAILABLE'));
  mend();
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

test('an event keeps the author of its context, unless it has one of its own', async () => {
  const { context } = await begin();
  assert.equal((await context.append({ author: undefined })).author, 'agent');
  assert.equal((await context.append()).author, 'agent');
  assert.equal((await context.append({ author: 'other' })).author, 'other');
  context.end();
});
