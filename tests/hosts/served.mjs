// `serve` in a host, from outside: one list of checks for every host that docs/serve.md names.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { it } from 'node:test';
import { connect, increment } from 'statepad/client';
import { textOf } from '../docs/pages.mjs';
import { STREAMS } from './served-handler.js';

/** The longest time until a host has noticed that a client has gone, in milliseconds. */
const LONGEST = 20_000;

/** The module `served-handler.js` for a program in a host. */
export const handlerModule = readFileSync(new URL('served-handler.js', import.meta.url), 'utf8');

/** A line of the table in docs/serve.md, for a program in a host. */
export function lineOf(line) {
  assert.ok(textOf('docs/serve.md').includes(`\`${line}\``), `docs/serve.md has no ${line}`);
  return line;
}

/** A module that exports `handler`, over a service in memory. */
export const handlerInMemory = (options = {}) => `
  import { SessionService } from 'statepad';
  import { handlerOver } from './served-handler.js';
  export const handler = handlerOver(new SessionService(), ${JSON.stringify(options)});
`;

/**
 * A server in a host: the address that it is mounted at, and what it has printed. `holdsBodies` says that something in
 * front of it passes on no body before it is whole.
 *
 * @typedef {{ url: string, output: () => string, holdsBodies?: boolean }} Served
 */

let sessions = 0;
/** The name of a session that no other check has. */
const fresh = () => ({ appName: 'tutor', userId: 'ana', sessionId: `lesson-${++sessions}` });
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const sessionsOf = ({ url }) => `${url}/v1/apps/tutor/users/ana/sessions`;

