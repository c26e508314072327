// `statepad import`, as a process.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { SessionService } from 'statepad';
import { fileJournal } from 'statepad/stores/journal';
import { sqliteStore } from 'statepad/stores/sqlite';
import { pythonForTests } from '../import-adk/python.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { runs, started } from './process.mjs';
import { fill, linesOf, testFolder } from './stored.mjs';

const folder = testFolder();
const database = join(folder, 'sessions.db');
await fill(sqliteStore(database));
const all = await linesOf(sqliteStore(database));
const file = join(folder, 'sessions.jsonl');
writeFileSync(file, `${all.join('\n')}\n`);
const noRedis = whyNoRedisServer();
const redis = noRedis ? undefined : await startRedisServer();
after(() => redis?.stop());

let made = 0;
const fresh = (ending = 'db') => join(folder, `target-${made++}.${ending}`);
const sorted = (lines) => [...lines].sort();
const counts = (out) => JSON.parse(out.trimEnd().split('\n').at(-1));

describe('statepad import', () => {
  const targets = {
    'a new SQLite file': [() => fresh(), (path) => sqliteStore(path)],
    'a new journal': [() => `journal:${fresh('log')}`, (address) => fileJournal(address.slice('journal:'.length))],
  };
  for (const [name, [address, store]] of Object.entries(targets)) {
    it(`brings lines into ${name}, with all that an export of it says`, async () => {
      const to = address();
      const { code, out, err } = await runs(['import', file, to]);
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /^imported: {2}4 sessions$/m);
      assert.deepEqual(sorted(await linesOf(store(to))), sorted(all));
    });
  }

  it('brings the sessions of a store into Redis and back', { skip: noRedis }, async () => {
    const there = await runs(['import', database, redis.url, '--json']);
    assert.equal(there.code, 0, there.err);
    const back = fresh();
    assert.equal((await runs(['import', redis.url, back])).code, 0);
    assert.deepEqual(sorted(await linesOf(sqliteStore(back))), sorted(all));
  });

  it('reads the sessions of a server, and writes none through it', async () => {
    const server = await started(['serve', database, '--port', '0']);
    const env = { STATEPAD_TOKEN: server.token };
    const to = fresh();
    const { code, err } = await runs(['import', server.url, to], { env });
    const through = await runs(['import', file, server.url], { env });
    await server.stop();
    assert.equal(code, 0, err);
    assert.equal((await linesOf(sqliteStore(to))).length, all.length);
    assert.equal(through.code, 2);
    assert.match(through.err, /a server sets the time of a creation by its own clock.*by the address of the store/);
  });

  it('writes nothing in a dry run, and makes no file', async () => {
    const to = fresh();
    const { code, out } = await runs(['import', file, to, '--dry-run', '--json']);
    assert.deepEqual([code, existsSync(to)], [0, false]);
    const { dryRun, imported, there, failed } = counts(out);
    assert.deepEqual([dryRun, imported, there, failed], [true, 4, 0, 0]);
  });

  it('continues what an earlier import has begun, and leaves equal sessions as they are', async () => {
    const to = fresh();
    // The first session with the first of its events, as a crash leaves it.
    const first = all.findIndex((line) => line.includes('"id":"monday"') && line.includes('"ana"'));
    const begun = fresh('jsonl');
    writeFileSync(begun, all.slice(first, first + 2).join('\n'));
    assert.equal((await runs(['import', begun, to])).code, 0);
    const again = await runs(['import', file, to, '--json']);
    assert.deepEqual([again.code, counts(again.out).imported, counts(again.out).there], [0, 4, 0], again.err);
    assert.deepEqual(sorted(await linesOf(sqliteStore(to))), sorted(all));
    const third = await runs(['import', file, to, '--json']);
    assert.deepEqual([third.code, counts(third.out).imported, counts(third.out).there], [0, 0, 4]);
  });

  it('names a different session under the same key, does not touch it, and imports the others', async () => {
    const to = fresh();
    const own = new SessionService({ store: sqliteStore(to) });
    const key = { appName: 'shop', userId: 'bob', sessionId: 'monday' };
    await own.createSession({ ...key, state: { mine: true } });
    await own.updateState({ appName: 'shop' }, () => ({ 'app:open': 'always' }));
    await own.close();
    const { code, out, err } = await runs(['import', file, to]);
    assert.equal(code, 1);
    assert.match(
      err,
      /session monday, user bob, app shop: the service already has it: the key "mine" has a different/,
    );
    assert.match(err, /app shop: the key "open" has a different value .*the service had other sessions and values/);
    assert.match(out, /^imported: {2}3 sessions$/m);
    const service = new SessionService({ store: sqliteStore(to) });
    assert.deepEqual(
      { ...(await service.getSession(key)).state },
      { mine: true, 'app:open': 'always', 'app:asked': 1 },
    );
    await service.close();
  });

  it('leaves out the session with a broken line, by its number, and writes the others', async () => {
    const to = fresh();
    const broken = fresh('jsonl');
    const at = all.findIndex((line) => line.includes('"e2"'));
    writeFileSync(broken, all.map((line, index) => (index === at ? line.slice(0, 40) : line)).join('\n'));
    const { code, out, err } = await runs(['import', broken, to, '--json']);
    assert.equal(code, 1, err);
    assert.deepEqual([counts(out).imported, counts(out).failed], [3, 1]);
    const [problem] = out.trimEnd().split('\n').map(JSON.parse);
    assert.deepEqual([problem.kind, problem.line, problem.sessionId], ['problem', at + 1, 'monday']);
  });

  it('takes the sessions that filters mean, and their values', async () => {
    const to = fresh();
    assert.equal((await runs(['import', file, to, '--app', 'shop', '--session', 'tues*'])).code, 0);
    const lines = (await linesOf(sqliteStore(to), ['shop'])).map(JSON.parse);
    const sessions = lines.filter(({ kind }) => kind === 'session').map(({ id }) => id);
    assert.deepEqual([sessions, lines.filter(({ kind }) => kind === 'scope').length], [['tuesday'], 2]);
  });

  it('refuses what cannot be written, and changes nothing there', async () => {
    const other = fresh();
    const foreign = new Database(other);
    foreign.exec('CREATE TABLE notes (text TEXT)');
    foreign.close();
    const bytes = readFileSync(other);
    const refused = await runs(['import', file, other]);
    assert.deepEqual([refused.code, readFileSync(other).equals(bytes)], [1, true], refused.err);
    for (const [to, code, message] of [
      ['memory:', 2, /memory: keeps nothing/],
      ['out.jsonl', 2, /statepad export FROM --out FILE/],
      [file.replace('.jsonl', '.db'), 2, /FROM and TO are the same/, database],
    ]) {
      const end = await runs(['import', to.endsWith('.db') ? database : file, to]);
      assert.deepEqual([end.code, message.test(end.err)], [code, true], end.err);
    }
    const away = fresh();
    const end = await runs(['import', join(folder, 'away.db'), away]);
    assert.deepEqual([end.code, existsSync(away)], [1, false]);
    assert.match(end.err, /there is no database ".*away\.db"/);
  });
});

const { python, skip } = await pythonForTests();

describe("statepad import, from google-adk's own file", { skip }, () => {
  it('brings every session, says whose it is, and never writes to it', async () => {
    const adk = join(folder, 'session.db');
    const script = new URL('../hosts/adk-python/make/sessions.py', import.meta.url).pathname;
    const args = ['-W', 'ignore', script, 'sqlite', adk];
    const { stdout } = await promisify(execFile)(python, args, { maxBuffer: 2 ** 26 });
    const read = JSON.parse(stdout);
    const copy = join(folder, 'copy.db');
    copyFileSync(adk, copy);
    const to = fresh();
    const { code, out, err } = await runs(['import', copy, to, '--json']);
    assert.deepEqual([code, err], [0, '']);
    assert.match(counts(out).from, /copy\.db \(adk-python-sqlite\)$/);
    assert.equal(counts(out).imported, read.length);
    const into = await runs(['import', file, copy]);
    assert.equal(into.code, 1);
    assert.match(into.err, /is the database of an ADK \(adk-python-sqlite\), which is only read/);
    assert.ok(readFileSync(copy).equals(readFileSync(adk)));
  });
});
