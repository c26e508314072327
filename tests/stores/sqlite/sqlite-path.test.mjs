// The store that is given a path: it opens the database itself, by what this Node has, and closes it.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SessionService } from 'statepad';
import { sqliteStore } from 'statepad/stores/sqlite';
import { storeTests } from '../support/run.mjs';
import { create, creation, event, failure, key, libraries, plain, rows } from './libraries.mjs';

/** A folder in memory, where there is a place for that, which goes away after `use`. */
function newFolder() {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'statepad-path-'));
}

async function withFolder(use) {
  const folder = newFolder();
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

storeTests('a path', () => {
  const folder = newFolder();
  const stores = [];
  const store = () => {
    stores.push(sqliteStore(join(folder, 'sessions.db'), { pollMs: 5 }));
    return stores.at(-1);
  };
  const close = async () => {
    for (const each of stores.splice(0)) await each.close();
  };
  const reopen = async () => {
    await close();
    return store();
  };
  const dispose = async () => {
    await close();
    rmSync(folder, { recursive: true });
  };
  return { store: store(), another: store, reopen, dispose };
});

for (const [what, pathIn] of Object.entries({
  'an absolute path': (folder) => join(folder, 'sessions.db'),
  'the URL of a file': (folder) => pathToFileURL(join(folder, 'sessions.db')),
  'the text of such a URL': (folder) => pathToFileURL(join(folder, 'sessions.db')).href,
  'a path from the folder of the moment': () => 'sessions.db',
})) {
  test(`${what} names a file that is made, set up, and closed with the service`, () =>
    withFolder(async (folder) => {
      const path = pathIn(folder);
      const before = process.cwd();
      process.chdir(folder);
      const store = sqliteStore(path);
      process.chdir(before);
      assert.deepEqual(readdirSync(folder), [], 'nothing is opened before it is needed');
      assert.equal(store.durability, 'disk');
      const service = new SessionService({ store });
      const place = { appName: 'a', userId: 'u', sessionId: 's' };
      const session = await service.createSession({ ...place, state: { n: 1 } });
      await service.appendEvent({ session, event: { author: 'u' } });
      assert.deepEqual(readdirSync(folder).sort(), ['sessions.db', 'sessions.db-shm', 'sessions.db-wal']);
      await service.close();
      // The last connection has gone.
      assert.deepEqual(readdirSync(folder), ['sessions.db']);
      const [open] = Object.values(libraries);
      const database = open(join(folder, 'sessions.db'));
      assert.deepEqual(rows(database, 'PRAGMA journal_mode'), [{ journal_mode: 'wal' }]);
      database.close();
      const again = new SessionService({ store: sqliteStore(join(folder, 'sessions.db'), { synchronous: 'normal' }) });
      assert.equal((await again.getSession(place)).events.length, 1);
      await again.close();
    }));
}

test('a database in memory ends with the service', async () => {
  const store = sqliteStore(':memory:');
  assert.equal(store.durability, 'memory');
  const place = { appName: 'a', userId: 'u', sessionId: 's' };
  for (const round of [1, 2]) {
    const service = new SessionService({ store });
    assert.equal(await service.getSession(place), undefined, `round ${round}`);
    await service.createSession(place);
    assert.equal((await service.getSession(place)).id, 's');
    await service.close();
  }
});

test('durability says what synchronous makes of a path', () => {
  assert.equal(sqliteStore('sessions.db', { synchronous: 'normal' }).durability, 'os');
});

test('two services on one store: the file is closed with the second one', () =>
  withFolder(async (folder) => {
    const store = sqliteStore(join(folder, 'sessions.db'));
    const [first, second] = [new SessionService({ store }), new SessionService({ store })];
    const place = { appName: 'a', userId: 'u', sessionId: 's' };
    await first.createSession(place);
    assert.equal((await second.getSession(place)).id, 's');
    await first.close();
    const session = await second.getSession(place);
    await second.appendEvent({ session, event: { author: 'u' } });
    await second.close();
    assert.deepEqual(readdirSync(folder), ['sessions.db']);
  }));

test('what cannot be a database is refused with its path, makes nothing, and can be opened when it can', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'text.db'), 'no database at all '.repeat(100));
    for (const [name, code, told] of [
      ['none/sessions.db', 'rejected', /none\/sessions\.db": there is no folder "\/.*\/none"$/],
      ['.', 'rejected', /": it is a folder$/],
      ['text.db/sessions.db', 'rejected', /text\.db\/sessions\.db": "\/.*\/text\.db" is not a folder$/],
      ['text.db', 'corrupt', /text\.db": the database says: file is not a database$/],
    ]) {
      const store = plain(sqliteStore(`${folder}/${name}`));
      await assert.rejects(store.open(create), (error) => {
        assert.equal(error.code, code, name);
        assert.match(error.message, told);
        assert.ok(error.message.includes(`${folder}/${name}`));
        return true;
      });
    }
    assert.deepEqual(readdirSync(folder), ['text.db']);
    const late = plain(sqliteStore(join(folder, 'none', 'sessions.db')));
    assert.equal(await failure(late.open(create)), 'rejected');
    assert.equal(await failure(late.commit(creation('s'))), 'unavailable');
    mkdirSync(join(folder, 'none'));
    await late.open(create);
    await late.commit(creation('s'));
    assert.equal((await late.commit(event('e1'))).rev, 1);
    await late.close();
    assert.equal(await failure(late.load(key(), {})), 'unavailable');
  }));

test("'check' makes no file", () =>
  withFolder(async (folder) => {
    const store = plain(sqliteStore(join(folder, 'sessions.db')));
    await assert.rejects(store.open({ migrate: 'check' }), { code: 'rejected', message: /there is no such file/ });
    assert.deepEqual(readdirSync(folder), []);
    await store.open(create);
    await store.close();
    await store.open({ migrate: 'check' });
    await store.close();
  }));

for (const [given, told] of [
  ['', /^path must be/],
  ['a\0b', /^path must not contain/],
  ['file:sessions.db', /"file:sessions\.db".*file:\/\/\/folder\/name/],
  ['file:///sessions.db?mode=ro', /without a query/],
  ['file://elsewhere/sessions.db', /"file:\/\/elsewhere\/sessions\.db"/],
  [new URL('https://localhost/sessions.db'), /^path must be a file/],
  [7, /needs a path, such as 'sessions\.db', or an open connection.*not a number/],
  [undefined, /needs a path.*not undefined/],
]) {
  test(`${JSON.stringify(String(given))} is no path`, () => {
    assert.throws(() => sqliteStore(given), { code: 'INVALID_ARGUMENT', message: told });
  });
}