/** Calls with a client of the server, and closes it. */
async function withClient({ url }, use) {
  const client = connect({ url, token: 's3cret' });
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

/**
 * Opens a stream of a session; answers a reader of its text, which reads until it has what a pattern matches.
 *
 * @param {Served} served @param {string} sessionId
 */
async function streamOf({ url }, sessionId, token = 's3cret') {
  const query = new globalThis.URLSearchParams({ appName: 'tutor', userId: 'ana', sessionId });
  const leaving = new AbortController();
  const response = await fetch(`${url}/v1/watch?${query}`, {
    headers: { ...bearer(token), accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  const more = async () => {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    return !done;
  };
  return {
    status: response.status,
    leave: () => leaving.abort(),
    until: async (pattern) => {
      while (!pattern.test(text)) assert.ok(await more(), `it ended before ${pattern}: ${text}`);
    },
    end: async () => {
      while (await more());
    },
  };
}

/** Opens a stream as soon as there is room for one. */
async function streamWithRoom(served, sessionId) {
  for (const until = Date.now() + LONGEST; ;) {
    const stream = await streamOf(served, sessionId);
    if (stream.status === 200) return stream;
    assert.equal(stream.status, 429);
    await stream.end();
    assert.ok(Date.now() < until, 'streams that their clients have left count still');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the handler's count of creations is as many as `wanted`. */
async function counted(served, name, wanted) {
  for (const until = Date.now() + LONGEST; ;) {
    const counts = await countsOf(served);
    if (counts[name] >= wanted) return;
    assert.ok(Date.now() < until, `${counts[name]} of ${wanted} creations have ${name}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const countsOf = async (served) => await (await fetch(sessionsOf(served), { headers: bearer('counter') })).json();

const chunk = (text) => (text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`);
const BEGIN = '{"sessionId":"cut",';
/** How bodies are cut off, also before their first byte: the framing, what is sent, the end of the connection. */
const CUTS = ['destroy', 'resetAndDestroy'].flatMap((end) => [
  ...['', BEGIN].map((sent) => ({ framing: 'Content-Length: 1000', sent, end })),
  ...['', BEGIN].map((sent) => ({ framing: 'Transfer-Encoding: chunked', sent: chunk(sent), end })),
]);

/** Sends the head of a request that creates a session, and a part of its body; answers the socket. */
function begin(served, framing, sent = '') {
  const { hostname, port, pathname } = new URL(sessionsOf(served));
  const socket = connectSocket(Number(port), hostname).on('error', () => undefined);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Authorization: Bearer s3cret',
    'Content-Type: application/json',
    framing,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`);
  return socket;
}

/** Cuts a request off once the handler reads its body, and waits until the handler has ended it. */
async function cutOff(served, { framing, sent, end }) {
  const { begun, ended } = await countsOf(served);
  const socket = begin(served, framing, sent);
  if (served.holdsBodies) await once(socket, 'connect');
  else await counted(served, 'begun', begun + 1);
  socket[end]();
  if (!served.holdsBodies) await counted(served, 'ended', ended + 1);
}

/**
 * The checks in their order. `ofOne` marks those of what one handler knows of all its requests.
 *
 * @type {{ name: string, ofOne?: boolean, check: (served: Served) => Promise<void> | void }[]}
 */
const CHECKS = [
  {
    name: 'creates a session, appends with an operator, and updates',
    check: async (served) => {
      await withClient(served, async (client) => {
        const session = await client.createSession({ ...fresh(), state: { topic: 'tides', level: 1 } });
        await client.appendEvent({
          session,
          event: { author: 'ana', actions: { stateDelta: { level: increment(2) } } },
        });
        assert.deepEqual(session.state, { topic: 'tides', level: 3 });
        await client.updateState(session, ({ level }) => ({ topic: `moon ${level}` }));
        const { appName, userId, id: sessionId } = session;
        const stored = await client.getSession({ appName, userId, sessionId });
        assert.deepEqual(stored.state, { topic: 'moon 3', level: 3 });
        assert.equal(stored.events.length, 2);
        // A body of 1.8 MB, and a name that needs encoding.
        const text = 'ü'.repeat(900_000);
        const large = await client.createSession({ ...fresh(), sessionId: `a/b ü ${sessions}`, state: { text } });
        assert.equal((await client.getSession({ appName, userId, sessionId: large.id })).state.text, text);
        await client.deleteSession({ appName, userId, sessionId: large.id });
      });
    },
  },
  {
    name: 'tells changes while they are made, one by one',
    check: async (served) => {
      await withClient(served, async (client) => {
        const key = fresh();
        const session = await client.createSession(key);
        const changes = client.watch({ ...key, whole: true });
        assert.equal((await changes.next()).value.type, 'session');
        for (const n of [1, 2, 3]) {
          await client.appendEvent({ session, event: { author: 'ana', actions: { stateDelta: { n } } } });
          const { value } = await changes.next();
          assert.deepEqual([value.revision, value.event.actions.stateDelta], [n, { n }]);
        }
        await changes.return();
      });
    },
  },
  {
    name: 'answers many requests at once',
    check: async (served) => {
      await withClient(served, async (client) => {
        const keys = Array.from({ length: 10 }, fresh);
        await Promise.all(keys.map((key) => client.createSession(key)));
        // All of them write to a value that they share, too.
        const visits = increment();
        for (let round = 0; round < 3; round++) {
          const event = { author: 'ana', actions: { stateDelta: { round, 'user:visits': visits } } };
          await Promise.all(
            keys.map(({ sessionId: id, ...key }) => client.appendEvent({ session: { ...key, id }, event })),
          );
        }
        const { state } = await client.getSession(keys[0]);
        assert.deepEqual(state, { round: 2, 'user:visits': 3 * keys.length });
      });
    },
  },
  {
    name: 'refuses a token that it does not know, and what is too long',
    check: async (served) => {
      for (const headers of [{}, bearer('wrong')]) {
        const response = await fetch(sessionsOf(served), { headers });
        assert.deepEqual([response.status, (await response.json()).error.code], [401, 'UNAUTHENTICATED']);
      }
      const client = connect({ url: served.url, token: 'wrong' });
      await assert.rejects(client.createSession(fresh()), { code: 'UNAUTHENTICATED', status: 401 });
      await client.close();
      // By its head alone: while a client still sends, the answer may be lost with the connection.
      const socket = begin(served, `Content-Length: ${9 * 2 ** 20}`);
      const [answer] = await once(socket, 'data');
      assert.match(String(answer), /^HTTP\/1\.1 413 /);
      socket.destroy();
    },
  },
  {
    name: 'writes nothing of a body that is cut off, and goes on',
    check: async (served) => {
      await withClient(served, async (client) => {
        const idsOf = async () => {
          const { sessions } = await client.listSessions({ appName: 'tutor', userId: 'ana' });
          return sessions.map(({ id }) => id);
        };
        const before = await idsOf();
        for (const cut of CUTS) {
          await cutOff(served, cut);
          assert.deepEqual(await idsOf(), before, JSON.stringify(cut));
        }
        assert.equal((await client.createSession({ ...fresh(), state: { n: 1 } })).state.n, 1);
      });
    },
  },
  {
    name: 'ends a stream that its client has left',
    ofOne: true,
    check: async (served) => {
      await withClient(served, async (client) => {
        const key = fresh();
        const session = await client.createSession(key);
        for (let n = 1; n <= 2 * STREAMS + 1; n++) {
          const stream = await streamWithRoom(served, key.sessionId);
          await client.appendEvent({ session, event: { author: 'ana', actions: { stateDelta: { n } } } });
          await stream.until(new RegExp(`"n":${n}\\b`));
          stream.leave();
        }
      });
    },
  },
  {
    name: 'ends its streams when it is closed, and refuses later requests',
    ofOne: true,
    check: async (served) => {
      const key = fresh();
      await withClient(served, async (client) => void (await client.createSession(key)));
      const stream = await streamWithRoom(served, key.sessionId);
      await stream.until(/^retry: /);
      await (await fetch(sessionsOf(served), { headers: bearer('closer') })).body?.cancel();
      await stream.end();
      const response = await fetch(sessionsOf(served), { headers: bearer('s3cret') });
      assert.deepEqual([response.status, (await response.json()).error.code], [503, 'CLOSED']);
    },
  },
  {
    name: 'has complained of nothing',
    check: ({ output }) => assert.doesNotMatch(output(), /error|unhandled|uncaught|exception|hung/i),
  },
];

/**
 * Makes a test of each check. `isOne` is false in a host that makes a handler for each request. `saw` is called when
 * the last one passes, as all others did.
 *
 * @param {() => Served} served @param {{ isOne?: boolean, saw?: () => void }} [options]
 */
export function itServes(served, { isOne = true, saw } = {}) {
  const checks = CHECKS.filter(({ ofOne }) => isOne || !ofOne);
  let passed = 0;
  for (const { name, check } of checks) {
    it(name, async () => {
      await check(served());
      passed += 1;
      if (passed === checks.length) saw?.();
    });
  }
}

/**
 * Makes all checks, one after the other.
 *
 * @param {Served} served
 */
export async function checkServing(served) {
  for (const { check } of CHECKS) await check(served);
}

/**
 * Opens a stream, and waits for a heartbeat and then for a change on it: with a heartbeat that is rarer than the
 * host's limit of idle connections allows, it shows that this limit is lifted.
 *
 * @param {Served} served
 */
export async function idleFor(served) {
  await withClient(served, async (client) => {
    const key = fresh();
    const session = await client.createSession(key);
    const stream = await streamOf(served, key.sessionId, 'other');
    await stream.until(/\n:/);
    await client.appendEvent({ session, event: { author: 'ana', actions: { stateDelta: { late: true } } } });
    await stream.until(/"late":true/);
    stream.leave();
  });
}
