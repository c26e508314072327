// Faults in SQLite: the errors of the store, and the proof that nothing is ever half written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import {
  ascending,
  bare,
  create,
  creation,
  dump,
  event,
  failure,
  filled,
  hasLog,
  key,
  libraries,
  observed,
  outcome,
  plain,
  rows,
  update,
  withFile,
} from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  test(`${name}: while another connection writes, a change is unavailable; afterwards the same one is written`, () =>
    withFile(name, async (file) => {
      const store = await filled(file.connect(), { busyTimeout: 1 });
      const other = file.connect();
      other.exec('BEGIN IMMEDIATE');
      const change = event('e2', { session: { set: { n: 3 } }, app: { set: { a: 2 } } });
      assert.equal(await failure(store.commit(change)), 'unavailable');
      assert.equal(await failure(store.commitMany([change, event('e3', { sessionId: 't' })])), 'unavailable');
      assert.equal(await failure(store.remove(key())), 'unavailable');
      assert.equal(await failure(store.removeScope({ app: 'a' })), 'unavailable');
      const reading = store.load(key(), {});
      assert.equal(hasLog(name) ? (await reading).rev : await failure(reading), hasLog(name) ? 1 : 'unavailable');
      other.exec('ROLLBACK');
      assert.deepEqual(await outcome(store.commit(change)), { rev: 2, prev: 1, pos: { app: 2, user: 1 } });
      assert.deepEqual((await store.load(key(), {})).state, {
        session: bare({ n: 3 }),
        app: bare({ a: 2 }),
        user: bare({ u: 1 }),
      });
    }));

  if (hasLog(name)) {
    test(`${name}: without a write-ahead log, a change that a reader keeps from its end is unavailable`, () =>
      withFile(name, async (file) => {
        const database = file.connect();
        const store = await filled(database, { journalMode: 'keep', busyTimeout: 1 });
        const reader = file.connect();
        reader.exec('BEGIN');
        const before = dump(reader);
        assert.equal(await failure(store.commit(event('e2', { app: { set: { a: 2 } } }))), 'unavailable');
        assert.equal((await store.load(key(), {})).rev, 1);
        assert.deepEqual(dump(reader), before);
        reader.exec('COMMIT');
        assert.deepEqual(dump(database), before);
        assert.equal((await store.commit(event('e2', { app: { set: { a: 2 } } }))).rev, 2);
      }));
  }

  test(`${name}: with a full disk a change is unavailable; when there is room, the same one is written`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      const [{ page_count: pages }] = rows(database, 'PRAGMA page_count');
      database.exec(`PRAGMA max_page_count = ${pages + 1}`);
      const before = dump(database);
      const change = event('e2', {
        data: JSON.stringify('x'.repeat(100_000)),
        session: { set: { n: 3 } },
        app: { set: { a: 2 } },
      });
      assert.equal(await failure(store.commit(change)), 'unavailable');
      assert.equal(
        await failure(store.commitMany([event('small', { app: { set: { a: 3 } } }), change])),
        'unavailable',
      );
      assert.deepEqual(dump(database), before);
      assert.equal((await store.commit(event('small'))).rev, 2);
      database.exec('PRAGMA max_page_count = 1000000');
      assert.deepEqual(await outcome(store.commit(change)), { rev: 3, prev: 2, pos: { app: 2, user: 1 } });
    }));

  test(`${name}: an error at any statement leaves everything as it was, and the same request succeeds afterwards`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      await filled(database);
      let steps = Infinity;
      const step = (kind) => (sql) => {
        // The statement that undoes the rest does not fail: a lost connection is another test. A transaction that has
        // begun has begun.
        if (kind === failing && sql !== 'ROLLBACK' && `${sql} ${kind}` !== 'BEGIN IMMEDIATE after' && steps-- === 0) {
          throw new Error('torn');
        }
      };
      let failing = 'before';
      const store = plain(sqliteStore(observed(database, { before: step('before'), after: step('after') })));
      const values = (n) => ({ set: { n, other: n }, unset: ['gone'] });
      const requests = {
        create: (n) => store.commit(creation(`c${n}`, { session: values(n), user: values(n), app: values(n) })),
        'create for a new user': (n) =>
          store.commit(creation(`d${n}`, { userId: `u${n}`, session: values(n), user: values(n) })),
        append: (n) => store.commit(event(`a${n}`, { session: values(n), user: values(n), app: values(n) })),
        update: (n) => store.commit(update(`m${n}`, { userId: 'u', user: values(n), app: values(n) })),
        many: (n) =>
          store.commitMany([
            event(`b${n}`, { app: values(n) }),
            creation(`x${n}`, { session: values(n) }),
            update(`y${n}`, { app: values(n) }),
          ]),
        remove: (n) => store.remove(key(n % 2 === 0 ? 'c0' : 'c1')),
        removeScope: () => store.removeScope({ app: 'a', user: 'u' }),
      };
      let number = 0;
      for (const [what, request] of Object.entries(requests)) {
        for (failing of ['before', 'after']) {
          const n = number++ % 2;
          const before = dump(database);
          let tried = 0;
          for (; ; tried++) {
            steps = tried;
            const outcome = await failure(request(n));
            if (steps >= 0) {
              assert.equal(outcome, 'nothing is thrown', what);
              break;
            }
            // The only one that may have come to be done is the last: then it is unknown, and the error says nothing.
            assert.ok(outcome === 'torn' || (tried === 0 && outcome === 'unavailable'), `${what}: ${outcome}`);
            if (
              outcome === 'torn' &&
              failing === 'after' &&
              JSON.stringify(dump(database)) !== JSON.stringify(before)
            ) {
              steps = Infinity;
              await request(n);
              tried++;
              break;
            }
            assert.deepEqual(dump(database), before, `${what}, ${failing} step ${tried}`);
          }
          steps = Infinity;
          assert.ok(tried > 3, `${what} has ${tried} steps`);
          assert.notDeepEqual(dump(database).contents, before.contents, what);
        }
      }
    }));

  test(`${name}: when the last word is lost, nothing is said, and the same change is a duplicate`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      await filled(database);
      let isLost = true;
      const after = (sql) => {
        if (sql === 'COMMIT' && isLost) {
          isLost = false;
          throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });
        }
      };
      const store = plain(sqliteStore(observed(database, { after })));
      assert.equal(await failure(store.commit(event('e2', { app: { set: { a: 2 } } }))), 'disk I/O error');
      const again = await outcome(store.commit(event('e2', { app: { set: { a: 2 } } })));
      assert.deepEqual(again, { rev: 2, prev: 2, pos: { app: 2, user: 1 }, duplicate: true, data: '{"id":"e2"}' });
    }));

  test(`${name}: an error of the disk before the end is unavailable, as all is undone`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      await filled(database);
      const before = (sql) => {
        if (sql.startsWith('UPDATE')) {
          throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
        }
      };
      const was = dump(database);
      assert.equal(
        await failure(plain(sqliteStore(observed(database, { before }))).commit(event('e2'))),
        'unavailable',
      );
      assert.deepEqual(dump(database), was);
    }));

  for (const [kind, members] of Object.entries({
    named: { code: 'SQLITE_TOOBIG' },
    numbered: { errcode: 18 },
    'told in words': {},
  })) {
    test(`${name}: what is too big is rejected with its size, and the others are written (an error that is ${kind})`, () =>
      withFile(name, async (file) => {
        const database = file.connect();
        await filled(database);
        const isBig = (values) => values.flat().some((value) => typeof value === 'string' && value.length >= 1000);
        const refuse = {
          exec: (sql) => database.exec(sql),
          prepare: (sql) => {
            const statement = database.prepare(sql);
            const run = (...values) => {
              if (isBig(values)) {
                throw Object.assign(new Error('string or blob too big'), members);
              }
              return statement.run(...values);
            };
            return new Proxy(statement, {
              get: (target, member) =>
                member === 'run'
                  ? run
                  : typeof target[member] === 'function'
                    ? target[member].bind(target)
                    : target[member],
            });
          },
        };
        const store = plain(sqliteStore(refuse));
        const big = event('big', { data: 'é'.repeat(1000) });
        const size = (error) => error.code === 'rejected' && error.size >= 2000 && error.size < 2100;
        await assert.rejects(store.commit(big), size);
        const [small, refused, last] = await store.commitMany([
          creation('t'),
          big,
          update('x', { app: { set: { a: 9 } } }),
        ]);
        assert.deepEqual(await outcome(small), { rev: 0, prev: null, pos: { app: 1, user: 1 } });
        assert.ok(size(refused));
        assert.deepEqual(await outcome(last), { rev: 0, prev: null, pos: { app: 2, user: 0 } });
        assert.deepEqual(
          (await store.list(ascending)).rows.map((row) => [row.key.sessionId, row.rev]),
          [
            ['t', 0],
            ['s', 1],
          ],
        );
      }));
  }

  test(`${name}: a transaction that is open on the connection is left alone`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      database.exec('CREATE TABLE mine (n INTEGER); BEGIN; INSERT INTO mine VALUES (1)');
      assert.equal(await failure(store.commit(event('e2'))), 'unavailable');
      assert.equal(await failure(store.load(key(), {})), 'unavailable');
      database.exec('INSERT INTO mine VALUES (2); COMMIT');
      assert.deepEqual(rows(database, 'SELECT n FROM mine'), [{ n: 1 }, { n: 2 }]);
      assert.equal((await store.commit(event('e2'))).rev, 2);
    }));

  test(`${name}: where nothing may be written, a change is unavailable`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      database.exec('PRAGMA query_only = 1');
      assert.equal(await failure(store.commit(event('e2'))), 'unavailable');
      database.exec('PRAGMA query_only = 0');
      assert.equal((await store.commit(event('e2'))).rev, 2);
    }));

  test(`${name}: with a closed connection everything is unavailable`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      file.disconnect();
      assert.equal(await failure(store.commit(event('e2'))), 'unavailable');
      assert.equal(await failure(store.load(key(), {})), 'unavailable');
    }));

  test(`${name}: closing the store lets go of its statements, and leaves the connection open`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const statements = [];
      const store = plain(sqliteStore(observed(database, { prepared: (_, statement) => statements.push(statement) })));
      await store.open(create);
      await store.commit(creation('s'));
      await store.list(ascending);
      await store.close();
      assert.ok(statements.length > 10);
      assert.deepEqual(
        statements.filter(({ isFinalized }) => isFinalized === false),
        [],
      );
      assert.deepEqual(rows(database, 'SELECT count(*) AS n FROM statepad_sessions'), [{ n: 1 }]);
    }));
}
