// Files and databases that commands only read: recognized, and left as they are.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import pg from 'pg';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { postgresStore } from 'statepad/stores/postgres';
import { sqliteStore } from 'statepad/stores/sqlite';
import { PYTHON_V1, pythonTables } from '../import-adk/tables.mjs';
import { postgresForTests } from '../support/postgres.mjs';
import { runs } from './process.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const KEY = { appName: 'shop', userId: 'ana', sessionId: 's' };

/** The files of the folder that begin with a name, with the digests of their bytes. */
function filesOf(name) {
  const digest = (file) =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex');
  return Object.fromEntries(
    readdirSync(folder)
      .filter((file) => file.startsWith(name))
      .map((file) => [file, digest(file)]),
  );
}

/** Fills a store with one session. */
async function fill(store) {
  const service = new SessionService({ store });
  const session = await service.createSession({ ...KEY, state: { topic: 'tides', 'user:name': 'Ana' } });
  await service.appendEvent({ session, event: { author: 'ana', content: { parts: [{ text: 'a secret text' }] } } });
  await service.close();
}

/** Runs a command that has to be refused. */
async function refused(args, message, options) {
  const { code, out, err } = await runs(args, { cwd: folder, ...options });
  assert.deepEqual([code, out], [1, ''], err);
  assert.match(err, message);
  return err;
}

describe('statepad show', () => {
  test('reads an SQLite file of statepad without changing a byte', async () => {
    const database = new Database(join(folder, 'own.db'));
    await fill(sqliteStore(database));
    database.close();
    const before = filesOf('own');
    assert.deepEqual(Object.keys(before), ['own.db']);
    const read = async () => {
      const { code, out, err } = await runs(['show', 'own.db', 'shop', 'ana', 's', '--json'], { cwd: folder });
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /tides/);
    };
    await read();
    assert.deepEqual(filesOf('own'), before);
  });

  test('reads the SQLite file of an ADK, and no command writes to it', async () => {
    const path = join(folder, 'agent.db');
    const tables = pythonTables();
    tables.session('shop', 'ana', 's', { topic: 'moon' });
    await tables.database.backup(path);
    const before = filesOf('agent');
    const { code, out, err } = await runs(['show', 'agent.db', 'shop', 'ana', 's', '--json'], { cwd: folder });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /moon/);
    await refused(
      ['serve', 'agent.db', '--port', '0'],
      /agent\.db is the database of an ADK \(adk-python-v1\), which is only read: npx statepad import agent\.db/,
    );
    assert.deepEqual(filesOf('agent'), before);
  });

  test('names a file that is missing, empty, of another program, of a newer version, or no database', async () => {
    new Database(join(folder, 'guests.db'))
      .exec('CREATE TABLE guests (name TEXT); CREATE TABLE rooms (n INT)')
      .close();
    new Database(join(folder, 'empty.db')).close();
    const newer = new Database(join(folder, 'newer.db'));
    await fill(sqliteStore(newer));
    newer.exec("UPDATE statepad_meta SET value = '99' WHERE name = 'version'").close();
    const before = readdirSync(folder).sort();
    await refused(['show', 'none.db'], /none\.db": there is no such file/);
    await refused(['show', 'empty.db'], /empty\.db has no sessions: there are no tables in it/);
    await refused(['show', 'guests.db'], /belongs to another program, with the tables guests, rooms/);
    await refused(['show', 'newer.db'], /version 99, newer than \d+: update statepad/);
    await refused(['show', 'sqlite:own.db/x'], /cannot be opened/);
    assert.deepEqual(readdirSync(folder).sort(), before);
  });

  test('reads an encrypted store by the keys of the environment, and names one whose keys are missing', async () => {
    const [key, old, nameKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const base64 = (bytes) => bytes.toString('base64');
    for (const [file, names] of [
      ['sealed.db', {}],
      ['names.db', { names: 'encrypted', nameKey }],
    ]) {
      const database = new Database(join(folder, file));
      await fill(encryptedStore(sqliteStore(database), { keys: [{ id: 'k1', key }], ...names }));
      database.close();
      for (const args of [['shop', 'ana', 's'], ['shop', 'ana'], ['shop']]) {
        const err = await refused(
          ['show', file, ...args],
          /the sessions are encrypted: their keys come from STATEPAD_KEYS/,
        );
        assert.doesNotMatch(err, /sealed1/);
      }
      const env = {
        STATEPAD_KEYS: `k2=${base64(old)},k1=${base64(key)}`,
        ...(file === 'names.db' && { STATEPAD_NAME_KEY: base64(nameKey) }),
      };
      const { code, out, err } = await runs(['show', file, 'shop', 'ana', 's', '--json'], { cwd: folder, env });
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /tides/);
      assert.match(out, /a secret text/);
      const wrong = await refused(['show', file, 'shop', 'ana', 's'], /the key "k1" is missing/, {
        env: { ...env, STATEPAD_KEYS: `k2=${base64(old)}` },
      });
      assert.ok(!wrong.includes(base64(old)));
    }
    for (const keys of ['k1', `k1=${base64(key).slice(4)}`, `=${base64(key)}`, 'k1=***']) {
      const { code, err } = await runs(['show', 'sealed.db'], { cwd: folder, env: { STATEPAD_KEYS: keys } });
      assert.equal(code, 2);
      assert.match(err, /STATEPAD_KEYS: .* must be ID=BASE64,ID=BASE64, 32 bytes each/);
      assert.ok(keys.length < 9 || !err.includes(keys.slice(4, -2)));
    }
  });
});

describe('a Postgres database of an ADK', async () => {
  const { server } = await postgresForTests();
  after(async () => await server?.stop());

  test('is named under postgres://, and read under adk-database:', async (t) => {
    if (server === undefined) return t.skip('no Postgres');
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    await pool.query(PYTHON_V1.replaceAll('DATETIME', 'TIMESTAMP').replaceAll('state TEXT', 'state JSONB'));
    const now = "now() at time zone 'utc'";
    await pool.query(`INSERT INTO sessions VALUES ('shop', 'ana', 's', '{"topic":"sun"}', ${now}, ${now})`);
    await refused(
      ['show', server.url],
      /the database is that of an ADK \(adk-python-v1\): its address begins with adk-database:/,
    );
    const { code, out, err } = await runs(['show', `adk-database:${server.url}`, 'shop', 'ana', 's', '--json'], {
      cwd: folder,
    });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /sun/);
    await fill(postgresStore(pool));
    const own = await runs(['show', server.url, 'shop', 'ana', 's', '--json'], { cwd: folder });
    assert.match(own.out, /tides/);
    await pool.end();
  });
});
