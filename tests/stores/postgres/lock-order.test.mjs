// The function for batches of events and the one for every change at the same rows: the order in which they lock, and
// what they tell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append, create, keyOf, openedStore, statisticsAreWritten, update, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool();
  const open = (schema, client) => openedStore(client, { schema });
  test('16 writers with batches in any order, by both functions, never wait in a circle, and count exactly', async () => {
    const schema = database.schema();
    const client = () => database.pool({ max: 8, options: '-c synchronous_commit=off' });
    const stores = [await open(schema, client()), await open(schema, client())];
    const deadlocks = async () => {
      await statisticsAreWritten(pool);
      const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = current_database()');
      return rows[0].deadlocks;
    };
    const before = await deadlocks();
    const keys = Array.from({ length: 18 }, (_, i) => keyOf(`s${i % 3}`, `u${i % 3}`, `a${Math.floor(i / 9)}`)).map(
      (key, i) => ({ ...key, sessionId: `s${i % 9}` }),
    );
    await stores[0].commitMany(keys.map((key, i) => create(`c${i}`, {}, key)));
    const [moves, revs, sums] = [new Map(), new Map(), new Map()];
    const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
    const random = (n) => Math.floor(Math.random() * n);

    const work = async (worker) => {
      const store = stores[worker % 2];
      for (let round = 0; round < 40; round += 1) {
        const size = 1 + random(8) * random(2);
        const chosen = [...keys].sort(() => Math.random() - 0.5).slice(0, size);
        const changes = chosen.map((key, i) => {
          const id = `${worker}-${round}-${i}`;
          const set = { set: { [`n${random(3)}`]: id } };
          const add = { n: { increment: 1 } };
          const operators = random(4) === 0 ? { operators: { app: add, user: add, session: add } } : {};
          const delta = { ...(random(2) && { app: set }), ...(random(2) && { user: set }), session: set };
          return append(id, delta, key, operators);
        });
        // Changes that only the other function takes, at the same rows.
        if (random(4) === 0) {
          const { appName, userId } = keys[random(keys.length)];
          const delta = { app: { set: { [`n${random(3)}`]: round } }, user: { set: { x: round } } };
          changes.push(update(`u${worker}-${round}`, delta, { appName, userId }));
        }
        const answers = await store.commitMany(changes);
        answers.forEach((answer, i) => {
          assert.ok(answer.rev >= 0, String(answer));
          const { key, delta, kind, operators } = changes[i];
          const [app, user] = [{ app: key.appName }, { app: key.appName, user: key.userId }].map((scope) =>
            JSON.stringify(scope),
          );
          if (delta.app || operators) count(moves, app);
          if (delta.user || operators) count(moves, user);
          if (operators) [app, user].forEach((scope) => count(sums, scope));
          if (kind === 'append') count(revs, JSON.stringify(key));
        });
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)));

    for (const [scope, pos] of moves) assert.equal((await stores[0].loadScope(JSON.parse(scope))).pos, pos, scope);
    assert.equal(sums.size, 8);
    for (const [scope, sum] of sums) {
      assert.equal((await stores[0].loadScope(JSON.parse(scope))).state.n, sum, scope);
      // Each position has its entry, whoever has written it.
      const { pos, base, entries } = await stores[0].readLog(JSON.parse(scope), {});
      assert.deepEqual([base, entries.length], [0, pos]);
      const added = entries.flatMap(({ writes }) => writes.filter(({ name }) => name === 'n'));
      assert.deepEqual(
        added.map(({ from = 0, to }) => to - from),
        added.map(() => 1),
      );
    }
    for (const [key, rev] of revs) {
      const { rev: found, events } = await stores[0].load(JSON.parse(key), {});
      assert.deepEqual([found, events.length], [rev, rev]);
    }
    assert.equal(await deadlocks(), before);
  });

  for (const [what, more, isBatch] of [
    ['one event', {}, false],
    ['one event that expects values', { guard: { keys: {} } }, false],
    ['a batch of events', {}, true],
    ['a batch of events that expect values', { guard: { keys: {} } }, true],
  ]) {
    test(`${what} locks sessions, then apps, then users, each in the order of their names`, async () => {
      const schema = database.schema();
      const store = await open(schema, pool);
      const keys = [keyOf('s', 'u', 'a'), keyOf('s', 'u', 'b'), keyOf('t', 'v', 'b')];
      await store.commitMany(
        keys.toReversed().map((key, i) => create(`c${i}`, { app: { set: { x: 0 } }, user: { set: { x: 0 } } }, key)),
      );
      const app = (name) => `select from ${schema}.scopes where parent = 0 and name = '${name}'`;
      const user = (name, of) =>
        `select from ${schema}.scopes where name = '${name}' and parent = (select no from ${schema}.scopes where parent = 0 and name = '${of}')`;
      const session = ({ sessionId, userId, appName }) =>
        `select from ${schema}.sessions where id = '${sessionId}' and usr = (${user(userId, appName).replace('select', 'select no')})`;
      const rows = isBatch
        ? [...keys.map(session), app('a'), app('b'), user('u', 'a'), user('u', 'b'), user('v', 'b')]
        : [session(keys[0]), app('a'), user('u', 'a')];
      const [holder, probe] = [await pool.connect(), await pool.connect()];
      try {
        for (const [index, row] of rows.entries()) {
          await holder.query('begin');
          await holder.query(`${row} for update`);
          const delta = { app: { set: { x: index } }, user: { set: { x: index } } };
          const events = (isBatch ? keys.toReversed() : keys.slice(0, 1)).map((key) =>
            append(`e${index}`, delta, key, more),
          );
          const pending = store.commitMany(events);
          const blocked = 'select from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0';
          while ((await probe.query(blocked)).rows.length === 0)
            await new Promise((resolve) => setTimeout(resolve, 5));
          for (const [other, text] of rows.entries()) {
            const outcome = await probe.query(`${text} for update nowait`).then(
              () => 'free',
              ({ code }) => (code === '55P03' ? 'locked' : assert.fail(code)),
            );
            assert.equal(outcome, other <= index ? 'locked' : 'free', `${text}, while waiting for ${row}`);
          }
          await holder.query('commit');
          assert.ok((await pending).every(({ rev }) => rev === index + 1));
        }
      } finally {
        await holder.query('rollback');
        holder.release();
        probe.release();
      }
    });
  }

  test('who follows what is told while others write by both functions has what the store has', async () => {
    const schema = database.schema();
    const client = () => database.pool({ max: 4, options: '-c synchronous_commit=off' });
    const stores = [await open(schema, client()), await open(schema, client())];
    const keys = Array.from({ length: 6 }, (_, i) => keyOf(`s${i}`));
    await stores[0].commitMany(keys.map((key, i) => create(`c${i}`, { app: { set: { a: 0 } } }, key)));
    const random = (n) => Math.floor(Math.random() * n);
    const first = await stores[0].loadScope({ app: 'a' });
    const follow = async (worker) => {
      const store = stores[worker % 2];
      let mine = { pos: first.pos, mark: first.mark, values: { ...first.state } };
      for (let round = 0; round < 30; round += 1) {
        const known = { pos: { app: mine.pos }, marks: { app: mine.mark } };
        const changes = keys.slice(worker % 3, (worker % 3) + 1 + random(3)).map((key, i) => {
          const id = `${worker} ${round} ${i}`;
          return append(id, { ...(random(3) && { app: { set: { [`n${random(9)}`]: id } } }) }, key, { known });
        });
        const answers = await store.commitMany(changes);
        // The last answer says all until then.
        const [{ changed = {}, pos, before }, { id, delta }] = [answers.at(-1), changes.at(-1)];
        const { set = {}, unset = [] } = changed.app ?? {};
        unset.forEach((name) => delete mine.values[name]);
        Object.assign(mine.values, set, delta.app?.set);
        const moved = pos.app - (delta.app ? 1 : 0);
        assert.ok(changed.app !== undefined || moved === mine.pos, `${mine.pos} to ${moved}`);
        mine = { ...mine, pos: pos.app, mark: delta.app ? id : before.app };
      }
      return mine;
    };
    const all = await Promise.all(Array.from({ length: 8 }, (_, worker) => follow(worker)));
    const { pos, state } = await stores[0].loadScope({ app: 'a' });
    const last = all.find((mine) => mine.pos === pos);
    assert.ok(last, 'who has written last knows it');
    assert.deepEqual(last.values, { ...state });
  });
});
