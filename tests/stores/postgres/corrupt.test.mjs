// The refusals of the store in Postgres for rows that cannot be read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { codeOf, create, keyOf, openedStore, storeOver, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool();
  /** A store with a session that begins with a delta. */
  const opened = async (delta) => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    await store.commit(create('c', delta));
    return { schema, store };
  };

  test('a value that cannot be read makes its session corrupt, and no other', async () => {
    const { schema, store } = await opened({ session: { set: { s: [1] } } });
    await store.commit(create('c2', { session: { set: { s: [2] } } }, keyOf('s2')));
    const broken = async (text) => pool.query(`update ${schema}.state set value = $1 where value = '[1]'`, [text]);
    await broken('[1');
    const error = await store.load(keyOf(), {}).catch((error) => error);
    assert.equal(error.code, 'corrupt');
    assert.match(error.message, /"s" of session "s"/);
    assert.deepEqual((await store.load(keyOf('s2'), {})).state.session.s, [2]);
    const page = await store.list({ app: 'a', descending: false });
    assert.deepEqual([page.rows.map(({ key }) => key.sessionId), page.corrupt, page.total], [['s2'], [keyOf()], 2]);
  });

  test('so does a number that JavaScript cannot hold, which is told', async () => {
    const { schema, store } = await opened({ session: { set: { s: [1] } } });
    await pool.query(`update ${schema}.state set value = '[1, 9007199254740993]'`);
    const message =
      /the value of "s" of session "s" has the number 9007199254740993 at \[1\], which JavaScript cannot represent/;
    await assert.rejects(store.load(keyOf(), {}), { code: 'corrupt', message });
  });

  test('a value of a user that cannot be read makes the sessions of that user corrupt; one of the app, all', async () => {
    const { schema, store } = await opened({ user: { set: { u: 'user' } }, app: { set: { a: 'app' } } });
    await store.commit(create('c2', {}, keyOf('s2', 'other')));
    const spoil = (text) =>
      pool.query(`update ${schema}.state set value = 'spoilt' where value = $1`, [JSON.stringify(text)]);
    await spoil('user');
    const page = await store.list({ app: 'a', descending: false });
    assert.deepEqual(
      [page.rows.map(({ key }) => key.sessionId), page.corrupt, [...page.users.keys()]],
      [['s2'], [keyOf()], ['other']],
    );
    assert.equal(await codeOf(store.load(keyOf(), {})), 'corrupt');
    assert.equal(await codeOf(store.loadScope({ app: 'a', user: 'u' })), 'corrupt');
    assert.equal((await store.loadScope({ app: 'a' })).state.a, 'app');
    await spoil('app');
    assert.equal(await codeOf(store.list({ app: 'a', descending: false })), 'corrupt');
    assert.equal(await codeOf(store.load(keyOf('s2', 'other'), {})), 'corrupt');
  });

  for (const [part, member] of [
    ['session', 'sessionId'],
    ['user', 'userId'],
  ]) {
    test(`a list is followed past sessions that are corrupt with their ${part}`, async () => {
      const schema = database.schema();
      const spoil = (keys) =>
        pool.query(`update ${schema}.state set value = '{' where value = any($1)`, [
          keys.map((key) => JSON.stringify(key[member])),
        ]);
      await checkCorruptPages({ part, open: () => storeOver(pool, { schema }), damage: spoil });
    });
  }
});
