// The handler behind a server of Node: bodies that are slow or endless, headers that are too long, many streams, and
// clients that disconnect.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SessionService } from 'statepad';
import { nodeListener, serve } from 'statepad/serve';
import { portOf } from '../../support/ports.mjs';
import { authorize, CLIENTS, furnish, MONDAY } from './server.mjs';

const S = '/v1/apps/tutor/users/ana/sessions/monday';
const WATCH = '/v1/watch?appName=tutor&userId=ana&sessionId=monday';
const JSON_TYPE = { 'content-type': 'application/json' };

const running = [];
const rejections = [];
process.on('unhandledRejection', (reason) => rejections.push(reason));
afterEach(async () => {
  for (const { server, service } of running.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await service.close();
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(rejections.splice(0), []);
});

/** A server of a furnished service: its port, the handler, and what was logged. */
async function open(options = {}) {
  const service = new SessionService();
  await furnish(service);
  const errors = [];
  const handler = serve(service, { authorize, onError: (error) => errors.push(error), ...options });
  const server = createServer(nodeListener(handler));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  running.push({ server, service });
  return { service, handler, server, errors, port: portOf(server) };
}

/** Begins a request: `sending` has to be ended, `answer` resolves with the head of the answer. */
function begin({ port }, method, path, { client = 'ana', headers = {}, agent } = {}) {
  const all = { authorization: `Bearer ${client}`, ...headers };
  const sending = httpRequest({ host: '127.0.0.1', port, method, path, headers: all, agent });
  sending.on('error', () => undefined);
  const answer = new Promise((resolve, reject) => sending.once('response', resolve).once('error', reject));
  return { sending, answer };
}

async function ask(at, method, path, { body, ...options } = {}) {
  const headers = { ...(body !== undefined && JSON_TYPE), ...options.headers };
  const { sending, answer } = begin(at, method, path, { ...options, headers });
  sending.end(body === undefined ? undefined : JSON.stringify(body));
  const response = await answer;
  const text = await textOf(response);
  return { status: response.statusCode, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

async function textOf(response) {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

/** A stream of changes, once it has begun. */
async function openStream(at, { path = WATCH, ...options } = {}) {
  const { sending, answer } = begin(at, 'GET', path, { ...options, headers: { accept: 'text/event-stream' } });
  sending.end();
  const response = await answer;
  return { status: response.statusCode, response, sending };
}

/** The text of a stream, until it has a part. */
async function textUntil(response, part) {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) {
    text += piece;
    if (text.includes(part)) return text;
  }
  return assert.fail(`it ended with ${JSON.stringify(text)}`);
}

describe('a server', () => {
  it('answers requests, and one with a body after another on one connection', async () => {
    const at = await open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let revision = 2; revision <= 5; revision++) {
      const { status, body } = await ask(at, 'POST', `${S}/events`, { agent, body: { event: { author: 'a' } } });
      assert.deepEqual([status, body.revision], [200, revision]);
    }
    assert.equal((await ask(at, 'GET', S, { agent })).body.revision, 5);
    agent.destroy();
  });

  it('gives up a body that does not arrive in time', async () => {
    const at = await open({ limits: { timeout: 100 } });
    const { sending, answer } = begin(at, 'POST', `${S}/events`, {
      headers: { ...JSON_TYPE, 'content-length': '1000' },
    });
    sending.write('{"event":');
    const response = await answer;
    assert.equal(response.statusCode, 408);
    assert.equal(JSON.parse(await textOf(response)).error.code, 'INVALID_ARGUMENT');
    sending.destroy();
    assert.equal((await ask(at, 'GET', S)).body.revision, 1);
  });

  it('gives up a body that arrives drop by drop', async () => {
    const at = await open({ limits: { timeout: 200 } });
    const { sending, answer } = begin(at, 'POST', `${S}/events`, { headers: JSON_TYPE });
    const dropping = globalThis.setInterval(() => sending.write(' '), 5);
    const response = await answer;
    globalThis.clearInterval(dropping);
    assert.equal(response.statusCode, 408);
    sending.destroy();
  });

  it('gives up a body without end, and reads no more of it', async () => {
    const at = await open({ limits: { body: 100_000 } });
    for (const path of [`${S}/events`, '/v1/watch']) {
      const { sending, answer } = begin(at, 'POST', path, { headers: JSON_TYPE });
      const piece = ' '.repeat(10_000);
      let isOver = false;
      const write = () => {
        while (!isOver && sending.write(piece));
        if (!isOver) sending.once('drain', write);
      };
      write();
      const response = await answer;
      assert.equal(response.statusCode, 413);
      isOver = true;
      sending.destroy();
      await once(sending, 'close');
    }
    assert.deepEqual(at.errors, []);
  });

  it('gives up a compressed body: it is no JSON', async () => {
    const at = await open();
    const { sending, answer } = begin(at, 'POST', `${S}/events`, {
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    });
    sending.end(new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]));
    assert.equal((await answer).statusCode, 400);
  });

  it('is protected by Node from headers and paths that are too long', async () => {
    const at = await open();
    const long = 'a'.repeat(20_000);
    assert.equal(await headOf(at, `GET ${S} HTTP/1.1\r\nx-long: ${long}`), 431);
    assert.equal(await headOf(at, `GET /v1/apps/${long}/state HTTP/1.1`), 431);
    assert.equal((await ask(at, 'GET', S)).status, 200);
  });

  it('answers only under its own names, and no page of another origin', async () => {
    const at = await open({ hosts: ['127.0.0.1', 'localhost'] });
    const { port } = at;
    for (const [headers, status] of [
      [{}, 200],
      [{ host: `localhost:${port}` }, 200],
      [{ host: `evil.example:${port}` }, 403],
      [{ host: '127.0.0.1.evil.example' }, 403],
      [{ origin: `http://127.0.0.1:${port}` }, 200],
      [{ origin: 'http://evil.example' }, 403],
      [{ origin: 'null' }, 403],
    ]) {
      const { status: answered, body } = await ask(at, 'GET', S, { headers });
      assert.equal(answered, status, JSON.stringify(headers));
      assert.equal(body.error?.code, status === 200 ? undefined : 'FORBIDDEN');
      assert.equal((await ask(at, 'GET', '/openapi.json', { headers })).status, status);
    }
  });

  it('lets pages of named origins alone write', async () => {
    const at = await open({ cors: { origins: ['https://app.example'] } });
    const write = (origin) =>
      ask(at, 'POST', `${S}/events`, { headers: { origin }, body: { event: { author: 'a' } } });
    const named = await write('https://app.example');
    assert.deepEqual([named.status, named.headers['access-control-allow-origin']], [200, 'https://app.example']);
    assert.match(
      named.headers['access-control-expose-headers'],
      /etag, idempotency-replayed, statepad-values, retry-after/,
    );
    const other = await write('https://evil.example');
    assert.deepEqual([other.status, other.headers['access-control-allow-origin']], [403, undefined]);
    assert.equal((await ask(at, 'GET', S)).body.revision, 2);
    const preflight = await ask(at, 'OPTIONS', `${S}/events`, {
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'idempotency-key, statepad-lease' },
    });
    assert.equal(preflight.headers['access-control-allow-headers'], 'idempotency-key, statepad-lease');
  });

  it('stores a cut request whole or not at all, and the same one tells which', async () => {
    const at = await open();
    for (let n = 0; n < 40; n++) {
      const event = { id: `cut${n}`, author: 'a', actions: { stateDelta: { n, 'user:n': n } } };
      const { sending, answer } = begin(at, 'POST', `${S}/events`, { headers: JSON_TYPE });
      answer.catch(() => undefined);
      sending.end(JSON.stringify({ event }));
      // At another moment each time: before it is sent, on its way, or answered.
      for (let turn = 0; turn < n % 8; turn++) await new Promise((resolve) => setImmediate(resolve));
      sending.destroy();
      const again = await ask(at, 'POST', `${S}/events`, { body: { event, since: 0 } });
      assert.deepEqual([again.status, again.body.state.n, again.body.state['user:n']], [200, n, n]);
      assert.equal(again.body.events.filter(({ id }) => id === event.id).length, 1);
    }
    const { events } = await at.service.getSession(MONDAY);
    assert.equal(events.length, 41);
    assert.deepEqual(at.errors, []);
  });
});

