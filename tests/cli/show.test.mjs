// `statepad show` over each kind of address: what it lists, what it prints of a session, and what it refuses.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { connect } from '../../pkg/dist/client.js';
import { exportLines } from '../../pkg/dist/jsonl.js';
import { DELETED, SessionService, increment } from '../../pkg/dist/index.js';
import { sqliteStore } from '../../pkg/dist/stores/sqlite/index.js';
import { postgresForTests } from '../support/postgres.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { runs, start, started } from './process.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-show-'));
after(() => rmSync(folder, { recursive: true }));

const { server: postgres, skip: noPostgres = false } = await postgresForTests();
const noRedis = whyNoRedisServer() ?? false;
const redis = noRedis ? undefined : await startRedisServer('--requirepass', 'hunter2');
const DATABASE = `statepad_show_${process.pid}`;
async function onPostgres(sql) {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
before(async () => {
  if (postgres) await onPostgres(`create database ${DATABASE}`);
});
after(async () => {
  if (postgres) await onPostgres(`drop database ${DATABASE} with (force)`);
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

/** A URL with another password, and another path. */
function withLogin(url, password, path) {
  return Object.assign(new URL(url), { password, pathname: path }).href;
}

const TOKEN = 't'.repeat(32);
const TOKEN_FILE = join(folder, 'token.txt');
writeFileSync(TOKEN_FILE, `${TOKEN}\n`, { mode: 0o600 });

/** A server of a store. */
async function served(address) {
  return await started(['serve', address, '--port', '0', '--token-file', TOKEN_FILE, '--quiet'], { cwd: folder });
}

/** The time of the first event, in milliseconds since the epoch; the others follow in minutes. */
const TIME = Date.UTC(2026, 0, 31, 9, 30);
const MONDAY = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };
const ESCAPES = 'x\x1b]0;title\x07\x9b2J\u202e';
const EVENTS = [
  { author: 'user', content: { role: 'user', parts: [{ text: `What makes the tides?\n${ESCAPES}` }] } },
  {
    author: 'tutor',
    content: { role: 'model', parts: [{ functionCall: { name: 'lookup', args: { q: 'tides', token: 's3cret' } } }] },
    actions: { stateDelta: { topic: DELETED, visits: increment() } },
  },
  { author: 'tutor', errorCode: 'FAILED', actions: { stateDelta: { topic: 'moon', 'user:email': 'a@b.example' } } },
];

/** Writes the sessions that all tests read. */
async function fill(sessions) {
  const state = { topic: 'tides', 'user:email': 'ana@example.org', 'app:motd': 'hello' };
  const session = await sessions.createSession({ ...MONDAY, state });
  for (const [index, event] of EVENTS.entries()) {
    const known = { id: `e${index + 1}`, invocationId: 'i', timestamp: TIME + 60_000 * index };
    await sessions.appendEvent({ session, event: { ...known, ...event } });
  }
  await sessions.createSession({
    appName: 'tutor',
    userId: 'ben',
    sessionId: 'tuesday',
    state: { [ESCAPES]: ESCAPES },
  });
}

/** Fills a store by a server of it, and ends that. */
async function throughServer(address) {
  const server = await served(address);
  const client = connect({ url: server.url, token: TOKEN });
  await fill(client);
  await client.close();
  const { code, err } = await server.stop();
  assert.equal(code, 0, err);
  return { address };
}

/** Servers that run until the end. */
const running = [];
after(async () => await Promise.all(running.map((server) => server.stop())));

/** Fills a store, and serves it. */
async function behindServer() {
  const { address } = await throughServer(join(folder, 'served.db'));
  const server = await served(address);
  running.push(server);
  return { address: server.url, options: ['--token-file', TOKEN_FILE] };
}

/** Writes a file of lines. */
async function inLines() {
  const service = new SessionService();
  await fill(service);
  let text = '';
  for await (const line of exportLines(service, { appName: 'tutor' })) text += `${line}\n`;
  const address = join(folder, 'sessions.jsonl');
  writeFileSync(address, text);
  return { address };
}

/** Each kind of address, and how its sessions are written. What is done with them is tested with two of them alone. */
const PLACES = {
  sqlite: { isWhole: true, place: async () => await throughServer(join(folder, 'sessions.db')) },
  journal: { place: async () => await throughServer(`journal:${join(folder, 'sessions.journal')}`) },
  lines: { place: inLines },
  server: { isWhole: true, place: behindServer },
  postgres: {
    place: async () => await throughServer(withLogin(postgres.url, 'hunter2', DATABASE)),
    skip: noPostgres,
  },
  redis: { place: async () => await throughServer(withLogin(redis.url, 'hunter2', '/1')), skip: noRedis },
};

/** Runs `show` with JSON, and parses its lines. */
async function records({ address, options = [] }, ...args) {
  const { code, out, err } = await runs(['show', address, ...args, '--json', ...options], { cwd: folder });
  const lines = out.split('\n').slice(0, -1);
  return { code, err, records: lines.map((line) => JSON.parse(line)), out };
}

for (const [name, { place, isWhole = false, skip = false }] of Object.entries(PLACES)) {
  describe(`the sessions of ${name}`, { skip }, () => {
    let at;
    before(async () => {
      at = await place();
    });
    const read = async (...args) => (await records(at, ...args)).records;

    it('are listed by app, by user and by id, with the values of the app and the user', async () => {
      const [app] = await read();
      assert.deepEqual([app.kind, app.appName, app.sessions], ['app', 'tutor', 2]);
      assert.deepEqual(
        (await read('tutor')).map(({ kind, userId, state, sessions }) => [kind, userId, state ?? sessions]),
        [
          ['scope', undefined, { motd: 'hello' }],
          ['user', 'ana', 1],
          ['user', 'ben', 1],
        ],
      );
      const [scope, session, ...others] = await read('tutor', 'ana');
      assert.deepEqual(scope, { kind: 'scope', appName: 'tutor', userId: 'ana', state: { email: 'a@b.example' } });
      assert.deepEqual(others, []);
      assert.equal(session.lastUpdateTime, TIME + 120_000);
    });

    it('are read whole, state and events, in their order', async () => {
      const [session, ...events] = await read('tutor', 'ana', 'monday');
      const { kind, appName, userId, id, revision, state } = session;
      assert.deepEqual([kind, appName, userId, id, revision], ['session', 'tutor', 'ana', 'monday', 3]);
      assert.deepEqual(state, { visits: 1, topic: 'moon', 'app:motd': 'hello', 'user:email': 'a@b.example' });
      assert.deepEqual(
        events.map(({ kind: kindOfEvent, revision: number, event }) => [
          kindOfEvent,
          number,
          event.id,
          event.timestamp,
        ]),
        [1, 2, 3].map((number) => ['event', number, `e${number}`, TIME + 60_000 * (number - 1)]),
      );
      assert.equal(events[0].event.content.parts[0].text, EVENTS[0].content.parts[0].text);
    });

    it('are read as they were', async () => {
      const [session, ...events] = await read('tutor', 'ana', 'monday', '--at', '1');
      assert.deepEqual([session.revision, session.state.topic, session.state.visits], [1, 'tides', undefined]);
      assert.deepEqual(
        events.map(({ revision }) => revision),
        [1],
      );
    });

    it('have the history of a key', async () => {
      const [head, ...steps] = await read('tutor', 'ana', 'monday', '--key', 'topic');
      assert.deepEqual([head.kind, head.key, head.exact], ['history', 'topic', true]);
      assert.deepEqual(
        steps.map(({ revision, author, from, to }) => [revision, author, from, to]),
        [
          [0, undefined, undefined, 'tides'],
          [2, 'tutor', 'tides', undefined],
          [3, 'tutor', undefined, 'moon'],
        ],
      );
      const [, ...writes] = await read('tutor', 'ana', '--key', 'user:email');
      assert.deepEqual(writes.at(-1).to, 'a@b.example');
    });

    it('that are not there end it with 3, and are named', async () => {
      const { code, out, err } = await records(at, 'tutor', 'ana', 'someday');
      assert.deepEqual([code, out], [3, '']);
      assert.match(
        err,
        /^statepad show: nothing in .* has these names: app "tutor", user "ana", session "someday"\n$/,
      );
    });

    if (!isWhole) return;

    it('that have no such key or revision, and names of others, end it with 3', async () => {
      assert.equal((await records(at, 'nobody')).code, 3);
      assert.equal((await records(at, 'tutor', 'nobody')).code, 3);
      assert.equal((await records(at, 'tutor', 'ana', 'monday', '--key', 'never')).code, 3);
      const beyond = await records(at, 'tutor', 'ana', 'monday', '--at', '4');
      assert.deepEqual([beyond.code, /has no revision 4: its last one is 3/.test(beyond.err)], [3, true], beyond.err);
    });

    it('are found by patterns, by their last events and by their times', async () => {
      const ids = async (...args) => (await read(...args)).map(({ id, revision }) => id ?? revision);
      assert.deepEqual((await ids('tutor', '*', '*day')).sort(), ['monday', 'tuesday']);
      assert.deepEqual(await ids('--session', 'mon*'), ['monday']);
      assert.deepEqual(await ids('--session', 'monday', '-n', '1'), ['monday', 3]);
      assert.deepEqual(await ids('tutor', 'ana', 'monday', '--since', '2026-01-31T09:31:00Z'), ['monday', 2, 3]);
      assert.deepEqual(await ids('tutor', '*', '*', '--since', '2026-01-31T09:33:00Z'), ['tuesday']);
    });

    it('are hidden in part', async () => {
      const { out } = await records(at, 'tutor', 'ana', 'monday', '--redact', 'user:*', '--redact', 'TOKEN');
      assert.doesNotMatch(out, /s3cret|a@b\.example/);
      assert.match(out, /"topic":"moon".*\n.*\n.*"args":\{"q":"tides","token":"\[redacted\]"\}/);
    });

    it('tell no secret, and obey nothing that is in them', async () => {
      for (const options of [[], ['--json']]) {
        const args = ['tutor', '*', '*', ...options, ...(at.options ?? [])];
        const lists = await runs(['show', at.address, ...args], { cwd: folder });
        const one = await runs(
          ['show', at.address, '--user', 'ben', '--session', 'tuesday', ...options, ...(at.options ?? [])],
          {
            cwd: folder,
          },
        );
        for (const { code, out, err } of [lists, one]) {
          assert.deepEqual([code, err], [0, '']);
          assert.match(out, /tuesday/);
          assert.match(out, /\\u001b\]0;title\\u0007\\u009b2J\\u202e/);
          assert.doesNotMatch(out.replaceAll('\n', ''), /\p{Cc}|\u202e|hunter2/u);
        }
      }
    });
  });
}

/** The names, sizes and times of all that lies in a folder. */
function contentOf(place) {
  return readdirSync(place)
    .sort()
    .map((name) => [name, statSync(join(place, name)).mtimeMs, readFileSync(join(place, name)).toString('base64')]);
}

describe('reading', () => {
  it('changes nothing: neither a file, nor its time, nor what lies beside it', async () => {
    const place = mkdtempSync(join(folder, 'quiet-'));
    await throughServer(join(place, 'sessions.db'));
    await throughServer(`journal:${join(place, 'log')}`);
    const before = contentOf(place);
    for (const address of [join(place, 'sessions.db'), `journal:${join(place, 'log')}`]) {
      assert.equal((await records({ address }, 'tutor', 'ana', 'monday')).records.length, 4);
    }
    assert.deepEqual(contentOf(place), before);
  });

  it('sees a journal that another process has open, and its last write', async () => {
    const address = `journal:${join(folder, 'open.journal')}`;
    const server = await served(address);
    const client = connect({ url: server.url, token: TOKEN });
    await fill(client);
    assert.equal((await records({ address }, 'tutor', 'ana', 'monday')).records[0].revision, 3);
    await client.close();
    assert.equal((await server.stop()).code, 0);
  });

  it('takes lines from standard input', async () => {
    const { address } = await inLines();
    const { child, ended } = start(['show', '-', '--json'], { stdin: 'pipe' });
    child.stdin.end(readFileSync(address));
    const { code, out } = await ended;
    assert.deepEqual([code, JSON.parse(out).appName], [0, 'tutor']);
  });

  it('ends without a word when its reader has', async () => {
    const service = new SessionService({ store: sqliteStore(join(folder, 'many.db'), { synchronous: 'normal' }) });
    for (let page = 0; page < 20; page++) {
      const create = (_, index) =>
        service.createSession({ appName: 'shop', userId: 'ana', sessionId: `${page}-${index}` });
      await Promise.all(Array.from({ length: 200 }, create));
    }
    await service.close();
    const { child, ended } = start(['show', join(folder, 'many.db'), 'shop', 'ana', '--json']);
    child.stdout.once('data', () => child.stdout.destroy());
    const { code, err } = await ended;
    assert.deepEqual([code, err], [0, '']);
  });
});

/** Addresses that cannot be read: the code, the words, and the file that must not be made. */
const REFUSED = [
  [['missing.db'], 1, /missing\.db/],
  [['journal:missing.log'], 1, /there is no journal "missing\.log"/],
  [['missing.jsonl'], 1, /missing\.jsonl cannot be read: ENOENT/],
  [['text.db'], 1, /text\.db.*not an? (SQLite )?database/],
  [['empty.db'], 1, /empty\.db.*has no sessions: there are no tables in it/],
  [['newer.db'], 1, /newer\.db.*version 99, newer than 1: update statepad/],
  [['journal:text.db'], 1, /text\.db/],
  [['jsonl:text.db'], 1, /text\.db cannot be read: line 1/],
  [['jsonl:real.journal'], 1, /real\.journal cannot be read: it is a journal: journal:real\.journal/],
  [['http://127.0.0.1:1'], 1, /cannot be read/],
  [['x.db', '--token-file', 'none'], 2, /--token-file is for the address of a server/],
  [['http://127.0.0.1:1', '--token-file', 'none'], 2, /the token file none: there is no such file/],
  [['http://127.0.0.1:1', '--token-file', 'text.db'], 2, /must have one token and nothing else/],
  [['x.db', '--at', '1'], 2, /--at is about one session/],
  [['x.db', 'shop', 'ana', 'monday', '--at', 'x'], 2, /--at must be a whole number/],
  [['x.db', '--key', 'hunter2'], 2, /--key … needs a SESSION, by name/],
  [['x.db', '--key', 'app:hunter2'], 2, /--key app:… needs an APP, by name/],
  [['x.db', 'shop', '--key', 'user:hunter2'], 2, /--key user:… needs an APP and a USER, by name/],
  [['x.db', 'shop', '--app', 'shop'], 2, /--app is given, and APP as well/],
  [['x.db', '--since', 'hunter2'], 2, /--since takes a time/],
  [['x.db', 'a', 'b', 'c', 'd'], 2, /an argument too many: show takes only ADDRESS APP USER SESSION/],
];

describe('an address or an option that cannot be used', () => {
  const place = join(folder, 'refused');
  before(async () => {
    mkdirSync(place);
    writeFileSync(join(place, 'text.db'), 'this is a text, and no database\n');
    writeFileSync(join(place, 'empty.db'), '');
    await throughServer(join(place, 'newer.db'));
    const database = new Database(join(place, 'newer.db'));
    database.exec("update statepad_meta set value = '99' where name = 'version'");
    database.close();
    await throughServer(`journal:${join(place, 'real.journal')}`);
  });

  for (const [args, code, words] of REFUSED) {
    it(`${args.join(' ')} ends it with ${code}, and nothing is made`, async () => {
      const before = readdirSync(place);
      const end = await runs(['show', ...args], { cwd: place });
      assert.deepEqual([end.code, end.out], [code, ''], end.err);
      assert.match(end.err, words);
      assert.doesNotMatch(end.err, /hunter2/);
      assert.deepEqual(readdirSync(place), before);
    });
  }

  it('a server with another token, or with none, asks for one', async () => {
    const server = await served('memory:');
    const address = server.url;
    for (const [env, words] of [
      [{}, /the server asks for a token: it comes from --token-file FILE, or STATEPAD_TOKEN/],
      [{ STATEPAD_TOKEN: 'hunter2' }, /the server does not know the token/],
    ]) {
      const { code, err } = await runs(['show', address], { env });
      assert.deepEqual([code, /hunter2/.test(err)], [1, false]);
      assert.match(err, words);
    }
    const { code, err } = await runs(['show', address], { env: { STATEPAD_TOKEN: TOKEN } });
    assert.deepEqual([code, err], [0, `statepad show: ${address} has no sessions\n`]);
    assert.equal((await server.stop()).code, 0);
  });
});
