// Journals and sessions that expire: what is in the records, what compacting leaves, and writes beside a sweep.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { callbackStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, update } from './support.mjs';
import { key, place } from './files.mjs';
import { NOW, clockTest } from '../support/clock-test.js';

const DAY = 24 * 60 * 60 * 1_000;
const other = { ...key, sessionId: 'other' };

/** A log that is kept in an array, and stores over it. `persist` may wait. */
function keptLog(before = async () => undefined) {
  const log = [];
  const open = () =>
    opened(
      callbackStore({
        persist: async (records) => {
          await before(records);
          log.push(...records.map((record) => JSON.stringify(record)));
        },
        restore: () => log.map((text) => JSON.parse(text)),
      }),
    );
  return { log, open };
}

const kindsOf = (log) => log.map((text) => JSON.parse(text).kind);

clockTest(
  'a session that had expired when its log is read again is gone, and was there for all its records',
  async (go) => {
    const { open } = keptLog();
    const store = await open();
    await store.commit(create(key, 'c', { session: { set: { s: 1 } } }, { expires: { ttl: 100 } }), context);
    go(90);
    assert.equal((await store.commit(append(key, 'e'), context)).expires, NOW + 190);
    go(180);
    assert.deepEqual((await loaded(await open(), key)).expires, NOW + 190);
    go(190);
    const again = await open();
    assert.equal(await loaded(again, key), null);
    assert.equal((await again.commit(create(key, 'c', {}), context)).duplicate, true);
    assert.equal((await again.commit(create(key, 'd', {}), context)).expires, undefined);
    assert.equal((await loaded(await open(), key)).created, 'd');
  },
);

clockTest('what has expired is swept as soon as its log is read again, however late that is', async (go) => {
  const { open } = keptLog();
  const store = await open();
  await store.commit(create(key, 'c', {}, { expires: { ttl: DAY } }), context);
  await store.commit(create(other, 'd', {}, { expires: { ttl: 2 * DAY } }), context);
  go(DAY);
  const again = await open();
  assert.deepEqual(await again.sweep({ limit: 9 }, context), { sessions: 1, users: 0, more: false });
  assert.equal((await loaded(again, other)).created, 'd');
});

clockTest('a creation under the key of what has expired is written behind the removal of that', async () => {
  const { log, open } = keptLog();
  const store = await open();
  await store.commit(create(key, 'c', {}, { digest: 'one', expires: { at: NOW } }), context);
  await store.commit(create(key, 'd', {}), context);
  assert.deepEqual(kindsOf(log), ['version', 'create', 'remove', 'create']);
  const { guard, digest } = JSON.parse(log[2]);
  assert.deepEqual([guard.created, guard.rev, digest], ['c', 0, 'one']);
  const again = await open();
  assert.equal((await again.commit(create(key, 'c', {}), context)).digest, 'one');
  assert.equal((await loaded(again, key)).created, 'd');
});

clockTest('what has expired is taken out of the log when its caller removes it', async () => {
  const { log, open } = keptLog();
  const store = await open();
  await store.commit(create(key, 'c', {}, { expires: { at: NOW } }), context);
  await store.remove(key, context, { created: 'other' });
  await store.remove(key, context, { created: 'c', fence: 7 });
  await store.remove(key, context);
  assert.deepEqual(kindsOf(log), ['version', 'create', 'remove']);
});

clockTest('compacting takes out what has expired, and keeps what it has written elsewhere', async (go) => {
  const { path, open } = place();
  const store = await open();
  const secret = { session: { set: { s: 'secret' } }, app: { set: { a: 1 } }, user: { set: { u: 1 } } };
  await store.commit(create(key, 'c', secret, { digest: 'one', expires: { ttl: 100 } }), context);
  await store.commit(append(key, 'e', { session: { set: { s: 'secret 2' } }, app: { set: { a: 2 } } }), context);
  await store.commit(create(other, 'd', { session: { set: { s: 'kept' } } }, { expires: { ttl: 1_000 } }), context);
  await store.close();
  go(99);
  await (await open({ compact: true })).close();
  assert.ok(readFileSync(path, 'utf8').includes('secret'));
  go(100);
  const compact = await open({ compact: true });
  const text = readFileSync(path, 'utf8');
  assert.ok(!text.includes('secret') && text.includes('kept'));
  assert.deepEqual(
    [(await compact.loadScope({ app: 'app' }, context)).state, await loaded(compact, key)],
    [Object.assign(Object.create(null), { a: 2 }), null],
  );
  assert.deepEqual(await compact.sweep({ limit: 10 }, context), { sessions: 0, users: 0, more: false });
  const again = await compact.commit(create(key, 'c', {}), context);
  assert.deepEqual([again.duplicate, again.digest], [true, 'one']);
  assert.equal((await compact.commit(append(other, 'e'), context)).expires, NOW + 1_100);
  await compact.close();
  go(2 * DAY);
  const later = await open({ compact: true });
  assert.equal((await later.commit(create(key, 'c', {}), context)).duplicate, undefined);
  await later.close();
});