describe('streams', () => {
  it('of a principal are limited, whatever its token, and others are not', async () => {
    const at = await open({
      limits: { streams: 2 },
      authorize: (request) => {
        const [name] = (request.headers.get('authorization') ?? '').replace('Bearer ', '').split('/');
        return CLIENTS[name];
      },
    });
    const first = await openStream(at, { client: 'ana/one' });
    const second = await openStream(at, { client: 'ana/two' });
    assert.deepEqual([first.status, second.status], [200, 200]);
    const third = await openStream(at, { client: 'ana/three' });
    assert.equal(third.status, 429);
    assert.equal(third.response.headers['retry-after'], '1');
    assert.equal(JSON.parse(await textOf(third.response)).error.code, 'TOO_MANY_REQUESTS');
    assert.equal((await openStream(at, { client: 'admin/one' })).status, 200);
    assert.equal((await ask(at, 'GET', S, { client: 'ana/four' })).status, 200);
    first.sending.destroy();
    await until(async () => (await openStream(at, { client: 'ana/five' })).status === 200);
  });

  it('end when their principal ends', async () => {
    const ends = Date.now() + 400;
    const at = await open({ authorize: () => ({ ...CLIENTS.ana, ends }) });
    const { status, response } = await openStream(at);
    assert.equal(status, 200);
    const path = `/v1/watch?targets=${encodeURIComponent(JSON.stringify([MONDAY]))}`;
    const several = await openStream(at, { path });
    await Promise.all([textOf(response), textOf(several.response)]);
    assert.ok(Date.now() >= ends - 5, 'not before');
    assert.equal((await openStream(at)).status, 401);
  });

  it('end when the handler closes, which answers what has begun and nothing after that', async () => {
    const at = await open();
    const { response } = await openStream(at);
    const { sending, answer } = begin(at, 'POST', `${S}/events`, { headers: JSON_TYPE });
    sending.write('{"event":');
    await until(() => at.server._connections >= 2);
    await new Promise((resolve) => setImmediate(resolve));
    const closing = at.handler.close();
    await textOf(response);
    sending.end('{"author":"a"}}');
    assert.equal((await answer).statusCode, 200);
    await closing;
    const late = await ask(at, 'GET', S);
    assert.deepEqual([late.status, late.body.error.code, late.headers['retry-after']], [503, 'CLOSED', '1']);
  });

  it('of two thousand clients wait at little cost, and all get the next change', async () => {
    const at = await open({ limits: { streams: 2_000 } });
    const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
    const streams = [];
    const before = memory();
    while (streams.length < 2_000) {
      streams.push(
        ...(await Promise.all(Array.from({ length: 100 }, () => openStream(at, { agent, client: 'ana' })))),
      );
    }
    assert.ok(streams.every(({ status }) => status === 200));
    // Client and server are one process: each stream has two ends here.
    const each = (memory() - before) / streams.length;
    assert.ok(each < 80_000, `${Math.round(each / 1000)} kB each`);
    assert.equal((await openStream(at)).status, 429);
    const told = streams.map(({ response }) => textUntil(response, '"told":true'));
    await at.service.appendEvent({ session: await at.service.getSession(MONDAY), event: { author: 'a', told: true } });
    await Promise.all(told);
    streams.forEach(({ sending }) => sending.destroy());
    await until(async () => (await openStream(at)).status === 200);
    assert.deepEqual(at.errors, []);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Bytes in use. */
function memory() {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The status of what a socket answers to a request line and its headers. */
async function headOf({ port }, head) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`${head}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece) => (text += piece));
  await once(socket, 'close');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}

/** Waits until something is so. */
async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
