// Leases of journals, and their logs of app and user values: through damage, compacting, trimming and reading again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { callbackStore, journalStore, StoreError } from 'statepad/stores/journal';
import { append, context, create, opened, textMedium, update } from './support.mjs';
import { key, place } from './files.mjs';

const app = { app: key.appName };
const ofApp = { appName: key.appName };

/** A log of records in a list, whose next `persist` may fail in a way. */
function openRecords(options) {
  const records = [];
  const faults = { persist: undefined };
  const store = () =>
    callbackStore(
      {
        persist: async (added) => {
          const { persist: fault } = faults;
          faults.persist = undefined;
          await fault?.(added, records);
          records.push(...added.map((record) => JSON.parse(JSON.stringify(record))));
        },
        restore: () => records,
      },
      options,
    );
  return { records, faults, store };
}

test('compacting a file takes nothing from the log: who wrote, when, and where it was trimmed', async () => {
  const { path, open } = place();
  const store = await open();
  const other = { ...key, sessionId: 'gone' };
  await store.commit(create(other, 'c1', { app: { set: { a: 1 } }, user: { set: { u: 1 } } }), context);
  await store.commit(append(other, 'e1', { app: { set: { a: 2 } } }, { time: 77 }), context);
  await store.commit(append(other, 'e2', { app: { set: { a: 3, b: 3 } } }), context);
  await store.commit(update(ofApp, 'u1', { app: { unset: ['a'] } }), context);
  assert.equal(await store.trimLog(app, 1, context), 1);
  await store.remove(other, context);
  await store.commit(create(key, 'c2', { app: { set: { a: 4 } } }), context);
  const before = await store.readLog(app, {}, context);
  assert.deepEqual([before.pos, before.base, before.entries.length], [5, 1, 4]);
  assert.deepEqual(before.entries[0], {
    pos: 2,
    time: 77,
    by: { userId: other.userId, sessionId: 'gone', eventId: 'e1' },
    writes: [{ name: 'a', from: 1, to: 2 }],
  });
  await store.close();
  for (let round = 0; round < 2; round++) {
    const compact = await open({ sync: false, compact: true });
    assert.deepEqual(await compact.readLog(app, {}, context), before);
    assert.equal((await compact.load(key, {}, context)).pos.app, 5);
    await compact.close();
    // The entries of the removed session alone are not there any more.
    assert.doesNotMatch(readFileSync(path, 'utf8'), /événement e1/);
  }
});

test('the log of a scope of which something was lost cannot be read until it is removed, and begins behind that', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(key, 'c1', { app: { set: { a: 1 } }, user: { set: { u: 1 } } }), context);
  await store.commit(append(key, 'e1', { app: { set: { a: 2 } } }), context);
  await store.commit(append(key, 'e2', { app: { set: { a: 3 } } }), context);
  await store.close();
  // The middle line loses what it has changed in the app.
  const damaged = textMedium(medium.text.replace('"a":2', '"a":7'));
  const again = await opened(journalStore(damaged));
  await assert.rejects(again.readLog(app, {}, context), { code: 'corrupt' });
  assert.equal((await again.readLog({ ...app, user: key.userId }, {}, context)).entries.length, 1);
  await again.removeScope(app, context);
  await again.commit(update(ofApp, 'u1', { app: { set: { a: 5 } } }), context);
  const log = await again.readLog(app, {}, context);
  assert.deepEqual([log.base, log.pos - log.base], [log.pos - 1, 1]);
  assert.deepEqual(log.entries, [{ pos: log.pos, time: 3, writes: [{ name: 'a', to: 5 }] }]);
  await again.close();
  const third = await opened(journalStore(textMedium(damaged.text)));
  assert.deepEqual(await third.readLog(app, {}, context), log);
});

test('a session of which something was lost takes no entry of its scopes with it', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(key, 'c1', { app: { set: { a: 1 } } }), context);
  await store.commit(append(key, 'e1', { session: { set: { s: 'lost' } } }), context);
  await store.commit(append(key, 'e2', { app: { set: { a: 3 } } }), context);
  const before = await store.readLog(app, {}, context);
  await store.close();
  const again = await opened(journalStore(textMedium(medium.text.replace('"lost"', '"L0st"'))));
  await assert.rejects(again.load(key, {}, context), { code: 'corrupt' });
  await assert.rejects(again.lease(key, { holder: 'one', ttl: 1e6 }, context), { code: 'corrupt' });
  assert.deepEqual(await again.readLog(app, {}, context), before);
});

