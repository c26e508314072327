// The tables of older versions of the SQLite store, brought up to date; and processes of older and of later versions.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import {
  creation,
  dump,
  event,
  failure,
  key,
  libraries,
  observed,
  plain,
  rows,
  update,
  withFile,
} from './libraries.mjs';

const version1 = readFileSync(new URL('../../fixtures/sqlite-v1.sql', import.meta.url), 'utf8');
/** What version 1 runs, with what it binds, by what it does. */
const oldStatements = JSON.parse(
  readFileSync(new URL('../../fixtures/sqlite-v1-statements.json', import.meta.url), 'utf8'),
);
const texts = { ['']: null, 'a\u0001b': 'c\0d' };
const fox = "o'brien \0 🦊";

/** Everything that there is in the first version's file, read by the store. */
async function read(store) {
  const ada = key('first', 'ada', 'notes');
  return {
    first: await store.load(ada, {}),
    since: await store
      .load(ada, { events: { since: 1700000002000 } })
      .then(({ events }) => events.map(({ rev }) => rev)),
    second: await store.load(key('second', 'ada', 'notes'), {}),
    gone: await store.load(key('gone', 'ada', 'notes'), {}),
    page: await store.list({ app: 'notes', descending: true }),
    total: (await store.list({ app: 'notes', user: 'ada', descending: false, limit: 1 })).total,
    scope: await store.loadScope({ app: 'notes', user: fox }),
  };
}

/** All rows by their tables. */
const contentsOf = (database) => Object.fromEntries(dump(database).contents);

const v = (values) => Object.assign(Object.create(null), values);
const said = (n) => ({ rev: n, id: `e${n}`, data: `{"id":"e${n}","text":"it's \\"${n}\\" 🦊"}` });
const app = v({ motd: 'hello', count: 3 });
const first = { created: 'c1', rev: 3, time: 1700000002000 };
const expected = {
  first: {
    ...first,
    pos: { app: 4, user: 2 },
    state: { session: v({ zeta: 2, late: 2, alpha: 'again' }), app, user: v({ size: 12 }) },
    last: 'e3',
    marks: {},
    events: [said(1), said(2), said(3)],
  },
  since: [2, 3],
  second: {
    created: 'c2',
    rev: 0,
    time: 1700000000001.5,
    pos: { app: 4, user: 2 },
    state: { session: v({}), app, user: v({ size: 12 }) },
    marks: {},
    events: [],
  },
  gone: null,
  page: {
    rows: [
      { key: key('first', 'ada', 'notes'), ...first, state: v({ zeta: 2, late: 2, alpha: 'again' }) },
      { key: key('second', 'ada', 'notes'), created: 'c2', rev: 0, time: 1700000000001.5, state: v({}) },
      { key: key('', fox, 'notes'), created: 'c3', rev: 0, time: -1, state: v(texts) },
    ],
    app,
    users: new Map([
      ['ada', v({ size: 12 })],
      [fox, v({})],
    ]),
    total: 3,
  },
  total: 2,
  scope: { pos: 0, state: v({}) },
};

