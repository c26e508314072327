// The searches of SQLite for the store: by an index, whatever the length of the history and the number of sessions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sqliteStore } from 'statepad/stores/sqlite';
import { creation, event, key, libraries, observed, plain, rows, update, withFile } from './libraries.mjs';

/** The plan of each statement that the store prepares while it does everything it can. */
async function plansOf(database) {
  const texts = new Set();
  const storeWith = (options) =>
    plain(sqliteStore(observed(database, { prepared: (sql) => texts.add(sql) }), options));
  const store = storeWith({});
  await store.open({ migrate: 'create' });
  await store.open({ migrate: 'check' });
  const guard = { fence: 0, rev: 0, pos: { app: 1 }, keys: { session: { set: { n: 1 } }, user: { unset: ['gone'] } } };
  const delta = { set: { n: 1 }, unset: ['gone'] };
  await store.commit(creation('s', { session: delta, user: delta, app: delta }));
  await store.commit(event('e', { guard, session: delta, user: delta, app: delta }));
  await store.commitMany([update('m', { userId: 'u', user: delta }), update('o', { app: delta })]);
  for (const attempt of [2, 3]) {
    await store.commit({ ...event('e', { guard }), id: 'late', attempt }).catch(() => {});
  }
  await store.commit(creation('s'));
  await store.owners('a', 's');
  for (const query of [{}, { after: '' }, { limit: 2 }, { after: '', limit: 2 }]) {
    await store.listApps(query);
    await store.listUsers('a', query);
  }
  for (let number = 0; number < 40; number++) {
    await store.commit(update(`n${number}`, { app: delta }));
  }
  const known = { created: 's', rev: 1, last: 'e', pos: { app: 1, user: 40 }, marks: { app: 's' } };
  await store.commit({ ...event('f'), known });
  await store.commit({ ...event('g'), known });
  await store.load(key(), { known });
  for (const events of [{}, { last: 20 }, { since: 1 }, { since: 1, last: 20 }, { from: 1, to: 1 }]) {
    await store.load(key(), { events });
  }
  for (const user of [undefined, 'u']) {
    for (const after of [undefined, { time: 1, sessionId: 's', userId: 'u' }]) {
      for (const descending of [false, true]) {
        await store.list({ app: 'a', descending, limit: 20, ...(user && { user }), ...(after && { after }) });
      }
    }
  }
  const operators = { app: { n: { increment: 1 } }, session: { list: { append: [1] } } };
  await store.commit({ ...event('h'), operators });
  await store.commit({ ...event('h'), operators });
  for (const query of [{}, { limit: 2 }, { name: 'n' }, { name: 'n', after: 1, to: 9, limit: 2 }]) {
    await store.readLog({ app: 'a' }, query);
  }
  await store.trimLog({ app: 'a' }, 3);
  await store.lease(key(), { holder: 'one', ttl: 1 });
  await store.claim('sweep', { holder: 'one', ttl: 1 });
  for (const [id, expires] of [
    ['t', { ttl: 60_000 }],
    ['gone', { at: 1 }],
  ]) {
    await store.commit({ ...creation(id, { userId: id, user: delta, session: delta }), expires });
  }
  await store.commit(event('e', { sessionId: 't', userId: 't', session: { unset: ['n'] } }));
  await store.commit(update('idle', { userId: 'idle', user: delta }));
  for (const app of [{}, { app: 'a' }]) {
    await store.sweep({ ...app, limit: 9, userTtl: 1, dry: true });
    await store.sweep({ ...app, limit: 9, userTtl: -60_000 });
    await store.commit(update(`idle ${app.app}`, { userId: 'idle', user: delta }));
  }
  await store.loadScope({ app: 'a' });
  await store.removeScope({ app: 'a' });
  const unlogged = storeWith({ log: false });
  await unlogged.commit(event('i', { app: delta }));
  await unlogged.removeScope({ app: 'a' });
  await store.remove(key());
  const planned = [...texts].filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql));
  const bound = (sql) =>
    sql
      .replaceAll(/[^?]/g, '')
      .split('')
      .map(() => 1);
  return new Map(
    planned.map((sql) => [sql, rows(database, `EXPLAIN QUERY PLAN ${sql}`, bound(sql)).map(({ detail }) => detail)]),
  );
}

async function statementsInSchema() {
  const entries = ['statements', 'log-statements', 'expiry-statements'].map((file) =>
    fileURLToPath(new URL(`../../../pkg/src/stores/sqlite-core/${file}.ts`, import.meta.url)),
  );
  const found = [];
  for (const entry of entries) {
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
    const schema = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
    found.push(...Object.values(schema).filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql)));
  }
  return found;
}

