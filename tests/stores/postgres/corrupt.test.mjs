// The refusals of the store in Postgres for rows that cannot be read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { codeOf, context, create, keyOf, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool();
  /** A store with a session that begins with a delta. */
  const opened = async (delta) => {
    const schema = database.schema();
    const store = postgresStore(pool, { schema });
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', delta), context);
    return { schema, store };
  };

  test('a value that cannot be read makes its session corrupt, and no other', async () => {
    const { schema, store } = await opened({ session: { set: { s: [1] } } });
    await store.commit(create('c2', { session: { set: { s: [2] } } }, keyOf('s2')), context);
    const broken = async (text) => pool.query(`update ${schema}.state set value = $1 where value = '[1]'`, [text]);
    await broken('[1');
    const error = await store.load(keyOf(), {}, context).catch((error) => error);
    assert.equal(error.code, 'corrupt');
    assert.match(error.message, /"s" of session "s"/);
    assert.deepEqual((await store.load(keyOf('s2'), {}, context)).state.session.s, [2]);
    const page = await store.list({ app: 'a', descending: false }, context);
    assert.deepEqual([page.rows.map(({ key }) => key.sessionId), page.corrupt, page.total], [['s2'], [keyOf()], 2]);
  });

  test('so does a number that JavaScript cannot hold, which is told', async () => {
    const { schema, store } = await opened({ session: { set: { s: [1] } } });
    await pool.query(`update ${schema}.state set value = '[1, 9007199254740993]'`);
    const message =
      /the value of "s" of session "s" has the number 9007199254740993 at \[1\], which JavaScript cannot represent/;
    await assert.rejects(store.load(keyOf(), {}, context), { code: 'corrupt', message });
  });

  test('a value of a user that cannot be read makes the sessions of that user corrupt; one of the app, all', async () => {
    const { schema, store } = await opened({ user: { set: { u: 'user' } }, app: { set: { a: 'app' } } });
    await store.commit(create('c2', {}, keyOf('s2', 'other')), context);
    const spoil = (text) =>
      pool.query(`update ${schema}.state set value = 'spoilt' where value = $1`, [JSON.stringify(text)]);
    await spoil('user');
    const page = await store.list({ app: 'a', descending: false }, context);
    assert.deepEqual(
      [page.rows.map(({ key }) => key.sessionId), page.corrupt, [...page.users.keys()]],
      [['s2'], [keyOf()], ['other']],
    );
    assert.equal(await codeOf(store.load(keyOf(), {}, context)), 'corrupt');
    assert.equal(await codeOf(store.loadScope({ app: 'a', user: 'u' }, context)), 'corrupt');
    assert.equal((await store.loadScope({ app: 'a' }, context)).state.a, 'app');
    await spoil('app');
    assert.equal(await codeOf(store.list({ app: 'a', descending: false }, context)), 'corrupt');
    assert.equal(await codeOf(store.load(keyOf('s2', 'other'), {}, context)), 'corrupt');
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
      await checkCorruptPages({ part, open: () => postgresStore(pool, { schema }), damage: spoil });
    });
  }
});
