// Logs, leases and operators of encrypted stores: what the inner store has of them, and what of it is believed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { append, context, create, data, home, instead, isSealed, key, keys, overMemory, update } from './support.mjs';
import { isCorrupt, ways } from './tampered.mjs';

/** An encrypted store with three entries in the log of its app, and its inner store. */
async function written(options, replaced = {}) {
  const inner = memoryStore();
  const store = encryptedStore(instead(inner, replaced), options);
  await store.commit(create('c', { app: { set: { secret: 'one', other: 'x' } } }), context);
  await store.commit(append('e1', { app: { set: { secret: { text: 'two' } } } }), context);
  await store.commit(update('u1', { app: { unset: ['secret'] } }, { key: { appName: 'app' } }), context);
  return { inner, store };
}

for (const [way, options] of ways) {
  test(`${way}: the inner store has a log of encrypted values, which is read as it was written`, async () => {
    const { inner, store } = await written(options);
    const { entries, ...rest } = await store.readLog(home, { name: 'secret' }, context);
    assert.deepEqual(rest, { pos: 3, base: 0 });
    assert.deepEqual(entries, [
      { pos: 1, time: 1, by: { userId: 'ana', sessionId: 's1' }, writes: [{ name: 'secret', to: 'one' }] },
      {
        pos: 2,
        time: 2,
        by: { userId: 'ana', sessionId: 's1', eventId: 'e1' },
        writes: [{ name: 'secret', from: 'one', to: { text: 'two' } }],
      },
      { pos: 3, time: 3, writes: [{ name: 'secret', from: { text: 'two' } }] },
    ]);
    const stored = (await inner.readLog(home, {}, context)).entries.flatMap(({ writes }) => writes);
    assert.equal(stored.length, 4);
    assert.ok(stored.every(({ from, to }) => [from, to].every((value) => value === undefined || isSealed(value))));
    assert.equal(
      stored.some(({ name }) => name === 'secret'),
      options.nameKey === undefined,
    );
    assert.equal(await store.trimLog(home, 2, context), 2);
    assert.equal((await store.readLog(home, {}, context)).base, 2);
  });

  test(`${way}: a log with a value of another name, or of another scope, or with none, is corrupt`, async () => {
    let forge = (write) => write;
    const readLog = async (method, ...args) => {
      const log = await method(...args);
      return { ...log, entries: log.entries.map((entry) => ({ ...entry, writes: entry.writes.map(forge) })) };
    };
    const { inner, store } = await written(options, { readLog });
    await store.commit(update('u2', { user: { set: { secret: 'of the user' } } }), context);
    const [{ writes }] = (await inner.readLog(home, {}, context)).entries;
    const user = { app: 'app', user: 'ana' };
    const [ofUser] = (await inner.readLog(user, {}, context)).entries[0].writes;
    assert.equal((await store.readLog(home, {}, context)).entries.length, 3);
    for (forge of [
      (write) => ({ ...write, to: 'plain' }),
      (write) => ({ ...write, from: 'plain' }),
      ({ name }) => ({ name }),
      (write) => ({ ...write, to: `${writes[0].to}x` }),
      ({ name }, index) => ({ name, to: writes[(index + 1) % 2].to }),
      ({ name }) => ({ name, to: ofUser.to }),
    ]) {
      await isCorrupt(store.readLog(home, {}, context), String(forge));
    }
  });
}

test('what operators came to is not believed beside an encrypted event, and is beside one in plain text', async () => {
  const results = { session: { n: 7 } };
  const forging = {
    load: async (method, ...args) => {
      const loaded = await method(...args);
      return { ...loaded, events: loaded.events.map((event) => ({ ...event, results })) };
    },
    commit: async (method, ...args) => {
      const committed = await method(...args);
      return committed.duplicate ? { ...committed, results } : committed;
    },
  };
  const inner = memoryStore();
  const { store } = overMemory({}, inner);
  const { store: forged } = overMemory({ plaintext: 'read' }, instead(inner, forging));
  await store.commit(create('c'), context);
  await store.commit(append('e1'), context);
  await isCorrupt(forged.load(key, {}, context), 'an event');
  await isCorrupt(forged.commit(append('e1'), context), 'a duplicate');
  const plain = memoryStore();
  await plain.commit(create('c'), context);
  await plain.commit({ ...append('e1'), operators: { session: { n: { increment: 7 } } } }, context);
  const { store: reading } = overMemory({ plaintext: 'read' }, plain);
  const { events } = await reading.load(key, {}, context);
  const wanted = [{ rev: 1, data: data('e1'), id: 'e1', results, pos: { app: 0, user: 0 } }];
  assert.deepEqual(JSON.parse(JSON.stringify(events)), wanted);
  const again = await reading.commit(append('e1'), context);
  assert.deepEqual({ ...again.results.session }, results.session);
  await isCorrupt(overMemory({}, plain).store.load(key, {}, context), 'plain text');
});

test('a store over one without leases and a log has none, and none resolves operators', () => {
  const { lease, readLog, trimLog, ...inner } = memoryStore({ log: false });
  const bare = encryptedStore(inner, { keys });
  assert.deepEqual(
    [bare.lease, bare.readLog, bare.trimLog, bare.resolves],
    [undefined, undefined, undefined, undefined],
  );
  assert.ok(!bare.keeps.includes('log'));
  assert.deepEqual([typeof lease, readLog, trimLog], ['function', undefined, undefined]);
  const whole = encryptedStore(memoryStore(), { keys });
  assert.deepEqual([whole.resolves, whole.keeps.includes('log')], [undefined, true]);
});
