// The indexes of the reference for sweeps: what they hold, and ends that move back as the clock does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { memoryStore } from 'statepad/stores/memory';
import { append, create, keyOf, update } from '../../support/changes.js';
import { source } from '../../support/source.mjs';
import { clockTest } from '../support/clock-test.js';
import { plain } from '../support/plain.js';

const { Expiring } = await source('stores/memory/expiring.ts');
const LATER = { at: 9_000_000_000_000 };

test('the index of ends has no more than two entries for each session that is there, whatever was removed', () => {
  const sessions = new Map();
  const expiring = new Expiring(({ sessionId }) => sessions.get(sessionId));
  const add = (id, expires) => {
    const session = { key: { sessionId: id }, expires };
    sessions.set(id, session);
    expiring.note(session);
    return session;
  };
  const remove = (session) => {
    sessions.delete(session.key.sessionId);
    expiring.removed(session);
  };
  const kept = Array.from({ length: 10 }, (_, index) => add(`kept ${index}`, 1_000 - index));
  for (let round = 0; round < 5_000; round++) {
    remove(add('same', 100 + round));
    remove(add(`other ${round}`, 10_000 - round));
    assert.ok(expiring.size <= 2 * kept.length + 2, `${expiring.size} entries in round ${round}`);
  }
  for (let expires = 900; expires > 100; expires--) {
    kept[0].expires = expires;
    expiring.note(kept[0]);
    assert.ok(
      expiring.size <= 2 * kept.length + 1,
      `${expiring.size} entries for an end that has moved to ${expires}`,
    );
  }
  const found = expiring.first(100, 1_000);
  assert.deepEqual(
    found.map(({ expires }) => expires),
    [101, 991, 992, 993, 994, 995, 996, 997, 998, 999],
  );
  assert.deepEqual(expiring.first(3, 1_000), found.slice(0, 3));
  [...kept].forEach(remove);
  assert.deepEqual([expiring.first(100, 20_000), expiring.size], [[], 0]);
});

/** Collects what nothing holds, and answers the bytes that are left. */
function heapUsed() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test('a session that was removed is not held until its end would have come', async () => {
  const store = plain(memoryStore());
  await store.commit({ ...create('kept', keyOf('kept')), expires: LATER });
  const before = heapUsed();
  for (let round = 0; round < 100; round++) {
    const key = keyOf(`s${round % 3}`);
    await store.commit({ ...create(`c${round}`, key), expires: LATER });
    const data = Buffer.alloc(1_000_000, `${round} `).toString('latin1');
    await store.commit(append(`e${round}`, key, {}, { data }));
    await store.remove(key);
  }
  const held = heapUsed() - before;
  assert.ok(held < 20_000_000, `${held} bytes are held`);
  assert.equal((await store.list({ app: 'app' })).total, 1);
});

clockTest('an end that moves back, as the clock was put back, is the one at which a sweep removes', async (go) => {
  const store = plain(memoryStore());
  await store.commit({ ...create('c', keyOf('s')), expires: { ttl: 10_000 } });
  go(-50_000);
  await store.commit(append('e', keyOf('s')));
  go(-40_001);
  assert.equal((await store.sweep({ limit: 9 })).sessions, 0);
  go(-40_000);
  assert.equal((await store.sweep({ limit: 9, dry: true })).sessions, 1);
  assert.equal((await store.sweep({ limit: 9 })).sessions, 1);
});

clockTest('users without sessions are swept in the order of the last changes to their values', async (go) => {
  const store = plain(memoryStore());
  const names = ['b', 'd', 'a', 'c'];
  const write = (userId, appName = 'app') =>
    store.commit(update(`${appName} ${userId} ${Date.now()}`, { appName, userId }, { user: { set: { u: 1 } } }));
  for (const [index, name] of [...names, 'busy', 'emptied'].entries()) {
    go(10 * index);
    await write(name, name === 'd' ? 'another' : 'app');
  }
  await store.commit(create('c', keyOf('s', 'busy')));
  await store.removeScope({ app: 'app', user: 'emptied' });
  go(100);
  await write('b');
  const left = async () => {
    const found = [];
    for (const name of names) {
      const { state } = await store.loadScope({ app: name === 'd' ? 'another' : 'app', user: name });
      found.push(...(Object.keys(state).length > 0 ? [name] : []));
    }
    return found;
  };
  const sweep = async (query) => {
    const { users } = await store.sweep({ userTtl: 50, ...query });
    return [users, await left()];
  };
  go(150);
  assert.deepEqual(await sweep({ limit: 1 }), [1, ['b', 'a', 'c']]);
  assert.deepEqual(await sweep({ limit: 1 }), [1, ['b', 'c']]);
  assert.deepEqual(await sweep({ limit: 9, userTtl: 51 }), [1, ['b']]);
  assert.deepEqual(await sweep({ limit: 9, userTtl: 51 }), [0, ['b']]);
  await store.remove(keyOf('s', 'busy'));
  assert.deepEqual(await sweep({ limit: 9 }), [2, []]);
});
