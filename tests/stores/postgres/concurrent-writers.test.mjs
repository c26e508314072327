// Many who write to one schema in Postgres at once, and what they tell each other.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { randomFrom } from '../../support/random.js';
import {
  append,
  codeOf,
  create,
  keyOf,
  openedStore,
  statisticsAreWritten,
  storeOver,
  update,
  withDatabase,
} from './database.mjs';

test('what changes within 20 ms is told in one message, after the commits, and each thing once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const messages = [];
  const query = async (text, values) => {
    if (text.includes('pg_notify'))
      messages.push(JSON.parse(values[1]).map((message) => JSON.parse(message).slice(1)));
    return { rows: [{ answers: '[[1,0,0]]' }] };
  };
  const listen = { query: async () => {}, on() {}, removeListener() {} };
  const store = storeOver({ query }, { listen });
  for (const id of ['1', '2', '3']) await store.commit(append(id, {}, keyOf(id === '3' ? 'other' : 's')));
  t.mock.timers.tick(19);
  assert.deepEqual(messages, []);
  t.mock.timers.tick(1);
  assert.deepEqual(messages, [
    [
      [
        ['a', 'u', 's'],
        ['a', 'u', 'other'],
      ],
    ],
  ]);
  await store.commit(append('4'));
  t.mock.timers.tick(20);
  assert.deepEqual(messages.slice(1), [[[['a', 'u', 's']]]]);
  await store.close();
  assert.equal(messages.length, 2);
});