for (const name of Object.keys(libraries)) {
  test(`${name}: a file of version 1 is brought up to date by 'upgrade', and all is there`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      database.exec(version1);
      const before = contentsOf(database);
      const store = plain(sqliteStore(database));
      await store.open({ migrate: 'upgrade' });
      const found = await read(store);
      assert.deepEqual(found, expected);
      assert.deepEqual(Object.keys(found.first.state.session), ['zeta', 'late', 'alpha']);
      assert.deepEqual(Object.keys(found.first.state.app), ['motd', 'count']);
      // Each row is what it was; what is new in it is empty.
      const after = contentsOf(database);
      const empty = [null, 0, ''];
      for (const [table, content] of Object.entries(before).filter(([table]) => table !== 'statepad_meta')) {
        const now = after[table] ?? after[`${table}_v2`];
        assert.equal(now.length, content.length, table);
        content.forEach((row, at) => {
          const added = Object.entries(now[at]).filter(([column]) => !(column in row));
          assert.deepEqual([...Object.entries(row), ...added], Object.entries({ ...row, ...now[at] }));
          assert.deepEqual(
            added.filter(([, value]) => !empty.includes(value)),
            [],
            table,
          );
        });
      }

      // What it knows of the past still holds, and writing goes on.
      const again = {
        id: 'u1',
        kind: 'update',
        key: { appName: 'notes', userId: 'ada' },
        time: 7,
        delta: { user: { set: { size: 0 } } },
      };
      assert.deepEqual(await store.commit(again), {
        rev: 0,
        prev: null,
        pos: { app: 4, user: 2 },
        duplicate: true,
        before: {},
      });
      const next = {
        ...event('e4', { session: { set: { zeta: 3 } }, user: { set: { size: 13 } } }),
        key: key('first', 'ada', 'notes'),
      };
      const known = { pos: { app: 3, user: 1 }, marks: { app: 'x', user: 'x' } };
      assert.deepEqual(await store.commit({ ...next, known }), {
        rev: 4,
        prev: 3,
        pos: { app: 4, user: 3 },
        before: { session: 'e3' },
      });
      const last = {
        ...event('e5', { app: { set: { count: 5 } } }),
        key: key('first', 'ada', 'notes'),
        known: { pos: { user: 2 }, marks: { user: 'x' } },
      };
      assert.deepEqual(await store.commit(last), {
        rev: 5,
        prev: 4,
        pos: { app: 5, user: 3 },
        before: { user: 'e4', session: 'e4' },
      });
      // The log begins where the upgrade found the scopes, and an event says where they were from then on.
      const by = { userId: 'ada', sessionId: 'first', eventId: 'e5' };
      assert.deepEqual(await store.readLog({ app: 'notes' }, {}), {
        pos: 5,
        base: 4,
        entries: [{ pos: 5, time: 2, by, writes: [{ name: 'count', from: 3, to: 5 }] }],
      });
      assert.deepEqual((await store.readLog({ app: 'notes', user: 'ada' }, {})).base, 2);
      assert.deepEqual(await store.readLog({ app: 'notes', user: fox }, {}), { pos: 0, base: 0, entries: [] });
      const { events } = await store.load(key('first', 'ada', 'notes'), {});
      assert.deepEqual(
        events.map(({ pos }) => pos),
        [undefined, undefined, undefined, { app: 4, user: 3 }, { app: 5, user: 3 }],
      );
      assert.equal((await store.lease(key('first', 'ada', 'notes'), { holder: 'one', ttl: 1 })).fence, 1);
      // Once more changes nothing.
      const upgraded = dump(database);
      await plain(sqliteStore(database)).open({ migrate: 'upgrade' });
      assert.deepEqual(dump(database), upgraded);
    }));

  for (const migrate of ['create', 'check']) {
    test(`${name}: a file of version 1 is refused by '${migrate}' with the line that upgrades it, and stays as it is`, () =>
      withFile(name, async (file) => {
        const database = file.connect();
        database.exec(version1);
        const before = dump(database);
        await assert.rejects(plain(sqliteStore(database)).open({ migrate }), {
          code: 'rejected',
          message:
            "the database has version 1, older than 2: open it once with new SessionService({ store, migrate: 'upgrade' })",
        });
        assert.deepEqual(dump(database), before);
      }));
  }

  test(`${name}: what is made now is what an upgrade makes, name by name`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      await plain(sqliteStore(database)).open({ migrate: 'create' });
      // However a name is quoted, and lines are broken.
      const made = (each) =>
        dump(each).made.map(({ sql, ...rest }) => ({
          ...rest,
          sql: sql?.replaceAll(/["\s]+/g, ' ').replaceAll(/ ?([(),]) ?/g, '$1'),
        }));
      await withFile(name, async (other) => {
        const old = other.connect();
        old.exec(version1);
        await plain(sqliteStore(old)).open({ migrate: 'upgrade' });
        assert.deepEqual(made(old), made(database));
      });
      const contents = dump(database).contents.filter(([, content]) => content.length > 0);
      assert.deepEqual(contents, [['statepad_meta', [{ name: 'version', value: '2' }]]]);
    }));

  test(`${name}: an upgrade that is cut off at any statement has done nothing, and the next one does all`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      database.exec(version1);
      const before = dump(database);
      let steps = 0;
      for (; ; steps++) {
        let left = steps;
        const cut = (sql) => {
          if (/^(ALTER|CREATE|INSERT|COMMIT)/.test(sql) && left-- === 0) {
            throw new Error('torn');
          }
        };
        const torn = await failure(
          plain(sqliteStore(observed(database, { before: cut }))).open({ migrate: 'upgrade' }),
        );
        if (torn === 'nothing is thrown') {
          break;
        }
        assert.equal(torn, 'torn');
        assert.deepEqual(dump(database), before);
      }
      assert.ok(steps > 12, `${steps} steps`);
      assert.deepEqual(await read(plain(file.store())), expected);
    }));

  for (const [what, statements] of Object.entries(oldStatements)) {
    test(`${name}: a process of version 1 that goes on after the upgrade writes nothing: ${what}`, () =>
      withFile(name, async (file) => {
        const [old, database] = [file.connect(), file.connect()];
        old.exec(version1);
        const run = ([sql, values]) => (values === undefined ? old.exec(sql) : rows(old, sql, values));
        // It has used them all before.
        statements
          .filter(([, values]) => values !== undefined)
          .forEach(([sql, values]) => rows(old, `EXPLAIN ${sql}`, values));
        await plain(sqliteStore(database)).open({ migrate: 'upgrade' });
        const before = dump(database);
        const done = [];
        assert.throws(
          () => statements.forEach((statement) => (run(statement), done.push(statement))),
          /no such table: (main\.)?statepad_(scopes|sessions)/,
        );
        assert.ok(
          done.every(([sql]) => !/^(INSERT|UPDATE|DELETE|COMMIT)/.test(sql)),
          'it has written before',
        );
        old.exec('ROLLBACK');
        assert.deepEqual(dump(database), before);
      }));
  }

  test(`${name}: a process of this version writes nothing once a later one has raised the version`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = sqliteStore(database);
      const context = { signal: new AbortController().signal };
      await store.open({ migrate: 'create' }, context);
      await store.commit(creation('s', { user: { set: { n: 1 } } }), context);
      await store.commit(event('e1', { user: { set: { n: 2 } } }), context);
      const later = file.connect();
      later.exec("UPDATE statepad_meta SET value = '3' WHERE name = 'version'");
      const before = dump(later);
      const refused = { code: 'rejected', message: 'the database has version 3, newer than 2: update statepad' };
      const changes = [event('e2'), event('e1'), creation('t'), update('u', { userId: 'u', user: { set: { n: 3 } } })];
      for (const change of changes) {
        await assert.rejects(store.commit(change, context), refused);
        await assert.rejects(store.commit({ ...change, attempt: 2 }, context), refused);
      }
      const outcomes = await store.commitMany(changes, context);
      assert.deepEqual(
        outcomes.map(({ code, message }) => ({ code, message })),
        changes.map(() => refused),
      );
      await assert.rejects(store.remove(key(), context), refused);
      await assert.rejects(store.remove(key(), context, { created: 's' }), refused);
      await assert.rejects(store.removeScope({ app: 'a', user: 'u' }, context), refused);
      await assert.rejects(store.removeScope({ app: 'a' }, context), refused);
      await assert.rejects(store.trimLog({ app: 'a', user: 'u' }, 1, context), refused);
      await assert.rejects(store.lease(key(), { holder: 'one', ttl: 1 }, context), refused);
      assert.deepEqual(dump(later), before);
      later.exec('DELETE FROM statepad_meta');
      assert.equal(await failure(store.commit(event('e2'), context)), 'rejected');
    }));
}
