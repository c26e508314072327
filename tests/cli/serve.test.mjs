// `statepad serve` over each kind of store: who is answered, who is not, and what is kept.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { postgresForTests } from '../support/postgres.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { runs, started } from './process.mjs';
import { ask, SESSIONS, stateOf, streamOf, writeSession } from './requests.mjs';

const ADK_TABLES = readFileSync(new URL('../stores/adk-database/tables.sql', import.meta.url), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'statepad-cli-'));
after(() => rmSync(folder, { recursive: true }));

const { server: postgres, skip: noPostgres = false } = await postgresForTests();
const noRedis = whyNoRedisServer() ?? false;
const redis = noRedis ? undefined : await startRedisServer('--requirepass', 'hunter2');

/** A database of its own: the server may be that of others. */
const DATABASE = `statepad_cli_${process.pid}`;
async function onPostgres(sql, database = undefined) {
  const { href } = database === undefined ? new URL(postgres.url) : new URL(`/${database}`, postgres.url);
  const client = new Client({ connectionString: href });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}
/** Another one, with the tables of google-adk. */
const ADK_DATABASE = `${DATABASE}_adk`;
before(async () => {
  if (!postgres) return;
  await onPostgres(`create database ${DATABASE}`);
  await onPostgres(`create database ${ADK_DATABASE}`);
  await onPostgres(ADK_TABLES, ADK_DATABASE);
});
after(async () => {
  for (const name of postgres ? [DATABASE, ADK_DATABASE] : []) await onPostgres(`drop database ${name} with (force)`);
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

/** A URL with a user, a password, and another path. */
function withLogin(url, password, path) {
  const changed = new URL(url);
  changed.password = password;
  changed.pathname = path;
  return changed.href;
}

/** Each kind of address, how it is shown, and whether the sessions outlive the process. */
const PLACES = {
  sqlite: { address: () => join(folder, 'sessions.db'), isKept: true },
  journal: { address: () => `journal:${join(folder, 'sessions.journal')}`, isKept: true },
  memory: { address: () => 'memory:', isKept: false },
  postgres: { address: () => withLogin(postgres.url, 'hunter2', DATABASE), isKept: true, skip: noPostgres },
  'adk-database': {
    address: () => `adk-database:${withLogin(postgres.url, 'hunter2', ADK_DATABASE)}`,
    isKept: true,
    skip: noPostgres,
  },
  redis: { address: () => withLogin(redis.url, 'hunter2', '/1'), isKept: true, skip: noRedis },
};

for (const [name, { address, isKept, skip = false }] of Object.entries(PLACES)) {
  describe(`a server over ${name}`, { skip }, () => {
    it(`answers those who have its token, ends by a signal, and ${isKept ? 'finds' : 'forgets'} the sessions`, async () => {
      const first = await started(['serve', address(), '--port', '0'], { cwd: folder });
      assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
      assert.deepEqual(await writeSession(first, 'monday'), [200, 200]);
      assert.deepEqual(await stateOf(first, 'monday'), { step: 2, 'app:motd': 'hello' });
      const end = await first.stop();
      assert.deepEqual([end.code, end.signal], [0, null], end.err);

      const second = await started(['serve', address(), '--port', '0'], { cwd: folder });
      assert.notEqual(second.token, first.token);
      const { status } = await ask(`${second.url}${SESSIONS}/monday`, { token: second.token });
      assert.equal(status, isKept ? 200 : 404);
      const { code, out, err } = await second.stop('SIGINT');
      assert.equal(code, 0, err);
      for (const text of [end.out, end.err, out, err]) assert.doesNotMatch(text, /hunter2/);
    });
  });
}

describe('a server over the tables of google-adk', { skip: noPostgres }, () => {
  it('appends once, tells whose a session is, and refuses by name what the tables cannot hold', async () => {
    const server = await started(['serve', PLACES['adk-database'].address(), '--port', '0'], { cwd: folder });
    const { token, url } = server;
    const post = (path, body, headers = {}) => ask(url + path, { method: 'POST', token, body, headers });
    assert.deepEqual(await writeSession(server, 'once'), [200, 200]);
    const event = { id: 'e1', author: 'user', invocationId: 'i', actions: { stateDelta: { step: 3 } } };
    const append = async () => (await post(`${SESSIONS}/once/events`, { event })).body.revision;
    assert.deepEqual([await append(), await append()], [2, 2]);
    const engine = '/v1beta1/reasoningEngines/tutor/sessions/once';
    assert.equal((await ask(url + engine, { token })).body.userId, 'ana');
    const rewind = await post(`${SESSIONS}/once:rewind`, { before: 'i' });
    assert.deepEqual([rewind.status, rewind.body.error.code], [400, 'INVALID_ARGUMENT']);
    assert.match(rewind.body.error.message, /does not keep revisions/);
    const [row] = await onPostgres("select state from sessions where id = 'once'", ADK_DATABASE);
    assert.deepEqual(row.state, { step: 3 });
    assert.equal((await server.stop()).code, 0);
  });
});

describe('two servers over one Postgres', { skip: noPostgres }, () => {
  const begin = async (...options) => await started(['serve', PLACES.postgres.address(), '--port', '0', ...options]);

  it('are one service: each has at once what the other has written', async () => {
    const servers = await Promise.all([begin(), begin()]);
    assert.deepEqual(await writeSession(servers[0], 'shared'), [200, 200]);
    assert.deepEqual(await stateOf(servers[1], 'shared'), { step: 2, 'app:motd': 'hello' });
    for (const server of servers) assert.equal((await server.stop()).code, 0);
  });

  it('hear of each other by the database alone, also after it has cut all connections', async () => {
    const hour = String(3_600_000);
    const [writer, watcher] = await Promise.all([begin(), begin('--poll', hour)]);
    assert.deepEqual(await writeSession(writer, 'watched'), [200, 200]);
    const text = await streamOf(watcher, 'watched');
    await text.until('"step":2');
    const listening = `select pid from pg_stat_activity where datname = '${DATABASE}' and query ilike 'listen %'`;
    const before = (await onPostgres(listening)).map(({ pid }) => pid);
    assert.equal(before.length, 2);
    await onPostgres(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${DATABASE}'`);
    for (let back = []; back.length < 2;) {
      back = (await onPostgres(listening)).filter(({ pid }) => !before.includes(pid));
    }
    const event = { author: 'user', invocationId: 'j', actions: { stateDelta: { step: 3 } } };
    const path = `${writer.url}${SESSIONS}/watched/events`;
    const { status } = await ask(path, { method: 'POST', token: writer.token, body: { event } });
    assert.equal(status, 200);
    await text.until('"step":3');
    await text.cancel();
    for (const server of [writer, watcher]) {
      const { code, err } = await server.stop();
      assert.equal(code, 0, err);
      assert.match(err, /"level":"warn","message":"terminating connection due to administrator command"/);
    }
  });
});

describe('a server whose Redis goes away', { skip: noRedis }, () => {
  it('says so at once, and goes on when it is back', async () => {
    const own = await startRedisServer();
    after(() => own.stop());
    const server = await started(['serve', own.url, '--port', '0']);
    const readiness = () => ask(`${server.url}/readyz`);
    assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
    assert.equal((await readiness()).status, 200);
    await own.kill();
    const away = await readiness();
    assert.deepEqual([away.status, away.body.error.code], [503, 'STORE_UNAVAILABLE']);
    assert.match(away.headers['retry-after'], /^\d+$/);
    assert.equal((await ask(`${server.url}/healthz`)).status, 200);
    await own.restart();
    while ((await readiness()).status !== 200);
    assert.deepEqual(await stateOf(server, 'monday'), { step: 2, 'app:motd': 'hello' });
    const { code, err } = await server.stop();
    assert.equal(code, 0, err);
    assert.match(err, /"level":"error","number":"\d{12}"/);
  });
});

describe('a request', () => {
  const TOKENS = { full: 'f'.repeat(32), ana: 'a'.repeat(32), reader: 'b'.repeat(32) };
  let server;
  before(async () => {
    const file = join(folder, 'tokens.txt');
    const lines = [TOKENS.full, `${TOKENS.ana} users=ana apps=tutor`, `${TOKENS.reader} users=ana writes= # reads`];
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    server = await started([
      ...['serve', 'memory:', '--port', '0', '--token-file', file, '--base-path', '/agents'],
      ...['--cors', 'https://app.example', '--allow-host', 'agents.example', '--body-limit', '1KiB'],
    ]);
    assert.deepEqual(await writeSession({ ...server, token: TOKENS.full }, 'monday'), [200, 200]);
  });
  after(() => server.stop());

  const MONDAY = `${SESSIONS}/monday`;
  const OF_BEN = '/v1/apps/tutor/users/ben/sessions';
  const create = (sessionId, state) => ({ method: 'POST', body: { sessionId, state } });
  /** Requests, with the status of their answers. */
  const REQUESTS = [
    ['about its health', '/healthz', {}, 200],
    ['about its readiness', '/readyz', {}, 200],
    ['with a token', MONDAY, { token: TOKENS.full }, 200],
    ['with a token as a key of Google', MONDAY, { headers: { 'x-goog-api-key': TOKENS.full } }, 200],
    ['without a token', MONDAY, {}, 401],
    ['with another token', MONDAY, { token: 'c'.repeat(32) }, 401],
    ['with a token in the address', `${MONDAY}?key=${TOKENS.full}`, {}, 401],
    ['of a user for its own', MONDAY, { token: TOKENS.ana }, 200],
    ['of a user for a new session', SESSIONS, { token: TOKENS.ana, ...create('own', { 'user:x': 1 }) }, 200],
    ['of a user that writes for all', SESSIONS, { token: TOKENS.ana, ...create('all', { 'app:x': 1 }) }, 403],
    ['of a user for another user', `${OF_BEN}/x`, { token: TOKENS.ana }, 403],
    ['of one that reads', MONDAY, { token: TOKENS.reader }, 200],
    ['of one that only reads, and writes', SESSIONS, { token: TOKENS.reader, ...create('no', {}) }, 403],
    ['for the name of the proxy', MONDAY, { token: TOKENS.full, headers: { host: 'agents.example' } }, 200],
    ['for another name', MONDAY, { token: TOKENS.full, headers: { host: 'evil.example' } }, 403],
    ['of a page that is named', MONDAY, { token: TOKENS.full, headers: { origin: 'https://app.example' } }, 200],
    ['of another page', MONDAY, { token: TOKENS.full, headers: { origin: 'https://evil.example' } }, 403],
    ['with a body that is too long', SESSIONS, { token: TOKENS.full, ...create('x', { x: 'x'.repeat(1_024) }) }, 413],
    ['with headers that are too long', MONDAY, { token: TOKENS.full, headers: { x: 'x'.repeat(17_000) } }, 431],
  ];
  for (const [name, path, options, status] of REQUESTS) {
    it(`${name} is answered with ${status}`, async () => {
      // The answer of Node itself, to headers that are too long, has no body.
      const answered = status === 431 ? fetch(server.url + path, options) : ask(server.url + path, options);
      assert.equal((await answered).status, status);
    });
  }

  it('is answered below the path alone', async () => {
    assert.ok(server.url.endsWith('/agents'));
    const { status } = await ask(server.url.replace('/agents', '') + MONDAY, { token: TOKENS.full });
    assert.equal(status, 404);
  });

  it('leaves a line in the log, which has no id, no token and no value', () => {
    const lines = server.printed.err
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ event }) => event === 'request');
    assert.ok(requests.length > 10);
    for (const line of requests) {
      const names = ['time', 'level', 'event', 'operation', 'method', 'status', 'ms'];
      assert.deepEqual(Object.keys(line), names);
    }
    assert.doesNotMatch(server.printed.err, /monday|hello|ana|tutor|[fabc]{32}/);
    assert.equal(JSON.parse(server.printed.out).token, undefined);
  });
});

