// The searches of the store in Postgres: they use indexes, whatever else there is.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  append,
  create,
  keyOf,
  openedStore,
  statisticsAreWritten,
  storeOver,
  update,
  withDatabase,
} from './database.mjs';

const SESSIONS = 5_000;
const LONG = keyOf('long', 'user-1', 'a');
const userOf = (index) => `user-${index % 10 === 7 ? 7 : index}`;

await withDatabase((database) => {
  describe('with 5,000 sessions and 20,000 events', () => {
    const schema = database.schema();
    const pool = database.pool({ max: 1 });
    let store;
    const sent = [];

    before(async () => {
      const client = { query: async (text, values) => (sent.push({ text, values }), pool.query(text, values)) };
      store = storeOver(client, { schema });
      await store.open({ migrate: 'create' });
      // One user has 500 sessions, the others have one; five sessions have the same time.
      for (let i = 0; i < SESSIONS; i += 500) {
        const creations = Array.from({ length: 500 }, (_, j) => i + j).map((n) => ({
          ...create(`c${n}`, { session: { set: { n } } }, keyOf(`s${n}`, userOf(n))),
          time: n % 1_000,
        }));
        await store.commitMany(creations);
      }
      await store.commit({ ...create('long', {}, LONG), event: { id: 'long', time: 0, data: '{}' } });
      await pool.query(`insert into ${schema}.events (session, rev, id, time, data)
      select no, n, 'e' || n, n, '{"a text that is about as long as": "an event might be at the least"}'
      from ${schema}.sessions, generate_series(1, 10000) n where id = 'long'`);
      await pool.query(`insert into ${schema}.events (session, rev, id, time, data)
      select no, n, 'e' || n, n, '{}' from ${schema}.sessions, generate_series(1, 2) n where id <> 'long'`);
      await pool.query(`update ${schema}.sessions set rev = case id when 'long' then 10000 else 2 end`);
      await pool.query('analyze');
    });

    /**
     * The nodes of the plan of what an operation sends, as it would be made for any values, and as it is made for
     * these.
     */
    const plans = async (operation) => {
      sent.length = 0;
      await operation();
      assert.equal(sent.length, 1, 'one statement');
      const [{ text, values }] = sent;
      const found = [];
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await pool.query(`set plan_cache_mode = ${mode}`);
        const literals = values.map((value) => (value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`));
        await pool.query(`prepare question as ${text}`);
        const { rows } = await pool.query(
          `explain (analyze, timing off, format json) execute question (${literals.join()})`,
        );
        await pool.query('deallocate question');
        found.push(nodesOf(rows[0]['QUERY PLAN'][0].Plan));
      }
      await pool.query('reset plan_cache_mode');
      return found;
    };
    /** No table is read from one end to the other, and no part of a plan sees more rows than it may. */
    const assertSmall = async (operation, most) => {
      for (const nodes of await plans(operation)) {
        const text = `\n${nodes.map((node) => [node['Node Type'], node['Index Name'] ?? node['Relation Name'], seenBy(node)].join(' ')).join('\n')}`;
        assert.ok(
          nodes.every((node) => node['Node Type'] !== 'Seq Scan'),
          text,
        );
        const seen = Math.max(...nodes.map(seenBy));
        assert.ok(seen <= most, `${seen} rows: ${text}`);
      }
    };

    const known = { created: 'long', rev: 10_000, pos: { app: 0, user: 0 } };
    for (const [what, query, most] of [
      ['the last events', { events: { last: 20 } }, 30],
      ['no events', { events: { last: 0 } }, 10],
      ['what it began with', { events: { from: 0, to: 0 } }, 10],
      ['some revisions', { events: { from: 4_000, to: 4_019 } }, 30],
      ['what came since', { events: { since: 9_981 } }, 30],
      ['the last of what came since', { events: { since: 9_901, last: 20 } }, 110],
      ['what is not known', { events: { from: 10_001 }, known }, 10],
    ]) {
      test(`a load of ${what} reads as much`, () => assertSmall(() => store.load(LONG, query), most));
    }
    test('a load of a small session reads what it has', () =>
      assertSmall(() => store.load(keyOf('s7', 'user-7'), {}), 10));
    test('a load of nothing reads nothing', () => assertSmall(() => store.load(keyOf('nothing', 'user-7'), {}), 10));
    test('the values of an app and of a user are read alone', async () => {
      await assertSmall(() => store.loadScope({ app: 'a' }), 10);
      await assertSmall(() => store.loadScope({ app: 'a', user: 'user-7' }), 10);
    });

    test('the users of an id are found among all sessions, and none where there is none', async () => {
      const owners = (id) => () => store.owners('a', id);
      assert.deepEqual(await owners('s17')(), ['user-7']);
      await assertSmall(owners('s17'), 10);
      assert.deepEqual(await owners('nothing')(), []);
      await assertSmall(owners('nothing'), 10);
    });

    test('those of several ids that are asked for together are found by one statement', async () => {
      const ids = ['s17', 'nothing', 's3', 's17'];
      const all = () => Promise.all(ids.map((id) => store.owners('a', id)));
      assert.deepEqual(await all(), [['user-7'], [], ['user-3'], ['user-7']]);
      assert.deepEqual(await Promise.all([store.owners('a', 's17'), store.owners('b', 's17')]), [['user-7'], []]);
      await assertSmall(all, 10);
    });

    test('a page of names reads as many as it has', async () => {
      const users = (query) => () => store.listUsers('a', query);
      assert.deepEqual(await users({ limit: 2, after: 'user-4' })(), { names: ['user-40', 'user-400'], more: true });
      await assertSmall(users({ limit: 20 }), 30);
      await assertSmall(users({ limit: 20, after: 'user-4' }), 30);
      await assertSmall(users({ limit: 20, after: 'user-9999' }), 10);
      assert.deepEqual(await store.listApps({ limit: 20 }), { names: ['a'], more: false });
      await assertSmall(() => store.listApps({ limit: 20 }), 10);
      await assertSmall(() => store.listApps({}), 10);
    });

    test('a part of a log of 20,000 writes, and the writes of one name, are read alone', async () => {
      const scope = `select no, $1::int from ${schema}.scopes where parent = 0 and name = 'a'`;
      await pool.query(
        `insert into ${schema}.log (scope, pos, nth, name, value, time)
        select scope.no, pos, nth, case when pos % 1000 = 0 then 'rare' else 'name ' || nth end, '1', 1
        from (${scope}) scope, generate_series(1, 10000) pos, generate_series(1, 2) nth`,
        [0],
      );
      await pool.query(`update ${schema}.scopes set pos = 10000 where parent = 0 and name = 'a'`);
      await pool.query('analyze');
      const read = (query) => () => store.readLog({ app: 'a' }, query);
      assert.equal((await read({ after: 5_000, limit: 10 })()).entries.length, 10);
      await assertSmall(read({ after: 5_000, limit: 10 }), 30);
      await assertSmall(read({ after: 9_990 }), 30);
      await assertSmall(read({ after: 5_000, to: 5_010 }), 30);
      assert.equal((await read({ name: 'rare' })()).entries.length, 10);
      await assertSmall(read({ name: 'rare' }), 30);
      await assertSmall(read({ name: 'rare', after: 5_000, limit: 3 }), 30);
      await assertSmall(read({ name: 'name 1', limit: 10 }), 30);
      await assertSmall(() => store.readLog({ app: 'a', user: 'user-7' }, { name: 'rare' }), 10);
      const before = await readsIn(pool, schema);
      assert.equal(await store.trimLog({ app: 'a' }, 10), 10);
      const after = await readsIn(pool, schema);
      assert.equal(after.all, before.all);
      assert.ok(after.found - before.found < 40, `${after.found - before.found} rows`);
      await pool.query(`delete from ${schema}.log`);
      await pool.query(`update ${schema}.scopes set pos = 0, base = 0 where parent = 0 and name = 'a'`);
    });

    for (const descending of [true, false]) {
      for (const user of [undefined, 'user-7']) {
        const whose = `the sessions of ${user ?? 'all users'}, ${descending ? 'descending' : 'ascending'},`;
        const list = (more) => store.list({ app: 'a', user, descending, limit: 20, ...more });
        test(`the first page of ${whose} reads as many as it has`, () => assertSmall(() => list({}), 60));
        test(`a later page of ${whose} goes on where the one before has ended`, async () => {
          const {
            time,
            key: { sessionId, userId },
          } = (await list({ limit: 25 })).rows.at(-1);
          await assertSmall(() => list({ after: { time, sessionId, userId } }), 60);
          await assertSmall(() => list({ after: { time: descending ? 3 : 997, sessionId: 's', userId: '' } }), 60);
        });
      }
    }

    test('the total is there without counting', async () => {
      const totalOf = async (user) => (await store.list({ app: 'a', user, descending: true, limit: 1 })).total;
      assert.deepEqual(
        [await totalOf(undefined), await totalOf('user-7'), await totalOf('user-1')],
        [SESSIONS + 1, SESSIONS / 10, 2],
      );
    });

    test('what is changed is found through indexes, also by plans that were made when there was nothing', async () => {
      const set = { set: { a: 1, b: 2 } };
      const work = async (n) => {
        const delta = { app: set, user: set, session: { set: { x: n }, unset: ['y'] } };
        await store.commit(append(`new-${n}`, delta, LONG, { guard: { rev: 10_000 + n } }));
        const key = { appName: 'a', userId: 'user-7' };
        await store.commit(update(`update-${n}`, { user: { unset: ['a'] } }, key));
        await store.commit(append(`e${9_000 + n}`, {}, LONG));
        // By operators, also with a guard, and under a lease.
        const operators = { app: { a: { increment: 1 } }, session: { list: { append: [n] } } };
        await store.commit(append(`add-${n}`, {}, keyOf('s1017', 'user-7'), { operators }));
        const guard = { keys: { app: { set: { b: 2 } } } };
        await store.commit(append(`more-${n}`, {}, keyOf('s1017', 'user-7'), { operators, guard }));
        const { fence } = await store.lease(keyOf('s1017', 'user-7'), { holder: 'h', ttl: 1e6 });
        await store.commit(append(`held-${n}`, {}, keyOf('s1017', 'user-7'), { guard: { fence } }));
        await store.commit(append(`new-${n}`, {}, keyOf('s1007', 'user-7')));
        await store.commit(create(`new-${n}`, {}, keyOf(`new-${n}`)));
        await store.remove(keyOf(`new-${n}`));
        await store.removeScope({ app: 'a', user: 'user-8' });
      };
      await work(0);
      const before = await readsIn(pool, schema);
      await work(1);
      const after = await readsIn(pool, schema);
      assert.equal(after.all, before.all);
      assert.ok(after.found - before.found < 150, `${after.found - before.found} rows`);
    });
  });

  for (const [what, delta] of [
    ['values of sessions', { session: { set: { x: 1 } } }],
    ['values of apps and users', { app: { set: { a: 1 } }, user: { set: { b: 2 } }, session: { set: { x: 1 } } }],
  ]) {
    test(`a batch of 20 events with ${what} reads its own rows, also by plans that were made when there was nothing`, async () => {
      const [schema, pool] = [database.schema(), database.pool({ max: 1 })];
      const store = await openedStore(pool, { schema });
      const keys = Array.from({ length: 20 }, (_, i) => keyOf(`s${i}`, `u${i}`));
      await store.commitMany(keys.map((key, i) => create(`c${i}`, {}, key)));
      const commit = async (n) => {
        const answers = await store.commitMany(keys.map((key) => append(`e${n}`, delta, key)));
        answers.forEach((answer) => assert.equal(answer.rev, n));
      };
      await commit(1);
      await pool.query(`insert into ${schema}.events (session, rev, id, time, data)
        select -n, 1, 'e' || n, n, '{}' from generate_series(1, 5000) n`);
      await pool.query(`insert into ${schema}.refused (call) select 'call ' || n from generate_series(1, 5000) n`);
      const before = await readsIn(pool, schema);
      await commit(2);
      const after = await readsIn(pool, schema);
      assert.equal(after.all, before.all);
      assert.ok(after.found - before.found < 20 * 15, `${after.found - before.found} rows`);
    });
  }
});

/** The numbers of rows in the tables of a schema that were read from end to end, and that indexes found. */
async function readsIn(pool, schema) {
  await statisticsAreWritten(pool);
  const sums = 'sum(seq_tup_read)::int as all, sum(idx_tup_fetch)::int as found';
  return (await pool.query(`select ${sums} from pg_stat_user_tables where schemaname = $1`, [schema])).rows[0];
}

/** The number of rows that a node has looked at in all its rounds. */
function seenBy(node) {
  return Math.round((node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
}

function nodesOf(plan) {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
