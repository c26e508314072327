// `statepad show` over each kind of address: what it lists, what it prints of a session, and what it refuses.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { connect } from '../../pkg/dist/client.js';
import { exportLines } from '../../pkg/dist/jsonl.js';
import { DELETED, SessionService, increment } from '../../pkg/dist/index.js';
import { postgresForTests } from '../support/postgres.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { runs, started } from './process.mjs';

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

/** Each kind of address, and how its sessions are written. */
const PLACES = {
  sqlite: { place: async () => await throughServer(join(folder, 'sessions.db')) },
  journal: { place: async () => await throughServer(`journal:${join(folder, 'sessions.journal')}`) },
  lines: { place: inLines },
  server: { place: behindServer },
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

for (const [name, { place, skip = false }] of Object.entries(PLACES)) {
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

    it('that are not there end it with 3, and a name', async () => {
      const { code, out, err } = await records(at, 'tutor', 'ana', 'someday');
      assert.deepEqual([code, out], [3, '']);
      assert.match(
        err,
        /^statepad show: nothing in .* has these names: app "tutor", user "ana", session "someday"\n$/,
      );
      assert.equal((await records(at, 'nobody')).code, 3);
      assert.equal((await records(at, 'tutor', 'ana', 'monday', '--key', 'never')).code, 3);
      const beyond = await records(at, 'tutor', 'ana', 'monday', '--at', '4');
      assert.deepEqual([beyond.code, /has no revision 4: its last one is 3/.test(beyond.err)], [3, true], beyond.err);
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
          assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|hunter2/);
        }
      }
    });
  });
}