for (const name of Object.keys(libraries)) {
  test(`${name}: no statement looks through a table, or sorts more than the sessions of one moment`, () =>
    withFile(name, async (file) => {
      const plans = await plansOf(file.connect());
      const unused = (await statementsInSchema()).filter((sql) => !plans.has(sql));
      assert.deepEqual(unused, []);
      assert.equal([...plans.keys()].filter((sql) => sql.includes('ORDER BY time')).length, 8);
      for (const [sql, plan] of plans) {
        const text = `${sql}\n${plan.join('\n')}`;
        const steps = plan.filter(
          (step) => !/^((CORRELATED )?SCALAR SUBQUERY|SCAN sqlite_(master|schema))/.test(step),
        );
        // The index finds the beginning of a list's page; the rest of the order concerns those of one time.
        const isGroupSort = (step) =>
          sql.includes('ORDER BY time DESC') &&
          /^USE TEMP B-TREE FOR (LAST (2 TERMS|TERM)|RIGHT PART) OF ORDER BY$/.test(step);
        const isSearch = (step) =>
          /^SEARCH (statepad_\w+|[a-z])( EXISTS)? USING (INDEX|COVERING INDEX|PRIMARY KEY|INTEGER PRIMARY KEY) /.test(
            step,
          );
        // The one row that the others are joined to.
        const isOne = (step) =>
          sql.includes('FROM (SELECT 1)') &&
          /^(CO-ROUTINE|MATERIALIZE|SCAN) (\(subquery-\d+\)|SUBQUERY \d+|CONSTANT ROW|\d+ CONSTANT ROW.*)$|^SCAN CONSTANT ROW$/.test(
            step,
          );
        // The rows that a statement writes.
        const isGiven = (step) => sql.includes('VALUES') && /^SCAN \d+(-ROW VALUES CLAUSE| CONSTANT ROWS)$/.test(step);
        // The least number of a scope: the first row.
        const isLeast = (step) => sql.includes('min(n)') && step === 'SEARCH statepad_scopes';
        // The positions of as many entries of a log as are wanted.
        const isLimit = (step) =>
          sql.includes('max(pos)') &&
          /^(CO-ROUTINE|MATERIALIZE|SEARCH|SCAN) (\(subquery-\d+\)|SUBQUERY \d+)$/.test(step);
        const isCount = (step) =>
          sql.includes('count(DISTINCT pos)') && step === 'USE TEMP B-TREE FOR count(DISTINCT)';
        // What has expired, which is counted, and the users whose sessions those are.
        const isCounted = (step) =>
          sql.startsWith('SELECT count(*) AS count FROM (') &&
          /^((CO-ROUTINE|MATERIALIZE|SCAN) (ended|\(subquery-\d+\)|SUBQUERY \d+)|USE TEMP B-TREE FOR GROUP BY)$/.test(
            step,
          );
        const kinds = [isCounted, isSearch, isGroupSort, isGiven, isLeast, isOne, isLimit, isCount];
        const others = sql.includes('sqlite_master') ? [] : steps.filter((step) => !kinds.some((is) => is(step)));
        assert.deepEqual(others, [], text);
      }
    }));

  test(`${name}: the last events, and those since some time, are read alone`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      // Events that are not read may be damaged without any notice: that shows how far back the store reads.
      const store = plain(sqliteStore(database, { synchronous: 'normal' }));
      await store.open({ migrate: 'create' });
      await store.commit({ ...creation('s'), event: { id: 's', time: 0, data: '{}' } });
      for (let start = 1; start <= 300; start++) {
        await store.commit(event(`e${start}`, { time: start }));
      }
      database.exec(`UPDATE statepad_events SET data = x'00', time = 'none' WHERE (place & 4294967295) < 280`);
      const revisions = async (events) => (await store.load(key(), { events })).events.map(({ rev }) => rev);
      const last21 = Array.from({ length: 21 }, (_, at) => 280 + at);
      assert.deepEqual(await revisions({ last: 21 }), last21);
      assert.deepEqual(await revisions({ from: 0, last: 21 }), last21);
      assert.deepEqual(await revisions({ from: 0, since: 280 }), last21);
      assert.deepEqual(await revisions({ since: 280 }), last21);
      assert.deepEqual(await revisions({ since: 290, last: 2 }), [299, 300]);
    }));
}
