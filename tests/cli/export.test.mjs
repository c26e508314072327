// `statepad export`, as a process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { openLines } from 'statepad/jsonl';
import { fileJournal } from 'statepad/stores/journal';
import { sqliteStore } from 'statepad/stores/sqlite';
import { runs, start, started } from './process.mjs';
import { fill, linesOf, testFolder } from './stored.mjs';

const folder = testFolder();
const database = join(folder, 'sessions.db');
await fill(sqliteStore(database));
const all = await linesOf(sqliteStore(database));

const parsed = (text) => text.split('\n').filter(Boolean).map(JSON.parse);
const sessionsIn = (lines) =>
  lines.filter(({ kind }) => kind === 'session').map(({ userId, id }) => `${userId}/${id}`);

describe('statepad export', () => {
  it('writes all apps, with the values of users who have no session', async () => {
    const { code, out, err } = await runs(['export', database]);
    assert.deepEqual([code, out.trimEnd().split('\n')], [0, all]);
    assert.match(err, /^statepad export: 4 sessions, 5 events\n$/);
    const cleo = parsed(out).filter(({ kind, userId }) => kind === 'scope' && userId === 'cleo');
    assert.deepEqual(cleo, [{ kind: 'scope', appName: 'shop', userId: 'cleo', state: { name: 'Cleo' } }]);
  });

  it('makes a file that is there when it is complete, and replaces none without --force', async () => {
    const file = join(folder, 'out.jsonl');
    const first = await runs(['export', database, '--out', file, '--quiet']);
    assert.deepEqual([first.code, first.out, first.err], [0, '', '']);
    assert.deepEqual(readFileSync(file, 'utf8').trimEnd().split('\n'), all);
    writeFileSync(file, 'precious');
    const second = await runs(['export', database, '--out', file]);
    assert.equal(second.code, 1);
    assert.match(second.err, /out\.jsonl is there already: choose another file, or replace it by --force/);
    assert.equal(readFileSync(file, 'utf8'), 'precious');
    assert.equal((await runs(['export', database, '--out', file, '--force'])).code, 0);
    assert.deepEqual(readFileSync(file, 'utf8').trimEnd().split('\n'), all);
  });

  for (const [filters, expected] of [
    [['--app', 'tutor'], ['ana/first']],
    [['--app', 'shop', '--user', 'bob'], ['bob/monday']],
    [
      ['--session', 'mon*'],
      ['ana/monday', 'bob/monday'],
    ],
    [
      ['--user', 'ana', '--user', 'bob', '--app', 'shop'],
      ['ana/monday', 'ana/tuesday', 'bob/monday'],
    ],
    [['--since', '2020-01-01', '--app', 'shop', '--user', 'bob'], ['bob/monday']],
    [['--since', '2199-01-01'], []],
  ]) {
    it(`writes the sessions that ${filters.join(' ')} means`, async () => {
      const { code, out } = await runs(['export', database, ...filters]);
      assert.deepEqual([code, sessionsIn(parsed(out)).sort()], [0, expected]);
    });
  }

  it('hides values by the names of their keys, in lines that can still be opened', async () => {
    const { code, out } = await runs(['export', database, '--redact', 'topic', '--redact', 'user:*']);
    assert.equal(code, 0);
    assert.ok(!/tides|moon|Cleo/.test(out) && out.includes('"lesson":1'), out);
    const { service, sessions } = await openLines(out);
    assert.equal(sessions.length, 4);
    const { state } = await service.getSession({ appName: 'shop', userId: 'ana', sessionId: 'monday' });
    assert.deepEqual([state.topic, state['user:visits']], ['[redacted]', '[redacted]']);
  });

  it('names what is not there, and leaves no file', async () => {
    const file = join(folder, 'none.jsonl');
    const missing = await runs(['export', database, '--app', 'nobody', '--out', file]);
    assert.deepEqual([missing.code, existsSync(file)], [3, false]);
    assert.match(missing.err, /nothing in .*sessions\.db has these names/);
    const away = await runs(['export', join(folder, 'away.db'), '--out', file]);
    assert.deepEqual([away.code, existsSync(file), existsSync(join(folder, 'away.db'))], [1, false, false], away.err);
    const usage = await runs(['export', database, '--since', 'soon']);
    assert.deepEqual([usage.code, /--since takes a time/.test(usage.err)], [2, true]);
  });

  it('ends by a signal without leaving a file behind', async () => {
    const big = join(folder, 'big.jsonl');
    const lines = ['{"kind":"statepad","version":1}'];
    for (let n = 0; n < 20_000; n++) {
      lines.push(JSON.stringify({ kind: 'session', appName: 'a', userId: 'u', id: `s${n}`, timestamp: n, state: {} }));
    }
    writeFileSync(big, `${lines.join('\n')}\n`);
    const place = join(folder, 'signal');
    const { mkdirSync, watch } = await import('node:fs');
    mkdirSync(place);
    const watcher = watch(place);
    const { child, ended } = start(['export', big, '--out', join(place, 'out.jsonl')]);
    await once(watcher, 'change');
    watcher.close();
    assert.equal(readdirSync(place).length, 1);
    child.kill('SIGTERM');
    const { code, err } = await ended;
    assert.deepEqual([code, readdirSync(place)], [143, []]);
    assert.match(err, /SIGTERM: ended before all was done/);
  });

  it('says which session cannot be read, and writes the others', async () => {
    const file = join(folder, 'damaged.log');
    await fill(fileJournal(file));
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('\\"lesson\\":1', '\\"lesson\\":2'));
    const { code, out, err } = await runs(['export', `journal:${file}`]);
    assert.equal(code, 1);
    assert.match(err, /left out, as it cannot be read: session first of ana in tutor/);
    assert.equal(sessionsIn(parsed(out)).length, 3);
  });

  it('reads a server, and gives the same lines as its store', async () => {
    const server = await started(['serve', database, '--port', '0']);
    const { code, out, err } = await runs(['export', server.url], { env: { STATEPAD_TOKEN: server.token } });
    await server.stop();
    assert.equal(code, 0, err);
    const comparable = (lines) =>
      lines.map(JSON.parse).map((line) => (line.kind === 'session' ? { ...line, timestamp: 0 } : line));
    assert.deepEqual(comparable(out.trimEnd().split('\n')), comparable(all));
  });

  it('is what an import of the package makes again', async () => {
    const { out } = await runs(['export', database]);
    const { service } = await openLines(out);
    assert.ok(service instanceof SessionService);
    assert.deepEqual(await service.getUserState({ appName: 'shop', userId: 'ana' }), { visits: 2 });
  });
});
