// Unreadable rows in SQLite: the store says which session or app it is, and goes on with the others.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import {
  ascending,
  bare,
  create,
  creation,
  event,
  failure,
  filled,
  key,
  libraries,
  outcome,
  plain,
  rows,
  withFile,
} from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  test(`${name}: a number that JavaScript cannot hold is told by its name and its digits`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      const number = '9007199254740993';
      database.exec(
        `UPDATE statepad_values SET value = '${number}' WHERE owner = (SELECT n FROM statepad_sessions WHERE id = 's')`,
      );
      await assert.rejects(store.load(key(), {}), {
        code: 'corrupt',
        message: new RegExp(`has the number ${number},`),
      });
      assert.deepEqual((await store.list(ascending)).corrupt, [key()]);
    }));

  test(`${name}: a value that cannot be read spoils its own session and no other`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      await store.commit(creation('t', { session: { set: { n: 1 } } }));
      await store.commit(creation('other', { userId: 'v', user: { set: { v: 1 } } }));
      database.exec(
        `UPDATE statepad_values SET value = '{"torn' WHERE owner = (SELECT n FROM statepad_sessions WHERE id = 's')`,
      );
      assert.equal(await failure(store.load(key(), {})), 'corrupt');
      assert.deepEqual((await store.load(key('t'), {})).state.session, bare({ n: 1 }));
      const page = await store.list(ascending);
      assert.deepEqual(page.corrupt, [key()]);
      assert.deepEqual(
        page.rows.map((row) => row.key.sessionId),
        ['other', 't'],
      );
      assert.equal(page.total, 3);

      // A user's value is part of each of the user's sessions.
      database.exec(
        `UPDATE statepad_values SET value = 'no' WHERE owner = (SELECT n FROM statepad_scopes WHERE scope = '["a","u"]')`,
      );
      assert.equal(await failure(store.load(key('t'), {})), 'corrupt');
      assert.equal(await failure(store.loadScope({ app: 'a', user: 'u' })), 'corrupt');
      assert.deepEqual(await store.loadScope({ app: 'a', user: 'v' }), {
        pos: 1,
        state: bare({ v: 1 }),
        mark: 'other',
      });
      const rest = await store.list(ascending);
      assert.deepEqual(rest.corrupt, [key('t'), key()]);
      assert.deepEqual(
        rest.rows.map((row) => row.key.sessionId),
        ['other'],
      );

      database.exec(
        `UPDATE statepad_values SET value = '' WHERE owner = (SELECT n FROM statepad_scopes WHERE scope = '["a"]')`,
      );
      assert.equal(await failure(store.list(ascending)), 'corrupt');
    }));

  for (const [part, member] of [
    ['session', 'sessionId'],
    ['user', 'userId'],
  ]) {
    test(`${name}: a list is followed past sessions that are corrupt with their ${part}`, () =>
      withFile(name, async (file) => {
        const damage = (keys) => {
          const database = file.connect();
          const spoilt = keys.map((key) => `'"${key[member]}"'`).join(', ');
          database.exec(`UPDATE statepad_values SET value = '{' WHERE value IN (${spoilt})`);
        };
        await checkCorruptPages({ part, open: () => file.store(), damage });
      }));
  }

  test(`${name}: a session whose row cannot be read refuses changes, and others among the same are written`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      await store.commit(creation('t'));
      database.exec(`UPDATE statepad_sessions SET rev = 'many' WHERE id = 's'`);
      assert.equal(await failure(store.commit(event('e2'))), 'corrupt');
      const [torn, whole] = await store.commitMany([event('e2'), event('e1', { sessionId: 't' })]);
      assert.equal(torn.code, 'corrupt');
      assert.deepEqual(await outcome(whole), { rev: 1, prev: 0, pos: { app: 1, user: 1 } });
      assert.deepEqual((await store.list(ascending)).corrupt, [key()]);
    }));

  test(`${name}: an event that is not there, or is no text, is corrupt, and only where it is wanted`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const store = await filled(database);
      for (const id of ['e2', 'e3', 'e4']) {
        await store.commit(event(id));
      }
      database.exec(`UPDATE statepad_events SET data = x'00ff' WHERE id = 'e3'`);
      database.exec(`DELETE FROM statepad_events WHERE id = 'e1'`);
      const pos = { app: 1, user: 1 };
      assert.deepEqual((await store.load(key(), { events: { last: 1 } })).events, [
        { rev: 4, data: '{"id":"e4"}', id: 'e4', pos },
      ]);
      assert.deepEqual((await store.load(key(), { events: { from: 2, to: 2 } })).events, [
        { rev: 2, data: '{"id":"e2"}', id: 'e2', pos },
      ]);
      assert.equal(await failure(store.load(key(), { events: { last: 2 } })), 'corrupt');
      assert.equal(await failure(store.load(key(), { events: { to: 2 } })), 'corrupt');
    }));

  test(`${name}: a file that is no database, or a damaged one, is corrupt`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      await filled(database);
      // All of it lies in the file itself then.
      rows(database, 'PRAGMA wal_checkpoint(TRUNCATE)');
      file.disconnect();
      const bytes = readFileSync(file.path);
      // The first page says where all tables are; everything behind it is gone.
      writeFileSync(
        file.path,
        bytes.map((byte, at) => (at < 4096 ? byte : 0xa5)),
      );
      const damaged = plain(file.store());
      const outcome = await failure(damaged.open(create));
      assert.equal(outcome === 'nothing is thrown' ? await failure(damaged.load(key(), {})) : outcome, 'corrupt');
      file.disconnect();
      writeFileSync(file.path, 'This is a letter, and no database at all.'.repeat(100));
      assert.equal(await failure(plain(file.store()).open(create)), 'corrupt');
    }));
}