describe('a server without tokens', () => {
  it('answers everyone of this machine, and no page of another', async () => {
    const server = await started(['serve', 'memory:', '--port', '0', '--insecure']);
    assert.equal(server.token, undefined);
    assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
    const { status } = await ask(`${server.url}${SESSIONS}/monday`, { headers: { host: 'evil.example' } });
    assert.equal(status, 403);
    assert.match((await server.stop()).err, /"level":"warn","message":"no token is asked for/);
  });
});

describe('a server for the network', () => {
  it('warns that tokens travel in the clear', async () => {
    const server = await started(['serve', 'memory:', '--port', '0', '--host', '0.0.0.0', '--log', 'text']);
    assert.match(server.url, /^http:\/\/0\.0\.0\.0:\d+$/);
    const { status } = await ask(`http://127.0.0.1:${new URL(server.url).port}${SESSIONS}/x`, {
      token: server.token,
      headers: { host: 'agents.example' },
    });
    assert.equal(status, 404);
    const { err } = await server.stop();
    assert.match(err, /^\d\d:\d\d:\d\d warning: tokens travel in the clear/m);
    assert.match(err, /^\d\d:\d\d:\d\d GET getSession 404 [\d.]+ ms$/m);
  });
});

describe('a server that cannot begin', () => {
  const file = (name, text, mode = 0o600) => {
    writeFileSync(join(folder, name), text, { mode });
    return join(folder, name);
  };

  /** Arguments of a server that cannot begin: the code of its end, and what it says. */
  const REFUSED = [
    ['an unknown address', () => ['mysql://root:hunter2@db/agents'], 2, /the address is of no known kind/],
    ['a folder that is missing', () => [join(folder, 'no', 'x.db')], 1, /x\.db.* cannot be opened/],
    [
      'a file that is no database',
      () => [file('text.db', 'hunter'.repeat(999))],
      1,
      /cannot be opened.*not a database/,
    ],
    [
      'a token file that is missing',
      () => ['memory:', '--token-file', 'nowhere'],
      2,
      /nowhere: there is no such file/,
    ],
    [
      'a token file with a line that cannot be read',
      () => ['memory:', '--token-file', file('bad.txt', `${'a'.repeat(32)}\nhunter2 hunter2==\n`)],
      2,
      /bad\.txt, line 2: limit 1 is none of/,
    ],
    ['a store that is missing', () => [join(folder, 'none.db'), '--migrate', 'check'], 1, /none\.db cannot be opened/],
    ['a server that is away', () => ['postgres://ana:hunter2@127.0.0.1:1/agents'], 1, /ECONNREFUSED/],
    ['a Redis that is away', () => ['redis://:hunter2@127.0.0.1:1'], 1, /redis cannot be reached: .*ECONNREFUSED/],
  ];
  for (const [name, args, code, message] of REFUSED) {
    it(`for ${name} says so, and ends with ${code}`, async () => {
      const given = ['serve', ...args(), '--port', '0'];
      const end = await runs(given, { cwd: folder, env: { DEBUG: '' } });
      assert.deepEqual([end.code, end.out], [code, ''], end.err);
      assert.match(end.err, message);
      assert.doesNotMatch(end.err, /\n {4}at /);
      const debugged = await runs(given, { cwd: folder, env: { DEBUG: '1' } });
      assert.equal(debugged.code, code);
      for (const { err } of [end, debugged]) assert.doesNotMatch(err, /hunter2/);
    });
  }

  it('for a database that is missing says so, without the password', { skip: noPostgres }, async () => {
    const address = withLogin(postgres.url, 'hunter2', 'nowhere');
    const end = await runs(['serve', address]);
    assert.deepEqual([end.code, end.out], [1, '']);
    const { host } = new URL(address);
    assert.equal(
      end.err,
      `statepad serve: postgres://${host}/nowhere cannot be opened: database "nowhere" does not exist\n`,
    );
  });

  it('for a wrong password says so, without it', { skip: noRedis }, async () => {
    const end = await runs(['serve', withLogin(redis.url, 'hunter3', '/1')]);
    assert.deepEqual([end.code, end.out], [1, ''], end.err);
    assert.match(end.err, /redis cannot be reached: .*(WRONGPASS|invalid username-password)/);
    assert.doesNotMatch(end.err, /hunter3/);
  });

  it('on a port that is taken says so, and lets the store go', async () => {
    const address = `journal:${join(folder, 'taken.journal')}`;
    const server = await started(['serve', 'memory:', '--port', '0']);
    const { port } = new URL(server.url);
    const end = await runs(['serve', address, '--port', port]);
    assert.deepEqual([end.code, end.out], [1, '']);
    assert.match(
      end.err,
      new RegExp(`^statepad serve: port ${port} of 127\\.0\\.0\\.1 is taken: choose another one`, 'm'),
    );
    await server.stop();
    // The journal lets in only one: it would refuse if the first had not closed it.
    const again = await started(['serve', address, '--port', '0']);
    await again.stop();
  });

  it('for a token file that others may read warns, and begins', { skip: process.platform === 'win32' }, async () => {
    const tokens = file('open.txt', `${'a'.repeat(32)}\nshort\n`, 0o644);
    const server = await started(['serve', 'memory:', '--port', '0', '--token-file', tokens]);
    const { err } = await server.stop();
    assert.match(err, /others may read the token file .*open\.txt: chmod 600/);
    assert.match(err, /can be guessed: 1 in/);
  });
});