clockTest('a session that lives on under the key of one that expired is not compacted', async (go) => {
  const { open } = place();
  const store = await open();
  await store.commit(create(key, 'c', {}, { expires: { ttl: 1 } }), context);
  go(1);
  await store.commit(create(key, 'd', { session: { set: { s: 1 } } }), context);
  await store.commit(append(key, 'e'), context);
  await store.close();
  const compact = await open({ compact: true });
  const { created, rev, state } = await loaded(compact, key);
  assert.deepEqual([created, rev, { ...state.session }], ['d', 1, { s: 1 }]);
  await compact.close();
});

clockTest('a session that is written to while it is swept stays, and a sweep says so', async (go) => {
  let [reached, release] = [];
  const isReached = new Promise((resolve) => (reached = resolve));
  const { log, open } = keptLog(async (records) => {
    if (records.some(({ id }) => id === 'slow')) {
      reached();
      await new Promise((resolve) => (release = resolve));
    }
  });
  const store = await open();
  await store.commit(create(key, 'c', {}, { expires: { ttl: 100 } }), context);
  await store.commit(create(other, 'd', {}, { expires: { ttl: 100 } }), context);
  go(99);
  const written = store.commit(append(key, 'slow'), context);
  await isReached;
  go(100);
  const swept = store.sweep({ limit: 10 }, context);
  release();
  assert.equal((await written).expires, NOW + 199);
  assert.deepEqual(await swept, { sessions: 1, users: 0, more: false });
  assert.equal((await loaded(store, key)).rev, 1);
  assert.equal(kindsOf(log).filter((kind) => kind === 'remove').length, 1);
});

clockTest('the age of the values of a user outlives the process, and is not that of their events', async (go) => {
  const { log, open } = keptLog();
  const store = await open();
  await store.commit(update({ appName: 'app', userId: 'user' }, 'u', { user: { set: { u: 1 } } }), context);
  go(1_000);
  const again = await open();
  assert.deepEqual(await again.sweep({ limit: 10, userTtl: 1_001 }, context), { sessions: 0, users: 0, more: false });
  assert.deepEqual(await again.sweep({ limit: 10, userTtl: 1_000 }, context), { sessions: 0, users: 1, more: false });
  // A record of a build or a service that notes no time is as old as its reading.
  const untimed = log.slice(0, 2).map((text) => JSON.stringify({ ...JSON.parse(text), written: undefined }));
  const restored = await opened(callbackStore({ persist: async () => {}, restore: () => untimed.map(JSON.parse) }));
  assert.deepEqual(await restored.sweep({ limit: 10, userTtl: 1 }, context), { sessions: 0, users: 0, more: false });
});

clockTest('a record whose end cannot be read makes its session corrupt, and no other', async () => {
  for (const damage of [
    { ends: 'x' },
    { ends: undefined },
    { expires: { ttl: 'x' } },
    { expires: { ttl: 1, at: 1 } },
  ]) {
    const { log, open } = keptLog();
    const store = await open();
    await store.commit(create(key, 'c', {}, { expires: { ttl: 100 } }), context);
    await store.commit(create(other, 'd', {}, { expires: { ttl: 100 } }), context);
    log[1] = JSON.stringify({ ...JSON.parse(log[1]), ...damage });
    const again = await open();
    assert.equal(await loaded(again, key), 'corrupt', JSON.stringify(damage));
    assert.equal((await loaded(again, other)).expires, NOW + 100);
  }
});

clockTest('changes of one batch that might exceed a limit together do not, and others go together', async () => {
  const batches = [];
  const { open } = keptLog(async (records) => void batches.push(records.length));
  const store = await open();
  const home = { appName: 'app' };
  const commits = (limits) =>
    store.commitMany(
      [1, 2, 3, 4].map((n) =>
        update(home, `${JSON.stringify(limits)} ${n}`, { app: { set: { [n]: n } } }, { limits }),
      ),
      context,
    );
  await commits({ keys: 4, state: 8 });
  // They, and the record of the version.
  assert.deepEqual(batches.splice(0), [5]);
  const codes = (await commits({ keys: 3 })).map(({ code }) => code);
  assert.deepEqual(codes, [undefined, undefined, undefined, undefined], 'they are there already');
  const more = await store.commitMany(
    [5, 6, 7].map((n) => update(home, `more ${n}`, { app: { set: { [n]: n } } }, { limits: { keys: 6 } })),
    context,
  );
  assert.deepEqual(
    more.map(({ code, exceeded, size }) => [code, exceeded, size]),
    [
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
      ['limit', 'keys', 7],
    ],
  );
});
