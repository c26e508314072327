// The reports of the SQLite store about the changes of others, over many changes; and the arguments that it refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { toldOnes, wrongOnes } from '../cloudflare/common.js';
import { creation, event, key, libraries, observed, plain, rows, update, withFile } from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  test(`${name}: what others have done is told as the reference tells it, over many changes`, () => {
    const database = libraries[name](':memory:');
    return toldOnes(sqliteStore(database)).finally(() => database.close());
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
    // The log of the user is another one: a trim of the app's log leaves it alone.
    const [{ texts, characters }] = rows(
      database,
      'SELECT count(*) AS texts, sum(length(entries)) AS characters FROM statepad_changes',
    );
    assert.ok(texts <= 40 && characters < 60_000, `${texts} texts of ${characters} characters`);
    const [{ recent }] = rows(database, `SELECT max(length(recent)) AS recent FROM statepad_scopes`);
    assert.ok(recent < 32 * 200, `${recent} characters`);
    await store.close();
    database.close();
  });

  test(`${name}: changes that are written together read the history of a scope once, and tell what the reference does`, () =>
    withFile(name, async (file) => {
      const seen = [];
      const stores = [
        plain(sqliteStore(observed(file.connect(), { before: (sql) => seen.push(sql) }))),
        plain(memoryStore()),
      ];
      await stores[0].open({ migrate: 'create' });
      const both = (use) => Promise.all(stores.map(use));
      await both((store) => store.commit(creation('s', { app: { set: { n: 0 } }, user: { set: { m: 0 } } })));
      // More than one row of changes has: some of them have moved to the table of older ones.
      for (let first = 0; first < 90; first++) {
        await both((store) => store.commit(update(`u${first}`, { app: { set: { n: first } } })));
      }
      const many = Array.from({ length: 64 }, (_, at) => ({
        ...update(`w${at}`, {
          userId: 'u',
          app: at % 3 === 0 ? { set: { [`k${at % 7}`]: at, n: -1 - at } } : { set: { n: at }, unset: [`k${at % 5}`] },
          user: at % 4 === 0 ? undefined : { set: { m: at } },
        }),
        // Not all know as much; one has the mark of another change.
        known: {
          pos: { app: 1 + 90 - (at % 4) * 20, user: 1 },
          marks: { app: at === 9 ? 'other' : `u${89 - (at % 4) * 20}`, user: 's' },
        },
      }));
      seen.length = 0;
      const [told, wanted] = await both((store) => store.commitMany(many));
      assert.deepEqual(told, wanted);
      assert.ok(wanted[63].changed.app.unset.length > 0);
      const reading = seen.filter((sql) => /^SELECT pos, (recent|entries)/.test(sql));
      // The app's and the user's last changes once each; older ones of the app for each caller who is further behind.
      assert.ok(reading.length <= 2 + 4 + 1, `${reading.length} statements read what was changed`);
    }));

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
      assert.deepEqual(rows(database, `SELECT recent FROM statepad_scopes WHERE scope = '["a"]'`), [{ recent: '' }]);
      assert.equal(Object.keys((await told(2, 'u1')).app.set).length, 2);
    }));

  for (const log of [true, false]) {
    const title = `${name}: a change costs as many statements after a thousand others as before them`;
    test(`${title}${log ? '' : ', and fewer without a log'}`, () =>
      withFile(name, async (file) => {
        let count = 0;
        const database = observed(file.connect(), { before: () => count++ });
        const store = plain(sqliteStore(database, { synchronous: 'normal', log }));
        await store.open({ migrate: 'create' });
        await store.commit(creation('s', { app: { set: { n: 0 } } }));
        const cost = async (number, delta) => {
          count = 0;
          await store.commit(event(`e${number}`, delta));
          return count;
        };
        const app = { app: { set: { n: 1 }, unset: ['gone'] } };
        const before = [await cost(1, {}), await cost(2, app)];
        // With those that begin and end it, and of the event, the session, the scope and the name that is set; two
        // that read what is under the names, and one of the log.
        assert.deepEqual(before, [5, log ? 10 : 9]);
        for (let number = 3; number < 1040; number++) {
          await cost(number, app);
        }
        assert.deepEqual([await cost(2000, {}), await cost(2001, app)], before);
      }));
  }
}

const [first] = Object.keys(libraries);

test('what is neither a path nor a connection is refused at once, with what to pass', async () => {
  await wrongOnes((database) => sqliteStore(database), 'prepare', true);
  assert.throws(() => sqliteStore(true), {
    name: 'StatepadError',
    code: 'INVALID_ARGUMENT',
    message:
      "sqliteStore needs a path, such as 'sessions.db', or an open connection, such as new DatabaseSync('sessions.db'), " +
      'not a boolean',
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
  refused({ log: 'no' }, 'log');
  refused({ log: null }, 'log');
  refused({ pollMs: 0 }, 'pollMs');
  refused({ pollMs: NaN }, 'pollMs');
  refused({ pollMs: '5' }, 'pollMs');
  sqliteStore(database, { synchronous: undefined, journalMode: undefined, busyTimeout: Infinity, pollMs: Infinity });
  database.close();
});
