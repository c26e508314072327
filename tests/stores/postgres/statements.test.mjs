// The functions that write changes answer alike: the one for a batch of events, and the one that takes every change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { assertVaried, compareStores } from '../support/random.js';
import { storeTests } from '../support/run.mjs';
import { append, context, create, keyOf, withDatabase } from './database.mjs';

/** A store that commits each change in a batch with an event of a session that is not there. */
function batching(store) {
  let count = 0;
  const commitMany = async (changes, context) => {
    const filler = append(`filler ${(count += 1)}`, {}, keyOf('no such session', '', 'no such app'));
    const [refused, ...answers] = await store.commitMany([filler, ...changes], context);
    assert.equal(refused.code, 'not-found');
    return answers;
  };
  const commit = async (change, context) => {
    const [answer] = await commitMany([change], context);
    if (answer.name === 'StoreError') throw answer;
    return answer;
  };
  return Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(store),
      commit: { value: commit, enumerable: true },
      commitMany: { value: commitMany, enumerable: true },
    },
  );
}

await withDatabase(async (database) => {
  // Nothing here depends on what is on disk.
  const pool = database.pool({ options: '-c synchronous_commit=off' });
  const other = database.pool({ options: '-c synchronous_commit=off' });
  /** Storage for each case in turn, and the statements that went there. */
  const storage = async (wrap) => {
    const schema = database.schema();
    const make = (client) => wrap(postgresStore(client, { schema }));
    await make(pool).open({ migrate: 'create' }, context);
    const tables = [
      ...['scopes', 'sessions', 'events', 'state', 'moves', 'counts', 'updates', 'creations', 'refused'],
      'claims',
    ];
    const dispose = () => pool.query(`truncate ${tables.map((table) => `${schema}.${table}`).join()}`);
    return () => ({ store: make(pool), reopen: () => make(pool), another: () => make(other), dispose });
  };
  storeTests('postgres, each change in a batch', await storage(batching), { without: ['watch'] });

  test('several events go to the function for them, and all else to the one for every change', async () => {
    const schema = database.schema();
    const called = [];
    const client = {
      query: async (text, values) => (called.push(/"\.(\w+)\(/.exec(text)?.[1]), await pool.query(text, values)),
    };
    const store = postgresStore(client, { schema });
    await store.open({ migrate: 'create' }, context);
    await store.commitMany([create('c'), create('d', {}, keyOf('t'))], context);
    const both = (delta, more) => [append('e', delta, keyOf(), more), append('e', delta, keyOf('t'))];
    const set = { set: { x: 1 } };
    for (const [changes, name] of [
      [[append('a')], 'commit'],
      [both({}, { guard: { fence: 0 } }), 'append_many'],
      [both({}, { operators: { app: { n: { increment: 1 } } } }), 'commit'],
      [
        both({ app: set, user: set, session: { set: { x: 1 }, unset: ['y'] } }, { guard: { created: 'c' } }),
        'append_many',
      ],
      [both({ app: { unset: ['x'] } }), 'commit'],
      [[...both(), create('f', {}, keyOf('f'))], 'commit'],
      [both({}, { attempt: 2 }), 'commit'],
      [both({}, { guard: { pos: { app: 1 } } }), 'commit'],
      [both({}, { guard: { keys: { app: set } } }), 'commit'],
      [both({}, { reservation: '1:1' }), 'commit'],
    ]) {
      called.length = 0;
      await store.commitMany(changes, context);
      assert.deepEqual(called, [name], JSON.stringify(changes));
    }
  });

  for (const seed of [1, 2, 3]) {
    test(`random batches of events are answered as the reference answers them: ${seed}`, async () => {
      const schema = database.schema();
      const called = { append_many: 0, commit: 0 };
      const client = {
        query: async (text, values) => {
          called[/"\.(\w+)\(/.exec(text)?.[1]] += 1;
          return await pool.query(text, values);
        },
      };
      const store = postgresStore(client, { schema });
      await store.open({ migrate: 'create' }, context);
      const often = { duplicate: 15, 'not-found': 15, conflict: 15, fenced: 15, changed: 15, results: 15 };
      assertVaried(await compareStores(store, { seed, length: 1_500 }), { ...often, rejected: 3 });
      assertVaried(called, { append_many: 50, commit: 100 });
    });
  }
});
