// `statepad verify`, as a process: it finds damage in what is stored.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { fileJournal } from 'statepad/stores/journal';
import { redisStore } from 'statepad/stores/redis';
import { sqliteStore } from 'statepad/stores/sqlite';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { runs, started } from './process.mjs';
import { fill, testFolder } from './stored.mjs';

const folder = testFolder();
const database = join(folder, 'sessions.db');
const journal = join(folder, 'sessions.log');
await fill(sqliteStore(database));
await fill(fileJournal(journal));
const noRedis = whyNoRedisServer();
const redis = noRedis ? undefined : await startRedisServer();
const client = redis && new Redis(redis.url);
if (client) await fill(redisStore(client));
after(async () => {
  client?.disconnect();
  await redis?.stop();
});

/** A copy of the SQLite file after some SQL. */
function damaged(name, sql) {
  const path = join(folder, `${name}.db`);
  copyFileSync(database, path);
  const opened = new Database(path);
  opened.exec(sql);
  opened.close();
  return path;
}

const MONDAY = `(SELECT n FROM statepad_sessions WHERE user = 'ana' AND id = 'monday')`;
const EVENT = `session = ${MONDAY} AND id`;

/** Damages of the file, by their names: the SQL, and the finding. */
const DAMAGES = {
  'a value that no event wrote': [
    `UPDATE statepad_values SET value = '"sun"' WHERE owner = ${MONDAY} AND name = 'topic'`,
    /^problem: session monday, user ana, app shop: its events write other values than it has, under "topic"$/m,
  ],
  'a value that is lost': [
    `DELETE FROM statepad_values WHERE owner = ${MONDAY} AND name = 'topic'`,
    /session monday, user ana, app shop: its events write other values than it has, under "topic"$/m,
  ],
  'an event that is lost': [
    `DELETE FROM statepad_events WHERE ${EVENT} = 'e2'`,
    /^problem: session monday, user ana/m,
  ],
  'the last event that is lost': [
    `DELETE FROM statepad_events WHERE session = ${MONDAY} AND place = (SELECT max(place) FROM statepad_events WHERE session = ${MONDAY})`,
    /^problem: session monday, user ana/m,
  ],
  'an event that is no JSON': [
    `UPDATE statepad_events SET data = substr(data, 1, 20) WHERE ${EVENT} = 'e1'`,
    /^problem: session monday, user ana, app shop: /m,
  ],
  'an event with the id of another one': [
    `UPDATE statepad_events SET data = replace(data, '"e2"', '"e1"') WHERE ${EVENT} = 'e2'`,
    /session monday, user ana, app shop: the events of revisions 1 and 2 have one id, "e1"$/m,
  ],
  'a rewind to an invocation that no event has': [
    `UPDATE statepad_events SET data = replace(data, '"i2"', '"i9"') WHERE ${EVENT} = 'e2'`,
    /session monday, user ana, app shop: revision 3 rewinds to before "i2", which no event has$/m,
  ],
  'a value of an app that is not the last write of its log': [
    `UPDATE statepad_values SET value = '5' WHERE owner < 0 AND name = 'asked'`,
    /^problem: app shop: the last writes in the log are not the values, under "app:asked"$/m,
  ],
};

describe('statepad verify', () => {
  it('finds no problem in what the stores have written', async () => {
    for (const [address, skip] of [[database], [`journal:${journal}`], [redis?.url, noRedis]]) {
      if (skip) continue;
      const { code, out, err } = await runs(['verify', address]);
      assert.deepEqual([code, err], [0, ''], out);
      assert.match(out, /: 4 sessions with 5 events checked: no problem\n$/);
    }
  });

  for (const [name, [sql, finding]] of Object.entries(DAMAGES)) {
    it(`finds ${name}, and checks the others`, async () => {
      const { code, out } = await runs(['verify', damaged(name.replaceAll(' ', '-'), sql)]);
      assert.equal(code, 3, out);
      assert.match(out, finding);
      assert.match(out, /: 4 sessions with \d+ events? checked: 1 problem\n$/);
    });
  }

  it('tells what the check of SQLite itself says', async () => {
    const path = damaged('indexes', 'PRAGMA user_version = 0');
    const opened = new Database(path);
    opened.unsafeMode();
    opened.pragma('writable_schema = ON');
    opened.exec(`UPDATE sqlite_schema SET sql = replace(sql, '(app, time, id, user)', '(app, id, time, user)')
      WHERE name = 'statepad_sessions_of_app'`);
    opened.close();
    const { code, out } = await runs(['verify', path]);
    assert.equal(code, 3, out);
    assert.match(out, /^problem: SQLite's own check says: .*statepad_sessions_of_app/m);
  });

  it('finds a damaged line of a journal', async () => {
    const path = join(folder, 'damaged.log');
    writeFileSync(path, readFileSync(journal, 'utf8').replace('\\"lesson\\":1', '\\"lesson\\":2'));
    const { code, out } = await runs(['verify', `journal:${path}`]);
    assert.equal(code, 3, out);
    assert.match(out, /^problem: session first, user ana, app tutor: /m);
  });

  it('finds a value in Redis that no event wrote', { skip: noRedis }, async () => {
    const [key] = (await client.keys('*s:*')).filter((name) => name.includes('first'));
    const value = await client.hget(key, '=lesson');
    await client.hset(key, '=lesson', value.replace(/:1$/, ':7'));
    const { code, out } = await runs(['verify', redis.url, '--json']);
    await client.hset(key, '=lesson', value);
    assert.equal(code, 3, out);
    const [fault, summary] = out.trimEnd().split('\n').map(JSON.parse);
    assert.deepEqual([fault.kind, fault.sessionId, fault.appName], ['problem', 'first', 'tutor']);
    assert.match(fault.reason, /other values than it has, under "lesson"/);
    assert.deepEqual([summary.kind, summary.sessions, summary.problems], ['verified', 4, 1]);
  });

  it('notes the fork whose source is gone, which is no problem', async () => {
    const path = damaged(
      'fork',
      `DELETE FROM statepad_values WHERE owner = ${MONDAY}; DELETE FROM statepad_events WHERE session = ${MONDAY};
       DELETE FROM statepad_sessions WHERE user = 'ana' AND id = 'monday'`,
    );
    const { code, out } = await runs(['verify', path]);
    assert.equal(code, 0, out);
    assert.match(
      out,
      /^note: session tuesday, user ana, app shop: it is a fork of session monday, which is not there/m,
    );
  });

  it('checks what filters mean, and sessions behind a server', async () => {
    const path = damaged('server', DAMAGES['a value that no event wrote'][0]);
    const others = await runs(['verify', path, '--app', 'tutor']);
    assert.deepEqual(
      [others.code, /1 session with 0 events checked: no problem/.test(others.out)],
      [0, true],
      others.out,
    );
    const server = await started(['serve', path, '--port', '0']);
    const { code, out } = await runs(['verify', server.url], { env: { STATEPAD_TOKEN: server.token } });
    await server.stop();
    assert.equal(code, 3);
    assert.match(out, /session monday, user ana, app shop: its events write other values/);
  });

  it('refuses what it cannot open, and makes no file', async () => {
    const { code, err } = await runs(['verify', join(folder, 'away.db')]);
    assert.equal(code, 1);
    assert.match(err, /away\.db/);
    const usage = await runs(['verify', 'what']);
    assert.equal(usage.code, 2);
  });
});
