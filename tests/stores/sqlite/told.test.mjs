// What the SQLite store tells of what others have done, over many changes; and what it refuses to be made of.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { toldOnes, wrongOnes } from '../cloudflare/data.js';
import { creation, event, key, libraries, observed, plain, rows, update, withFile } from './libraries.mjs';

const context = { signal: new AbortController().signal };

for (const name of Object.keys(libraries)) {
  test(`${name}: what others have done is told as the reference tells it, over many changes`, () => {
    const database = libraries[name](':memory:');
    return toldOnes(sqliteStore(database), memoryStore(), context).finally(() => database.close());
  });

  test(`${name}: the last thousand changes of a scope can be told, and far older ones are forgotten`, async () => {
    const database = libraries[name](':memory:');
    const store = plain(sqliteStore(database));
    await store.open({ migrate: 'create' });
    await store.commit(creation('s', { app: { set: { n: 0 } }, user: { set: { n: 0 } } }));
    const count = 2500;
    for (let number = 1; number <= count; number++) {
      await store.commit(
        update(`u${number}`, { app: { set: { n: number, ...(number === count - 1000 && { late: 1 }) } } }),
      );
    }
    const since = async (pos) => {
      const known = { pos: { app: pos }, marks: { app: pos === 1 ? 's' : `u${pos - 1}` } };
      const { changed, state } = await store.load(key(), { known, events: { last: 0 } });
      assert.equal(state.app === undefined, changed?.app !== undefined);
      return changed?.app && [{ ...changed.app.set }, changed.app.unset];
    };
    assert.deepEqual(await since(count), [{ n: count }, []]);
    assert.deepEqual(await since(count - 1000), [{ n: count, late: 1 }, ['late']]);
    assert.deepEqual(await since(count - 999), [{ n: count }, []]);
    // Wherever a text of many changes begins or ends.
    for (let pos = count - 200; pos < count; pos++) {
      assert.deepEqual(await since(pos), [{ n: count }, []], `since ${pos}`);
    }
    assert.equal(await since(count - 1100), undefined);
    assert.equal(await since(1), undefined);
    // That of the user is another one, and is not trimmed by that of the app.
    const [{ texts, characters }] = rows(
      database,
      'SELECT count(*) AS texts, sum(length(entries)) AS characters FROM statepad_changes',
    );
    assert.ok(texts <= 40 && characters < 60_000, `${texts} texts of ${characters} characters`);
    const [{ recent }] = rows(database, `SELECT max(length(recent)) AS recent FROM statepad_scopes_v2`);
    assert.ok(recent < 32 * 200, `${recent} characters`);
    await store.close();
    database.close();
  });

  test(`${name}: a change with very many names is not told, and those behind it are`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = plain(sqliteStore(database));
      await store.open({ migrate: 'create' });
      await store.commit(creation('s', { app: { set: { n: 0 } } }));
      const set = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`name ${index}`, index]));
      await store.commit(update('u1', { app: { set } }));
      await store.commit(update('u2', { app: { set: { n: 2 } } }));
      const told = async (pos, app) =>
        (await store.load(key(), { known: { pos: { app: pos }, marks: { app } } })).changed;
      assert.equal(await told(1, 's'), undefined);
      assert.deepEqual({ ...(await told(2, 'u1')).app.set }, { n: 2 });
      assert.equal(Object.keys((await store.load(key(), {})).state.app).length, 3001);
      // A long one does not stay in the row that each change writes.
      await store.commit(update('u3', { app: { set: { ['long '.repeat(50)]: 1 } } }));
      assert.deepEqual(rows(database, `SELECT recent FROM statepad_scopes_v2 WHERE scope = '["a"]'`), [
        { recent: '' },
      ]);
      assert.equal(Object.keys((await told(2, 'u1')).app.set).length, 2);
    }));

  test(`${name}: a change costs as many statements after a thousand others as before them`, () =>
    withFile(name, async (file) => {
      let count = 0;
      const store = plain(sqliteStore(observed(file.connect(), { before: () => count++ }), { synchronous: 'normal' }));
      await store.open({ migrate: 'create' });
      await store.commit(creation('s', { app: { set: { n: 0 } } }));
      const cost = async (number, delta) => {
        count = 0;
        await store.commit(event(`e${number}`, delta));
        return count;
      };
      const app = { app: { set: { n: 1 }, unset: ['gone'] } };
      const before = [await cost(1, {}), await cost(2, app)];
      // With those that begin and end it, and of the event, the session, the scope and two names.
      assert.deepEqual(before, [5, 8]);
      for (let number = 3; number < 1040; number++) {
        await cost(number, app);
      }
      assert.deepEqual([await cost(2000, {}), await cost(2001, app)], before);
    }));
}

const [first] = Object.keys(libraries);

test('what is no connection is refused at once, with what to pass', async () => {
  await wrongOnes((database) => sqliteStore(database), 'prepare');
  assert.throws(() => sqliteStore('x.db'), {
    name: 'StatepadError',
    code: 'INVALID_ARGUMENT',
    message: "sqliteStore needs an open connection, say new DatabaseSync('sessions.db') of node:sqlite, not a string",
  });
  assert.throws(() => sqliteStore({ prepare() {} }), { code: 'INVALID_ARGUMENT', message: /without exec$/ });
});

test('options that are none are refused at once, by name', () => {
  const database = libraries[first](':memory:');
  const refused = (options, path) =>
    assert.throws(() => sqliteStore(database, options), { name: 'StatepadError', code: 'INVALID_ARGUMENT', path });
  refused(null, 'options');
  refused('full', 'options');
  refused({ synchronous: 'of' }, 'synchronous');
  refused({ synchronous: true }, 'synchronous');
  refused({ journalMode: 'delete' }, 'journalMode');
  refused({ busyTimeout: -1 }, 'busyTimeout');
  refused({ busyTimeout: NaN }, 'busyTimeout');
  refused({ busyTimeout: '5' }, 'busyTimeout');
  sqliteStore(database, { synchronous: undefined, journalMode: undefined, busyTimeout: Infinity });
  database.close();
});
