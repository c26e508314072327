// The tables of adk-python after a fault on the way to the server or in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { append, codeOf, context, create, keyOf, systemError, withDatabase } from '../postgres/database.mjs';
import { startProxy } from '../postgres/proxy.mjs';
import { schemaWithTables } from './tables.mjs';

/** A change of each kind whose second execution would be visible. */
const kinds = {
  create: create('c1', { app: { set: { a: 1 } } }, keyOf('new')),
  append: append('e1', { app: { set: { a: 1 } }, session: { set: { s: 1 } } }),
  update: {
    id: 'p1',
    kind: 'update',
    key: { appName: 'a', userId: 'u' },
    time: 1,
    delta: { user: { set: { a: 1 } } },
  },
};

/** A pool that calls `before` with the text of each statement, before it is sent. */
function watched(pool, before) {
  const watch = (client) => (text, values) => {
    before(typeof text === 'string' ? text : text.text);
    return client.query(text, values);
  };
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: watch(client),
      release: (isBroken) => client.release(isBroken),
      on: (...args) => client.on(...args),
      removeListener: (...args) => client.removeListener(...args),
    };
  };
  return { totalCount: 1, connect, query: watch(pool) };
}

await withDatabase(async (database) => {
  const pool = database.pool();

  /** A store whose connections go through a proxy, and what is in its tables. */
  const open = async (t, before = () => {}) => {
    const schema = await schemaWithTables(database, pool);
    const proxy = await startProxy(database.url);
    t.after(() => proxy.stop());
    const wire = database.pool({ connectionString: proxy.url, max: 3 });
    const client = watched(wire, (text) => before(text, proxy));
    const faulty = adkDatabaseStore(client, { schema });
    const store = adkDatabaseStore(pool, { schema });
    await store.commit(create('c'), context);
    await store.load(keyOf(), {}, context);
    await faulty.load(keyOf(), {}, context);
    return { schema, proxy, client, faulty, store };
  };
  /**
   * The number of times that rows were written: each write of app or user values makes another version of their row.
   */
  const writtenOf = async (schema) => {
    const { rows } = await pool.query(
      `select (select count(*)::int from ${schema}.sessions) as sessions,
        (select count(*)::int from ${schema}.events) as events,
        (select state from ${schema}.app_states) as app, (select state from ${schema}.user_states) as "user"`,
    );
    return rows[0];
  };
  const expected = {
    create: { sessions: 2, events: 0, app: { a: 1 }, user: {} },
    append: { sessions: 1, events: 1, app: { a: 1 }, user: {} },
    update: { sessions: 1, events: 0, app: {}, user: { a: 1 } },
  };
  const nothing = { sessions: 1, events: 0, app: {}, user: {} };

  for (const kind of ['create', 'update']) {
    test(`${kind}: what is asked after a lost commit is cut off, too: it is made once`, async (t) => {
      const cuts = { commit: 'asked', asked: 'told', told: 'over' };
      let step;
      const { schema, store, faulty } = await open(t, (text, proxy) => {
        const isNext = { commit: text === 'commit', asked: text.includes('txid_status'), told: true }[step];
        if (isNext && step !== 'asked') proxy.cut = 'answer';
        if (isNext) step = cuts[step];
      });
      step = 'commit';
      await assert.rejects(faulty.commit(kinds[kind], context), { name: 'CommitLost' });
      const delta = { user: { set: { a: 2 } } };
      await store.commit({ id: 'o', kind: 'update', key: { appName: 'a', userId: 'u' }, time: 1, delta }, context);
      await assert.rejects(faulty.commit(kinds[kind], context));
      assert.equal(step, 'over');
      assert.equal((await faulty.commit(kinds[kind], context)).duplicate, true);
      assert.deepEqual(await writtenOf(schema), { ...expected[kind], user: { a: 2 } });
    });

    const isFirst = (text) => text.startsWith('begin');
    const isLast = (text) => text === 'commit';
    for (const [when, isWhere, cut, isWritten] of [
      ['before it is sent', isFirst, 'query', false],
      ['while it is prepared', isFirst, 'answer', false],
      ['before it is committed', isLast, 'query', false],
      ['after it was committed', isLast, 'answer', true],
    ]) {
      test(`${kind}: a connection is cut ${when}: sent again, it is made once`, async (t) => {
        let isArmed = false;
        const { schema, store, faulty } = await open(t, (text, proxy) => {
          if (isArmed && isWhere(text)) {
            isArmed = false;
            proxy.cut = cut;
          }
        });
        isArmed = true;
        const code = await codeOf(faulty.commit(kinds[kind], context)).catch(({ name }) => name);
        // A change that was not to be committed yet is surely not written.
        assert.equal(code, isWhere === isFirst ? 'unavailable' : 'CommitLost');
        assert.deepEqual(await writtenOf(schema), isWritten ? expected[kind] : nothing);
        // Others write what a second one would write over.
        const delta = { app: { set: { a: 1, other: 1 } }, user: { set: { other: 1 } } };
        await store.commit({ id: 'o', kind: 'update', key: { appName: 'a', userId: 'u' }, time: 1, delta }, context);
        const { duplicate } = await faulty.commit(kinds[kind], context);
        assert.equal(duplicate, isWritten || undefined);
        const { sessions, user } = await writtenOf(schema);
        assert.deepEqual([sessions, user], [expected[kind].sessions, { ...expected[kind].user, other: 1 }]);
        if (kind === 'create') {
          assert.equal(await codeOf(faulty.commit({ ...kinds.create, id: 'c2' }, context)), 'exists');
        }
      });
    }

    test(`${kind}: a connection is lost that the server does not notice: what hangs is ended, and made once`, async (t) => {
      let [isArmed, ended] = [false, 0];
      const { schema, faulty, proxy } = await open(t, (text) => {
        ended += text.includes('pg_terminate_backend') ? 1 : 0;
        if (isArmed && text === 'commit') [isArmed, proxy.cut] = [false, 'query'];
      });
      [isArmed, proxy.isHalf] = [true, true];
      await assert.rejects(faulty.commit(kinds[kind], context), { name: 'CommitLost' });
      assert.deepEqual(await writtenOf(schema), nothing);
      assert.equal((await faulty.commit(kinds[kind], context)).duplicate, undefined);
      assert.deepEqual(await writtenOf(schema), expected[kind]);
      assert.ok(ended > 0, 'no transaction was ended');
    });
  }

  test('a try that comes while an earlier one is still under way is not made besides it', async () => {
    const schema = await schemaWithTables(database, pool);
    const begun = [];
    const client = watched(pool, (text) => text.startsWith('begin') && begun.push(text));
    const slow = {
      ...client,
      connect: async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return await client.connect();
      },
    };
    const store = adkDatabaseStore(slow, { schema });
    const [first, second] = [kinds.update, { ...kinds.update, attempt: 2 }].map((each) => store.commit(each, context));
    assert.deepEqual(await second, await first);
    assert.equal(begun.length, 1);
  });

  test('a server that has gone back to a time before a lost commit has not made it', async (t) => {
    let isArmed = true;
    const { schema, client, faulty } = await open(t, (text, proxy) => {
      if (isArmed && text === 'commit') [isArmed, proxy.cut] = [false, 'query'];
    });
    // The number that the transaction had is beyond all that the server has given.
    const { query } = client;
    client.query = (text, values) =>
      (text.text ?? text).includes('txid_status')
        ? pool.query('select txid_status(txid_current() + 1000000) as status')
        : query(text, values);
    await assert.rejects(faulty.commit(kinds.update, context), { name: 'CommitLost' });
    assert.equal((await faulty.commit(kinds.update, context)).duplicate, undefined);
    assert.deepEqual(await writtenOf(schema), expected.update);
  });

  test('what was committed without an answer, and then deleted, is not made again', async (t) => {
    let isArmed = true;
    const { schema, faulty, store } = await open(t, (text, proxy) => {
      if (isArmed && text === 'commit') [isArmed, proxy.cut] = [false, 'answer'];
    });
    await assert.rejects(faulty.commit(kinds.create, context), { name: 'CommitLost' });
    await store.remove(keyOf('new'), context);
    const { rev, prev, duplicate } = await faulty.commit(kinds.create, context);
    assert.deepEqual([rev, prev, duplicate], [0, 0, true]);
    assert.equal((await writtenOf(schema)).sessions, 1);
  });

  for (const [when, cut] of [
    ['before it gets to the server', 'query'],
    ['after the server has made it', 'answer'],
  ]) {
    test(`append: a connection is cut ${when}: sent again, it is made once`, async (t) => {
      const { schema, proxy, faulty } = await open(t);
      proxy.cut = cut;
      await assert.rejects(faulty.commit(kinds.append, context), ({ name }) => name !== 'StoreError');
      assert.deepEqual(await writtenOf(schema), cut === 'answer' ? expected.append : nothing);
      const { duplicate, rev } = await faulty.commit(kinds.append, context);
      assert.deepEqual([duplicate, rev], [cut === 'answer' || undefined, 1]);
      assert.deepEqual(await writtenOf(schema), expected.append);
      proxy.cut = 'answer';
      assert.equal(await codeOf(faulty.load(keyOf(), {}, context)), 'unavailable');
    });
  }

  test('a server that is not there is unavailable for all that is asked of it', async () => {
    const refused = systemError('ECONNREFUSED', 'connect');
    const fail = () => Promise.reject(refused);
    const store = adkDatabaseStore({ totalCount: 1, connect: fail, query: fail });
    for (const change of Object.values(kinds))
      assert.equal(await codeOf(store.commit(change, context)), 'unavailable');
    assert.equal(await codeOf(store.load(keyOf(), {}, context)), 'unavailable');
    assert.equal(await codeOf(store.remove(keyOf(), context)), 'unavailable');
  });

  test('a deadlock is surely not written, and the service tries again', async (t) => {
    let isArmed = false;
    const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    const { client, schema } = await open(t, (text) => {
      if (isArmed && text.startsWith('select set_config')) {
        isArmed = false;
        throw deadlock;
      }
    });
    const service = new SessionService({ store: adkDatabaseStore(client, { schema }) });
    t.after(() => service.close());
    const session = await service.getSession(keyOf());
    isArmed = true;
    await service.appendEvent({ session, event: { id: 'e1', author: 'user' } });
    assert.equal(isArmed, false);
    assert.equal((await writtenOf(schema)).events, 1);
  });

  test('a service loses nothing and makes nothing twice while every tenth message is cut off', async (t) => {
    let [count, isArmed] = [0, false];
    const { client, schema } = await open(t, (_text, proxy) => {
      count += 1;
      if (isArmed && count % 10 === 0) proxy.cut = count % 20 === 0 ? 'query' : 'answer';
    });
    const retry = { attempts: 50, pause: 5 };
    const service = new SessionService({ store: adkDatabaseStore(client, { schema }), retry });
    t.after(() => service.close());
    await service.getSession(keyOf());
    isArmed = true;
    const sessions = await Promise.all(
      Array.from({ length: 10 }, (_, index) => service.createSession({ ...keyOf(`s${index}`), state: { n: 0 } })),
    );
    await Promise.all(
      sessions.map(async (session) => {
        for (let turn = 0; turn < 10; turn++) {
          await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { n: turn } } } });
          await service.updateState({ appName: 'a', userId: 'u' }, (state) => ({
            'user:n': (state['user:n'] ?? 0) + 1,
          }));
        }
      }),
    );
    isArmed = false;
    t.diagnostic(`${Math.floor(count / 10)} of ${count} messages were cut off`);
    assert.ok(count > 200);
    const { sessions: made, events, user } = await writtenOf(schema);
    assert.deepEqual([made, events, user], [11, 100, { n: 100 }]);
  });
});