test('where the event of a change was lost, the log begins behind it', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(key, 'c1', { app: { set: { a: 1 } } }), context);
  await store.commit(append(key, 'e1', { app: { set: { a: 2 } }, session: { set: { s: 'lost' } } }), context);
  await store.commit(update(ofApp, 'u1', { app: { set: { a: 3 } } }), context);
  await store.close();
  const again = await opened(journalStore(textMedium(medium.text.replace('"lost"', '"L0st"'))));
  assert.deepEqual(await again.readLog(app, {}, context), {
    pos: 3,
    base: 2,
    entries: [{ pos: 3, time: 3, writes: [{ name: 'a', from: 2, to: 3 }] }],
  });
});

test('a token goes not back when the log is read again after an error that leaves open what is kept', async () => {
  const { faults, store: make } = openRecords();
  const store = await opened(make());
  await store.commit(create(key, 'c1'), context);
  const ask = (holder, more = {}) => store.lease(key, { holder, ttl: 1e6, ...more }, context);
  assert.equal((await ask('one')).fence, 1);
  faults.persist = (added, records) => {
    records.push(...JSON.parse(JSON.stringify(added)));
    throw new Error('lost on the way');
  };
  await assert.rejects(store.commit(append(key, 'e1', {}, { guard: { fence: 1 } }), context), /lost on the way/);
  await assert.rejects(ask('two'), { code: 'held' });
  assert.equal((await store.commit(append(key, 'e1', {}, { guard: { fence: 1 } }), context)).duplicate, true);
  await ask('one', { ttl: 0, fence: 1 });
  assert.equal((await ask('two')).fence, 3);
  await assert.rejects(store.commit(append(key, 'e2', {}, { guard: { fence: 1 } }), context), { code: 'fenced' });
});

test('a lease is not given while a change that was checked before is on its way', async () => {
  const { faults, store: make } = openRecords();
  const store = await opened(make());
  await store.commit(create(key, 'c1'), context);
  await store.lease(key, { holder: 'one', ttl: 1 }, context);
  await new Promise((done) => setTimeout(done, 20));
  let go;
  const isWriting = new Promise((writing) => {
    faults.persist = () =>
      new Promise((done) => {
        go = done;
        writing();
      });
  });
  const order = [];
  const writing = store.commit(append(key, 'e1', {}, { guard: { fence: 1 } }), context).then(() => order.push('e1'));
  await isWriting;
  const leasing = store.lease(key, { holder: 'two', ttl: 1e6 }, context).then(() => order.push('two'));
  const late = store.commit(append(key, 'e2', {}, { guard: { fence: 1 } }), context);
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(order, []);
  go();
  await assert.rejects(late, { code: 'fenced', actual: 2 });
  await Promise.all([writing, leasing]);
  assert.deepEqual(order, ['e1', 'two']);
  assert.equal((await store.load(key, {}, context)).rev, 1);
});

test('a lease, or a log, of a journal that cannot be read is refused, and asked for again', async () => {
  let isThere = false;
  const store = callbackStore({
    persist: async () => undefined,
    restore: () => {
      if (!isThere) {
        throw new StoreError('unavailable', 'not there');
      }
      return [];
    },
  });
  await assert.rejects(store.lease(key, { holder: 'one', ttl: 1 }, context), { code: 'unavailable' });
  await assert.rejects(store.readLog(app, {}, context), { code: 'unavailable' });
  isThere = true;
  await assert.rejects(store.lease(key, { holder: 'one', ttl: 1 }, context), { code: 'not-found' });
  assert.deepEqual(await store.readLog(app, {}, context), { pos: 0, base: 0, entries: [] });
});

test('without a log the records are the same, and one that is opened with it has all of it', async () => {
  const without = openRecords({ log: false });
  const first = await opened(without.store());
  assert.deepEqual([first.readLog, first.trimLog, first.keeps.includes('log')], [undefined, undefined, false]);
  await first.commit(create(key, 'c1', { app: { set: { a: 1 } } }), context);
  await first.commit(append(key, 'e1', { app: { set: { a: 2 } } }), context);
  assert.deepEqual(Object.keys((await first.load(key, {}, context)).events[0]), ['rev', 'data', 'id']);
  await first.close();
  const again = await opened(callbackStore({ persist: async () => undefined, restore: () => without.records }));
  assert.equal((await again.readLog(app, {}, context)).entries.length, 2);
  assert.deepEqual((await again.load(key, {}, context)).events[0].pos, { app: 2, user: 0 });
  assert.throws(() => openRecords({ log: 1 }).store(), { code: 'INVALID_ARGUMENT', message: /options\.log/ });
  assert.throws(() => journalStore(textMedium(), { log: 1 }), { code: 'INVALID_ARGUMENT', message: /options\.log/ });
});
