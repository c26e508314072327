// Calls in a log: those that were made and refused, and the session that a removal means.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { StoreError, callbackStore, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, textMedium, update } from './support.mjs';

const key = (sessionId) => ({ appName: 'notes', userId: 'ada', sessionId });
const keys = [key('first'), key('second')];

test('what was kept is read again, whatever was refused or done under the same name long before', async () => {
  const log = [];
  const make = () =>
    callbackStore({
      persist: async (records) => void log.push(...records.map((record) => JSON.stringify(record))),
      restore: () => log.map((text) => JSON.parse(text)),
    });
  const start = Date.now();
  mock.timers.enable({ apis: ['Date'], now: start });
  try {
    const store = await opened(make());
    await store.commit(create(keys[0], 'c'), context);
    const change = append(keys[0], 'e1', {}, { attempt: 2, guard: { rev: 7 } });
    const twice = update({ appName: 'notes' }, 'u', { app: { set: { n: 1 } } });
    await assert.rejects(store.commit(change, context), { code: 'conflict' });
    await store.commit(twice, context);
    mock.timers.setTime(start + 86_400_000);
    // These make it forget what is too old.
    await assert.rejects(store.commit({ ...change, id: 'other' }, context), { code: 'conflict' });
    await store.commit({ ...twice, id: 'another' }, context);
    assert.equal((await store.commit({ ...change, guard: {} }, context)).rev, 1);
    assert.equal((await store.commit(twice, context)).duplicate, undefined);
    const before = [await loaded(store, keys[0]), await store.loadScope({ app: 'notes' }, context)];
    const again = await opened(make());
    assert.deepEqual([await loaded(again, keys[0]), await again.loadScope({ app: 'notes' }, context)], before);
  } finally {
    mock.timers.reset();
  }
});

test('a log keeps the call of a change, and not what its caller knew or how often it has tried', async () => {
  const log = [];
  const store = await opened(
    callbackStore({ persist: async (records) => void log.push(...records), restore: () => [] }),
  );
  const more = { call: 'call 1', attempt: 2, known: { pos: { app: 0 }, marks: {} } };
  await store.commit(create(keys[0], 'c', { app: { set: { n: 1 } } }, more), context);
  await assert.rejects(
    store.commit(append(keys[0], 'e', {}, { ...more, call: 'call 2', guard: { rev: 3 } }), context),
    { code: 'conflict' },
  );
  assert.deepEqual(
    log.map(({ kind }) => kind),
    ['version', 'create', 'refusal'],
  );
  const [version, made, refused] = log;
  assert.deepEqual(
    [version.version, made.call, made.attempt, made.known, refused.call],
    [1, 'call 1', undefined, undefined, 'call 2'],
  );
  assert.equal((await store.loadScope({ app: 'notes' }, context)).mark, 'call 1');
});

test('a refusal that cannot be kept is not told: the call may be tried again', async () => {
  const log = [];
  let isDown = false;
  const persist = async (records) => {
    if (isDown) throw new StoreError('unavailable', 'no room');
    log.push(...records);
  };
  const store = await opened(callbackStore({ persist, restore: () => log }));
  await store.commit(create(keys[0], 'c'), context);
  isDown = true;
  const change = append(keys[0], 'e', {}, { attempt: 2, guard: { rev: 3 } });
  await assert.rejects(store.commit(change, context), { code: 'unavailable' });
  isDown = false;
  await assert.rejects(store.commit(change, context), { code: 'conflict' });
  await assert.rejects(store.commit({ ...change, attempt: 3, guard: {} }, context), { code: 'conflict' });
});

test('a damaged digest is that of its record alone', async () => {
  const log = [];
  const make = () =>
    callbackStore({ persist: async (records) => void log.push(...structuredClone(records)), restore: () => log });
  const store = await opened(make());
  const digest = 'one';
  const late = update({ appName: 'notes' }, 'late', {}, { digest, attempt: 2, guard: { pos: { app: 7 } } });
  await store.commit(create(keys[0], 'c1', {}, { digest }), context);
  await store.commit(create(keys[1], 'c2', {}, { digest }), context);
  await assert.rejects(store.commit(late, context), { code: 'conflict' });
  await store.remove(keys[1], context);
  const kinds = log.filter((record) => record.digest === digest).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['create', 'create', 'refusal', 'remove']);
  log
    .filter(({ id, kind }) => id === 'c1' || kind === 'refusal' || kind === 'remove')
    .forEach((record) => {
      record.digest = 1;
    });
  const again = await opened(make());
  assert.equal(await loaded(again, keys[0]), 'corrupt');
  await assert.rejects(again.commit(late, context), ({ code, digest }) => code === 'conflict' && digest === undefined);
  const repeated = await again.commit(create(keys[1], 'c2', {}, { digest: 'two' }), context);
  assert.deepEqual([repeated.duplicate, repeated.digest], [true, undefined]);
});

test('a session that cannot be read has its owner still, and its user and app are listed', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  const elsewhere = { appName: 'other', userId: 'bob', sessionId: 'first' };
  await store.commit(create(keys[0], 'c1'), context);
  await store.commit(create({ ...keys[0], userId: 'eve' }, 'c2'), context);
  await store.commit(create(elsewhere, 'c3'), context);
  const again = await opened(journalStore(textMedium(medium.text.replaceAll(/"id":"c[13]"/g, '"id":"C"'))));
  assert.deepEqual([await loaded(again, keys[0]), await loaded(again, elsewhere)], ['corrupt', 'corrupt']);
  assert.deepEqual(await again.owners('notes', 'first', context), ['ada', 'eve']);
  assert.deepEqual(await again.owners('other', 'first', context), ['bob']);
  assert.deepEqual(await again.listUsers('notes', { limit: 1 }, context), { names: ['ada'], more: true });
  assert.deepEqual(await again.listUsers('notes', { after: 'ada' }, context), { names: ['eve'], more: false });
  assert.deepEqual(await again.listApps({}, context), { names: ['notes', 'other'], more: false });
  await again.remove(keys[0], context);
  await again.remove(elsewhere, context);
  assert.deepEqual(await again.owners('notes', 'first', context), ['eve']);
  assert.deepEqual(await again.listApps({}, context), { names: ['notes'], more: false });
});

test('a session that cannot be read is removed when it is the one that is meant', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(keys[0], 'c1'), context);
  await store.commit(append(keys[0], 'e1'), context);
  await store.commit(create(keys[1], 'c2'), context);
  const damaged = medium.text.replace('"id":"e1"', '"id":"E1"').replace('"id":"c2"', '"id":"C2"');
  const again = await opened(journalStore(textMedium(damaged)));
  await again.remove(keys[0], context, { created: 'other' });
  assert.equal(await loaded(again, keys[0]), 'corrupt');
  await again.remove(keys[0], context, { created: 'c1' });
  assert.equal(await loaded(again, keys[0]), null);
  // Of this one it is not known which it was.
  await assert.rejects(again.remove(keys[1], context, { created: 'c2' }), { code: 'corrupt' });
  await again.remove(keys[1], context);
  assert.equal(await loaded(again, keys[1]), null);
});