await withDatabase((database) => {
  const pool = database.pool();
  const open = (schema, client = pool, options = {}) => openedStore(client, { schema, ...options });

  test('batches that name the same sessions, users and apps in any order never wait in a circle, and count exactly', async () => {
    const schema = database.schema();
    const stores = [await open(schema, database.pool({ max: 8 })), await open(schema, database.pool({ max: 8 }))];
    const deadlocks = async () => {
      const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = current_database()');
      return rows[0].deadlocks;
    };
    const before = await deadlocks();
    const random = randomFrom(7);
    const keys = Array.from({ length: 12 }, (_, i) => keyOf(`s${i % 4}`, `u${i % 3}`, `a${i % 2}`));
    const expected = { sessions: new Map(), scopes: new Map(), created: 0 };
    const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);

    const work = async (worker) => {
      for (let round = 0; round < 12; round++) {
        const changes = shuffled(keys, random)
          .slice(0, 6)
          .map((key, i) => {
            const id = `${worker}-${round}-${i}`;
            const set = { set: { [`n${i}`]: id } };
            const delta = { ...(random() < 0.5 && { app: set }), ...(random() < 0.5 && { user: set }), session: set };
            const { appName, userId } = key;
            if (random() < 0.3) return create(id, delta, key);
            return random() < 0.2 ? update(id, delta, { appName, userId }) : append(id, delta, key);
          });
        const answers = await stores[worker % 2].commitMany(changes);
        answers.forEach((answer, i) => {
          const {
            kind,
            key: { appName, userId, sessionId },
            delta,
          } = changes[i];
          if (answer.code !== undefined) {
            assert.ok(['exists', 'not-found'].includes(answer.code), String(answer));
            return;
          }
          if (delta.app) count(expected.scopes, JSON.stringify({ app: appName }));
          if (delta.user) count(expected.scopes, JSON.stringify({ app: appName, user: userId }));
          if (kind === 'append') count(expected.sessions, JSON.stringify([appName, userId, sessionId]));
          if (kind === 'create') expected.created += 1;
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));

    for (const [scope, pos] of expected.scopes)
      assert.equal((await stores[0].loadScope(JSON.parse(scope))).pos, pos, scope);
    let total = 0;
    for (const app of ['a0', 'a1']) {
      const page = await stores[1].list({ app, descending: true });
      assert.equal(page.total, page.rows.length);
      total += page.total;
      for (const { key, rev } of page.rows) {
        assert.equal(rev, expected.sessions.get(JSON.stringify([key.appName, key.userId, key.sessionId])) ?? 0);
        const { events } = await stores[0].load(key, {});
        assert.deepEqual(
          events.map((event) => event.rev),
          Array.from({ length: rev }, (_, i) => i + 1),
        );
      }
    }
    assert.equal(total, expected.created);
    await statisticsAreWritten(pool);
    assert.equal(await deadlocks(), before);
  });

  test('a session that is removed while others append to it leaves nothing behind', async () => {
    const schema = database.schema();
    const [store, other] = [await open(schema), await open(schema, database.pool())];
    for (let round = 0; round < 20; round++) {
      await store.commit(create(`c${round}`, { session: { set: { s: 1 } } }));
      const outcomes = await Promise.all([
        ...[1, 2, 3].map((i) => codeOf(other.commit(append(`e${round}-${i}`, { session: { set: { t: i } } })))),
        codeOf(store.remove(keyOf())),
      ]);
      assert.ok(
        outcomes.every((code) => code === 'none' || code === 'not-found'),
        outcomes.join(),
      );
      assert.equal(await store.load(keyOf(), {}), null);
    }
    const {
      rows: [left],
    } = await pool.query(
      `select (select count(*) from ${schema}.events)::int as events, (select count(*) from ${schema}.state)::int as state,
        (select sum(sessions) from ${schema}.counts)::int as counted`,
    );
    assert.deepEqual(left, { events: 0, state: 0, counted: 0 });
  });

  /** Runs `during` while somebody else has the row of the app locked. */
  const withLockedApp = async (schema, during) => {
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query(`select from ${schema}.scopes where parent = 0 for update`);
      await during();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  };

  test('a change waits for its app only if it touches it', async () => {
    const schema = database.schema();
    await (await open(schema)).commit(create('c', { app: { set: { a: 1 } } }));
    const store = await open(schema, database.pool({ lock_timeout: 300 }));
    await withLockedApp(schema, async () => {
      await store.commit(append('e1', { user: { set: { u: 1 } }, session: { set: { s: 1 } } }));
      await store.commit(create('c2', {}, keyOf('s2', 'u2')));
      await store.remove(keyOf('s2', 'u2'));
      assert.equal(await codeOf(store.commit(append('e2', { app: { set: { a: 2 } } }))), 'unavailable');
      // A change that checks the position waits, too: the position might move before the change is written.
      assert.equal(
        await codeOf(store.commit(append('e3', {}, keyOf(), { guard: { pos: { app: 1 } } }))),
        'unavailable',
      );
    });
    assert.equal((await store.load(keyOf(), {})).rev, 1);
  });

  test('who had to wait for a session is told where the scopes are after what was waited for', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create());
    const holder = await pool.connect();
    try {
      const set = { set: { x: 1 } };
      const change = append('e1', { app: set, user: set });
      await holder.query('begin');
      await storeOver(holder, { schema }).commit(change);
      const waiting = [store.commit(change), store.commit(append('e2'))];
      // One waits for the holder, the other one for both.
      const blocked = async () => {
        const { rows } = await pool.query(
          'select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0',
        );
        return rows.length;
      };
      while ((await blocked()) < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await holder.query('commit');
      const [again, next] = await Promise.all(waiting);
      assert.deepEqual([again.duplicate, again.pos], [true, { app: 1, user: 1 }]);
      assert.deepEqual([next.rev, next.pos], [2, { app: 1, user: 1 }]);
    } finally {
      holder.release();
    }
  });

  test('who creates sessions of one app at once does not wait for the others', async () => {
    const schema = database.schema();
    await (await open(schema)).commit(create());
    const wide = database.pool({ max: 20 });
    const clients = [];
    try {
      // A connection counts in one of 16 rows: these two must not have the same.
      const shards = new Map();
      while (shards.size < 2) {
        const client = await wide.connect();
        clients.push(client);
        shards.set((await client.query('select pg_backend_pid() % 16 as shard')).rows[0].shard, client);
      }
      const [holder, other] = shards.values();
      await other.query('set lock_timeout = 300');
      await holder.query('begin');
      await storeOver(holder, { schema }).commit(create('c1', {}, keyOf('s1', 'u1')));
      await storeOver(other, { schema }).commit(create('c2', {}, keyOf('s2', 'u2')));
      await holder.query('commit');
      const page = await storeOver(pool, { schema }).list({ app: 'a', descending: true });
      assert.deepEqual([page.total, page.rows.length], [3, 3]);
    } finally {
      clients.forEach((client) => client.release());
    }
  });

  test('every change, and every batch of changes, is one statement', async () => {
    const schema = database.schema();
    await open(schema);
    let statements = 0;
    const store = storeOver({ query: (...args) => ((statements += 1), pool.query(...args)) }, { schema });
    const set = { set: { x: 1 } };
    for (const change of [
      () => store.commit(create('c', { app: set, user: set, session: set })),
      () =>
        store.commit(
          append('e', { app: set, session: { unset: ['x'] } }, keyOf(), { guard: { rev: 0, keys: { user: set } } }),
        ),
      () =>
        store.commitMany(
          Array.from({ length: 100 }, (_, i) => create(`c${i}`, { user: set }, keyOf(`s${i}`, `u${i}`))),
        ),
      () =>
        store.commitMany(
          Array.from({ length: 100 }, (_, i) => append(`e${i}`, { app: set }, keyOf(`s${i}`, `u${i}`))),
        ),
      () => store.removeScope({ app: 'a' }),
      () => store.remove(keyOf()),
    ]) {
      statements = 0;
      await change();
      assert.equal(statements, 1);
    }
    assert.equal((await store.loadScope({ app: 'a' })).pos, 103);
  });

  test('updates are forgotten after a day, not before', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const send = (id) => store.commit(update(id, { app: { set: { [id]: 1 } } }));
    for (const id of ['old', 'young']) await send(id);
    await pool.query(
      `update ${schema}.updates set at = now() - case id when 'old' then interval '25 hours' else interval '23 hours' end`,
    );
    await send('new');
    const { rows } = await pool.query(`select id from ${schema}.updates order by at`);
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['young', 'new'],
    );
    assert.equal((await send('young')).duplicate, true);
  });

  test('nobody is told anything unless they listen, and nothing within a commit', async () => {
    const schema = database.schema();
    const store = await open(schema);
    assert.equal('watch' in store, false);
    const { rows } = await pool.query(`select prosrc from pg_proc where pronamespace = $1::regnamespace`, [schema]);
    assert.equal(rows.length, 24);
    assert.ok(rows.every(({ prosrc }) => !/notify/i.test(prosrc)));
  });

  test('a store tells others what it has changed, gathered, and not itself', async () => {
    const schema = database.schema();
    const listeners = [await database.listener(), await database.listener()];
    const statements = [];
    const client = { query: (text, values) => (statements.push(text), pool.query(text, values)) };
    const writer = await open(schema, client, { listen: listeners[0] });
    const reader = await open(schema, pool, { listen: listeners[1] });
    const [own, told] = [[], []];
    const stops = [
      writer.watch((hint) => own.push(hint)),
      reader.watch((hint) => told.push(hint)),
      reader.watch((hint) => told.push(hint)),
    ];
    // A query on the same connection comes after the one that listens.
    await listeners[1].query('select 1');
    statements.length = 0;

    const [odd, plain] = [keyOf('s\0', 'u"😀', '\x01a'), keyOf()];
    await writer.commitMany([create('c1', {}, odd), create('c2', {}, plain)]);
    await writer.commit(update('u', { app: { set: { x: 1 } } }));
    await writer.commit(append('e', {}, plain));
    // Neither a duplicate nor a refusal is news.
    await writer.commit(append('e', {}, plain));
    await codeOf(writer.commit(append('e', {}, keyOf('nobody', 'nobody'))));
    await writer.remove(keyOf('nobody', 'somebody'));
    const commits = statements.filter((text) => /\b(commit|append_many)\(/.test(text)).length;
    assert.equal(commits, 5);
    await writer.removeScope({ app: 'a', user: 'u' });
    await writer.remove(odd);
    // The remaining hints are sent at the end.
    await writer.close();

    // Messages go by several connections: one may overtake another.
    const expected = [odd, plain, { appName: 'a' }, { appName: 'a', userId: 'u' }].map((hint) => JSON.stringify(hint));
    const distinct = () => [...new Set(told.map((hint) => JSON.stringify(hint)))].sort();
    while (!expected.every((hint) => distinct().includes(hint))) await once(listeners[1], 'notification');
    assert.deepEqual(distinct(), expected.sort());
    assert.deepEqual(own, []);
    // Both that watch were told each time.
    assert.equal(told.length % 2, 0);

    stops.forEach((stop) => stop());
    stops[1]();
    await listeners[1].query('select 1');
    assert.deepEqual((await listeners[1].query('select pg_listening_channels() as channel')).rows, []);
    told.length = 0;
    await pool.query('select pg_notify($1, $2)', [schema, '["x",["a"]]']);
    await listeners[1].query('select 1');
    assert.deepEqual(told, []);
  });

  test('hints that are many or long are cut into messages that Postgres takes, and what is no hint is passed over', async () => {
    const schema = database.schema();
    const listeners = [await database.listener(), await database.listener()];
    const writer = await open(schema, pool, { listen: listeners[0] });
    const reader = await open(schema, pool, { listen: listeners[1] });
    const told = new Set();
    reader.watch(({ sessionId }) => told.add(sessionId));
    await listeners[1].query('select 1');
    for (const payload of ['', 'no json', '{}', '[]', '["x"]', '["x",[1]]', '["x",[]]', 'null']) {
      await pool.query('select pg_notify($1, $2)', [schema, payload]);
    }
    const ids = Array.from({ length: 40 }, (_, i) => `${'\x7f😀'.repeat(100)}${i}`);
    await writer.commitMany(ids.map((id) => create(id, {}, keyOf(id))));
    // Too long for any message.
    await writer.commit(create('long', {}, keyOf('\x02'.repeat(2_000))));
    await writer.close();
    while (told.size < ids.length) await once(listeners[1], 'notification');
    await listeners[1].query('select 1');
    assert.deepEqual([...told].sort(), [...ids].sort());
  });
});

function shuffled(items, random) {
  return items
    .map((item) => [random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
