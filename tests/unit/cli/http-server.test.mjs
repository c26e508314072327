// Node's server around a handler: its limits, and its end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, request as requestTo } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, it } from 'node:test';
import { freePort } from '../../support/ports.mjs';
import { source } from '../../support/source.mjs';

const { listen } = await source('cli/serve/http-server.ts');

const begun = [];
afterEach(() => Promise.all(begun.splice(0).map((server) => server.stop(0))));

/** A server whose handler is `answer`; `close` is called when it is first told to close. */
async function serving(answer, { host = '127.0.0.1', port = 0, close = async () => undefined } = {}) {
  let closed;
  const handler = Object.assign(answer, { close: () => (closed ??= close()) });
  const server = await listen(handler, { host, port, onError: assert.fail });
  begun.push(server);
  return server;
}

/** A promise, and the function that resolves it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A response of `node:http` to a GET. */
async function answerOf(port, options = {}) {
  const [response] = await once(get({ port, host: '127.0.0.1', ...options }), 'response');
  return response;
}

/** All that a server writes to a connection on which `lines` are sent. */
async function raw(port, lines) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(lines);
  return await text(socket);
}

/** Addresses on which it cannot listen, and the words that say so. */
const NO_PLACE = [
  [{ host: '192.0.2.1' }, /^192\.0\.2\.1 is not an address of this machine$/],
  [
    { host: 'nowhere.invalid' },
    /^(there is no host nowhere\.invalid|cannot listen on port \d+ of nowhere\.invalid: )/,
  ],
];

describe('a server', () => {
  it('answers by its handler, on a free port', async () => {
    const { port } = await serving(async (request) => new Response(new URL(request.url).pathname));
    const response = await answerOf(port, { path: '/x' });
    assert.deepEqual([response.statusCode, await text(response)], [200, '/x']);
  });

  it('says that a port is taken', async () => {
    const { port } = await serving(async () => new Response());
    const message = `port ${port} of 127.0.0.1 is taken: choose another one by --port, or --port 0 for any`;
    await assert.rejects(
      serving(async () => new Response(), { port }),
      { code: 1, message },
    );
  });

  for (const [place, message] of NO_PLACE) {
    it(`says that it cannot listen on ${place.host}`, async () => {
      const port = await freePort();
      await assert.rejects(
        serving(async () => new Response(), { ...place, port }),
        { code: 1, message },
      );
    });
  }

  it('answers headers that are too long with 431, and what is not HTTP with 400', async () => {
    const { port } = await serving(async () => new Response());
    const long = await raw(port, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`);
    assert.match(long, /^HTTP\/1\.1 431 /);
    assert.match(await raw(port, 'HELO localhost\r\n\r\n'), /^HTTP\/1\.1 400 /);
  });

  it('keeps a connection for the next request, longer than proxies do', async () => {
    const { port } = await serving(async () => new Response());
    const agent = new Agent({ keepAlive: true });
    const response = await answerOf(port, { agent });
    response.resume();
    assert.equal(response.headers['keep-alive'], 'timeout=75');
    agent.destroy();
  });
});

describe('a server that is told to stop', () => {
  it('answers what is under way, and takes nothing new', async () => {
    const [arrived, answer] = [gate(), gate()];
    const server = await serving(async () => {
      arrived.open();
      await answer.opened;
      return new Response('whole');
    });
    const response = answerOf(server.port, { agent: new Agent({ keepAlive: true }) });
    await arrived.opened;
    const stopped = server.stop(60_000);
    await assert.rejects(answerOf(server.port), { code: 'ECONNREFUSED' });
    answer.open();
    const { headers, statusCode } = await response;
    assert.deepEqual([statusCode, headers.connection, await text(await response)], [200, 'close', 'whole']);
    assert.equal(await stopped, 0);
  });

  it('ends streams by its handler, and waits for their last bytes', async () => {
    let controller;
    const body = new ReadableStream({ start: (given) => void (controller = given) });
    const close = async () => {
      controller.enqueue(new TextEncoder().encode('bye'));
      controller.close();
    };
    const server = await serving(async () => new Response(body), { close });
    const response = await answerOf(server.port, { agent: new Agent({ keepAlive: true }) });
    const stopped = server.stop(60_000);
    assert.equal(await text(response), 'bye');
    assert.equal(await stopped, 0);
  });

  it('waits for a body that is still sent, and not for connections that say nothing', async () => {
    const server = await serving(async (request) => new Response(await request.text()));
    const silent = connect(server.port, '127.0.0.1');
    await once(silent, 'connect');
    const idle = new Agent({ keepAlive: true });
    (await answerOf(server.port, { agent: idle })).resume();
    const sending = requestTo({ port: server.port, host: '127.0.0.1', method: 'POST' });
    sending.write('half');
    await once(sending, 'socket');
    await once(sending.socket, 'connect');
    // The server has seen it when a request that came later is answered.
    (await answerOf(server.port)).resume();
    const stopped = server.stop(60_000);
    sending.end(' whole');
    const [response] = await once(sending, 'response');
    assert.equal(await text(response), 'half whole');
    assert.equal(await stopped, 0);
    idle.destroy();
  });

  it('cuts off what is not answered in time, and says how many', async () => {
    const arrived = gate();
    const server = await serving(async () => {
      arrived.open();
      return await new Promise(() => undefined);
    });
    const cut = assert.rejects(answerOf(server.port), { code: 'ECONNRESET' });
    await arrived.opened;
    assert.equal(await server.stop(1), 1);
    await cut;
  });
});
