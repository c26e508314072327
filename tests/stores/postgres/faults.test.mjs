// What the store in Postgres says, and has, when something goes wrong.

import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { append, codeOf, context, create, keyOf, withDatabase } from './database.mjs';

const failing = (error) => ({ query: async () => Promise.reject(error) });
const sqlError = (code, message = `a message for ${code}`) =>
  Object.assign(new Error(message), { code, severity: 'ERROR' });
const systemError = (code, syscall) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

/** What comes of a commit, and of a load, when the client fails. */
async function outcomes(error) {
  const store = postgresStore(failing(error));
  const [commit, load] = [store.commit(create(), context), store.load(keyOf(), {}, context)];
  return [await commit.catch((error) => error), await load.catch((error) => error)];
}

/** What is known to be undone, or not begun. The disk is full at 53100. */
const undone = [
  '40P01',
  '40001',
  '55P03',
  '57014',
  '53100',
  '53200',
  '53300',
  '53400',
  '57P03',
  '57P05',
  '25006',
  '28P01',
  '3D000',
];

for (const error of [
  ...undone.map((code) => sqlError(code)),
  systemError('ECONNREFUSED', 'connect'),
  systemError('ETIMEDOUT', 'connect'),
  systemError('ENOTFOUND', 'getaddrinfo'),
  new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('EHOSTUNREACH', 'connect')]),
  new Error('timeout exceeded when trying to connect'),
  new Error('timeout expired'),
  new Error('Connection terminated due to connection timeout'),
  new Error('Cannot use a pool after calling end on the pool'),
  new Error('Client has encountered a connection error and is not queryable'),
  new Error('Client was closed and is not queryable'),
]) {
  test(`nothing is written, and another try may do: ${error.message || error.errors[0].message}`, async () => {
    for (const thrown of await outcomes(error)) {
      assert.equal(thrown.name, 'StoreError');
      assert.equal(thrown.code, 'unavailable');
      assert.equal(thrown.cause, error);
    }
  });
}

for (const code of ['54000', '54001', '22P05', '22021', '42501', '42883', '3F000']) {
  test(`nothing is written, and never will be: ${code}`, async () => {
    for (const thrown of await outcomes(sqlError(code))) {
      assert.equal(thrown.name, 'StoreError');
      assert.equal(thrown.code, 'rejected');
    }
  });
}

for (const error of [
  sqlError('57P01'),
  sqlError('57P02'),
  sqlError('08006'),
  new Error('Connection terminated unexpectedly'),
  systemError('ECONNRESET', 'read'),
  systemError('EPIPE', 'write'),
  systemError('ETIMEDOUT', 'read'),
]) {
  test(`nobody knows what became of a change, and of a read one does: ${error.message}`, async () => {
    const [commit, load] = await outcomes(error);
    assert.equal(commit, error);
    assert.equal(load.code, 'unavailable');
  });
}

for (const error of [
  sqlError('XX000'),
  sqlError('23505'),
  new Error('Query read timeout'),
  new AggregateError([new Error('who knows')]),
  'a text',
  undefined,
]) {
  test(`what says nothing is passed on as it is: ${error?.message || error}`, async () => {
    assert.deepEqual(await outcomes(error), [error, error]);
  });
}

test('a statement is sent under a name only to clients that know names, and without one when the name is lost', async () => {
  const rows = [{ data: '[1,[]]' }];
  const asked = (more = {}) => {
    const queries = [];
    return { queries, query: async (...args) => (queries.push(args), { rows }), ...more };
  };
  const [plain, pool] = [asked(), asked({ totalCount: 0, waitingCount: 0 })];
  const [client, off] = [asked({ escapeIdentifier() {} }), asked({ escapeIdentifier() {} })];
  for (const each of [plain, pool, client]) await postgresStore(each).loadScope({ app: 'a' }, context);
  await postgresStore(off, { prepare: false }).loadScope({ app: 'a' }, context);
  for (const {
    queries: [[text, values]],
  } of [plain, off]) {
    assert.match(text, /^select/);
    assert.deepEqual(values, ['a']);
  }
  for (const {
    queries: [[query, ...rest]],
  } of [pool, client]) {
    assert.deepEqual(rest, []);
    assert.match(query.name, /^statepad_\w+$/);
    assert.deepEqual([query.text, query.values], plain.queries[0]);
  }

  for (const code of ['26000', '42P05']) {
    const lost = asked({ escapeIdentifier() {} });
    const { query } = lost;
    lost.query = async (...args) => {
      await query(...args);
      if (typeof args[0] === 'object') throw sqlError(code);
      return { rows };
    };
    const store = postgresStore(lost);
    for (let i = 0; i < 2; i++) assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 1);
    assert.deepEqual(
      lost.queries.map(([first]) => typeof first),
      ['object', 'string', 'string'],
    );
  }
});

test('an id or a name that is too long for an index is refused, with its size, and the others are written', async () => {
  const sent = [];
  const store = postgresStore({
    query: async (text, values) => (sent.push(values), { rows: [{ answers: '[0,0,0]' }] }),
  });
  const [long, longest] = ['é'.repeat(1_301), 'é'.repeat(1_300)];
  for (const change of [
    create(long),
    create('c', {}, keyOf(long)),
    create('c', {}, keyOf('s', long)),
    create('c', {}, keyOf('s', 'u', long)),
    create('c', { user: { set: { [long]: 1 } } }),
  ]) {
    await assert.rejects(store.commit(change, context), {
      name: 'StoreError',
      code: 'rejected',
      size: 2_602,
      limit: 2_600,
    });
  }
  assert.deepEqual(sent, []);
  const [good, bad] = await store.commitMany([create(longest), create(long, {}, keyOf('t'))], context);
  assert.deepEqual([good.rev, bad.code], [0, 'rejected']);
});

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

  test('a value that cannot be read makes its session corrupt, and no other', async () => {
    const { schema, store } = await opened(pool, { session: { set: { s: [1] } } });
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

  test('a value of a user that cannot be read makes the sessions of that user corrupt; one of the app, all', async () => {
    const { schema, store } = await opened(pool, { user: { set: { u: 'user' } }, app: { set: { a: 'app' } } });
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

  test('closing the store leaves the client open', async () => {
    const store = await openStore();
    await store.close();
    assert.deepEqual((await pool.query('select 1 as one')).rows, [{ one: 1 }]);
  });
});

/** Passes everything on, until it is told to cut the next `query`, or its `answer`. */
async function startProxy(url) {
  const { port, hostname } = new URL(url);
  const proxy = { cut: undefined };
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const pass = (from, to, what) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (proxy.cut === what) {
          proxy.cut = undefined;
          client.destroy();
        } else {
          to.write(bytes);
        }
      });
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    };
    pass(client, upstream, 'query');
    pass(upstream, client, 'answer');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = new URL(url);
  target.host = `127.0.0.1:${server.address().port}`;
  proxy.url = target.href;
  proxy.stop = async () => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.close(resolve));
  };
  return proxy;
}
