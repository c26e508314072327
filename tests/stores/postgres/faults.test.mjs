// The content of the store in Postgres after a fault on the way to the server or in it.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, systemError, withDatabase } from './database.mjs';
import { startProxy } from './proxy.mjs';

await withDatabase((database) => {
  const pool = database.pool();
  const openStore = async (client = pool, options = {}) => {
    const store = postgresStore(client, { schema: database.schema(), ...options });
    await store.open({ migrate: 'create' }, context);
    return store;
  };
  const opened = async (client, delta) => {
    const schema = database.schema();
    const store = await openStore(pool, { schema });
    await store.commit(create('c', delta), context);
    return { schema, store, faulty: postgresStore(client, { schema }) };
  };
  const once = async (store, ids) => {
    const { rev, events } = await store.load(keyOf(), {}, context);
    assert.deepEqual(
      events.map(({ data }) => JSON.parse(data).id),
      ids,
    );
    assert.equal(rev, ids.length);
  };
  const change = append('e1', { app: { set: { a: 1 } }, session: { set: { s: 1 } } });

  test('ids and names that are as long as may be are written and found', async () => {
    const random = (length) => Array.from({ length }, () => String.fromCharCode(97 + Math.random() * 26)).join('');
    const [app, user, session, id, name] = Array.from({ length: 5 }, () => random(2_600));
    const store = await openStore();
    const key = keyOf(session, user, app);
    const delta = { app: { set: { [name]: 1 } }, user: { set: { [name]: 2 } }, session: { set: { [name]: 3 } } };
    await store.commit(create('c', {}, key), context);
    await store.commit(append(id, delta, key), context);
    await store.commit({ id, kind: 'update', key: { appName: app, userId: user }, time: 1, delta }, context);
    assert.equal((await store.load(key, {}, context)).state.user[name], 2);
    assert.equal((await store.commit(append(id, delta, key), context)).duplicate, true);
    assert.equal((await store.list({ app, user, descending: true }, context)).rows.length, 1);
    assert.equal(await store.load(keyOf(`${session}x`, user, app), {}, context), null);
  });

  test('a change that Postgres cannot read does not keep the others of its batch from being written', async () => {
    const store = await openStore();
    const lone = 'half \ud83d of a character';
    const answers = await store.commitMany(
      [create('c1', {}, keyOf('1')), create('c2', {}, keyOf(lone)), create('c3', {}, keyOf('3'))],
      context,
    );
    assert.deepEqual(
      answers.map(({ code, rev }) => code ?? rev),
      [0, 'rejected', 0],
    );
    assert.equal((await store.list({ app: 'a', descending: false }, context)).total, 2);
  });

  test('what fails before it is sent is not written; sent again it is, once', async () => {
    let isBroken = true;
    const refused = systemError('ECONNREFUSED', 'connect');
    const client = { query: async (...args) => (isBroken ? Promise.reject(refused) : pool.query(...args)) };
    const { store, faulty } = await opened(client);
    assert.equal(await codeOf(faulty.commit(change, context)), 'unavailable');
    await once(store, []);
    isBroken = false;
    assert.equal((await faulty.commit(change, context)).duplicate, undefined);
    await once(store, ['e1']);
  });

  test('what fails after it was sent may be written: sent again it is known', async () => {
    const lost = new Error('Connection terminated unexpectedly');
    let isBroken = true;
    const client = {
      query: async (...args) => {
        const answer = await pool.query(...args);
        if (isBroken) throw lost;
        return answer;
      },
    };
    const { store, faulty } = await opened(client);
    await assert.rejects(faulty.commit(change, context), lost);
    isBroken = false;
    const { duplicate, rev, data } = await faulty.commit(change, context);
    assert.deepEqual([duplicate, rev, data], [true, 1, change.event.data]);
    await once(store, ['e1']);
    assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 1);
  });

  for (const [when, isWritten] of [
    ['before it gets to the server', false],
    ['after the server has made it', true],
  ]) {
    test(`a connection is cut ${when}: sent again, the change is stored once`, async () => {
      const proxy = await startProxy(database.url);
      try {
        const wire = database.pool({ connectionString: proxy.url, max: 1 });
        const { store, faulty } = await opened(wire);
        await faulty.load(keyOf(), {}, context);
        proxy.cut = isWritten ? 'answer' : 'query';
        await assert.rejects(faulty.commit(change, context), ({ name }) => name !== 'StoreError');
        assert.equal(proxy.cut, undefined);
        assert.equal((await store.load(keyOf(), {}, context)).rev, isWritten ? 1 : 0);
        assert.equal((await faulty.commit(change, context)).duplicate, isWritten || undefined);
        await once(store, ['e1']);
        // A read that is cut changes nothing: it is simply made again.
        proxy.cut = 'answer';
        assert.equal(await codeOf(faulty.load(keyOf(), {}, context)), 'unavailable');
        assert.equal((await faulty.load(keyOf(), {}, context)).rev, 1);
      } finally {
        await proxy.stop();
      }
    });
  }

  /** Holds what a statement locks while `during` runs, which gets the connection. */
  const holding = async (statement, during) => {
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query(statement);
      await during(holder);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  };
  /** The connection that waits for the locks of another one, as soon as one does. */
  const waiting = async (holder) => {
    const {
      rows: [{ pid }],
    } = await holder.query('select pg_backend_pid() as pid');
    for (;;) {
      const { rows } = await pool.query('select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [
        pid,
      ]);
      if (rows.length > 0) return rows[0].pid;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test('a server process that is ended during a commit leaves nothing of it, and says nothing for sure', async () => {
    const { schema, store, faulty } = await opened(database.pool());
    await holding(`select from ${schema}.scopes for update`, async (holder) => {
      const commit = faulty.commit(change, context).catch((error) => error);
      await pool.query('select pg_terminate_backend($1)', [await waiting(holder)]);
      const error = await commit;
      assert.notEqual(error.name, 'StoreError');
      assert.equal(error.code, '57P01');
    });
    await once(store, []);
    await faulty.commit(change, context);
    await once(store, ['e1']);
  });

  for (const option of ['statement_timeout', 'lock_timeout']) {
    test(`a commit that ${option} ends is not written`, async () => {
      const { schema, store, faulty } = await opened(database.pool({ [option]: 100 }));
      await holding(`select from ${schema}.sessions for update`, async () => {
        assert.equal(await codeOf(faulty.commit(change, context)), 'unavailable');
      });
      await once(store, []);
      assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 0);
      await store.commit(change, context);
      await once(store, ['e1']);
    });
  }

  test('a commit that ends a deadlock with somebody else is not written, no part of it', async () => {
    const { schema, store } = await opened(pool);
    await store.commit(create('c2', {}, keyOf('s2')), context);
    await holding(
      `set local deadlock_timeout = '1min'; select from ${schema}.sessions where id = 's2' for update`,
      async (holder) => {
        const commit = codeOf(store.commitMany([change, append('e2', {}, keyOf('s2'))], context));
        await waiting(holder);
        await holder.query(`select from ${schema}.sessions where id = 's' for update`);
        assert.equal(await commit, 'unavailable');
      },
    );
    await once(store, []);
    await store.commitMany([change, append('e2', {}, keyOf('s2'))], context);
    await once(store, ['e1']);
  });

  test('a pool that has no connection to give in time, or nobody answers, has not written', async () => {
    const busy = database.pool({ max: 1 });
    const { faulty, store } = await opened(busy);
    const client = await busy.connect();
    busy.options.connectionTimeoutMillis = 50;
    assert.equal(await codeOf(faulty.commit(change, context)), 'unavailable');
    client.release();
    const port = await new Promise((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
      });
    });
    const nobody = database.pool({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    assert.equal(await codeOf(postgresStore(nobody).commit(change, context)), 'unavailable');
    await once(store, []);
  });

  test('closing the store leaves the client open', async () => {
    const store = await openStore();
    await store.close();
    assert.deepEqual((await pool.query('select 1 as one')).rows, [{ one: 1 }]);
  });
});
