// Node's own servers: whatever comes through the socket, the process lives on and each request is answered.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createTlsServer, request as tlsRequest } from 'node:https';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { nodeListener, serve as serveSessions } from 'statepad/serve';
import { countingWatches } from '../../support/services.mjs';

const servers = [];
const rejections = [];
process.on('unhandledRejection', (reason) => rejections.push(reason));
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(rejections.splice(0), []);
});

/** A server that answers by a handler: its port. */
async function serve(handler, options) {
  const server = createServer(nodeListener(handler, options));
  servers.push(server);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

/** Sends a text as it stands, and answers all that comes back. */
async function raw(port, text) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  let answer = '';
  socket.setEncoding('utf8').on('data', (piece) => (answer += piece));
  await once(socket, 'close');
  return answer;
}
const lines = (first, ...more) => [first, 'Host: host', 'Connection: close', ...more, '', ''].join('\r\n');
const statusOf = (answer) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('the listener', () => {
  it('answers requests that are none with 400, and goes on', async () => {
    const asked = [];
    const port = await serve((request) => {
      asked.push(request.url);
      return new Response('well');
    });
    for (const target of [
      '*:99999',
      '*@:1',
      '*%00',
      '*[',
      '*',
      '@x',
      'x',
      'http://[',
      'http://a:99999/',
      'ftp://a/',
    ]) {
      const answer = await raw(port, lines(`GET ${target} HTTP/1.1`));
      assert.equal(statusOf(answer), 400, `${target}: ${answer}`);
    }
    for (const host of ['a/b', 'a@b', 'a b', 'a:99999', '[', 'a?b', 'a#b', 'a\\b']) {
      const answer = await raw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.equal(statusOf(answer), 400, `${host}: ${answer}`);
    }
    for (const method of ['TRACE', 'CONNECT']) {
      const answer = await raw(port, lines(`${method} / HTTP/1.1`));
      assert.ok([400, 405, NaN].includes(statusOf(answer)), answer);
    }
    assert.deepEqual(asked, []);
    assert.match(await raw(port, lines('GET //evil.example/a?b#c HTTP/1.1')), /\r\nwell\r\n0\r\n\r\n$|\r\n\r\nwell$/);
    assert.match(await raw(port, lines('GET http://other/x HTTP/1.1')), /\r\nwell\r\n0\r\n\r\n$|\r\n\r\nwell$/);
    assert.match(await raw(port, lines('OPTIONS * HTTP/1.1')), /\r\nwell\r\n0\r\n\r\n$|\r\n\r\nwell$/);
    assert.match(await raw(port, 'GET /old HTTP/1.0\r\n\r\n'), /\r\nwell\r\n0\r\n\r\n$|\r\n\r\nwell$/);
    assert.deepEqual(asked, [
      'http://host//evil.example/a?b#c',
      'http://other/x',
      'http://host/',
      'http://localhost/old',
    ]);
  });

  it('keeps method, headers and body', async () => {
    const port = await serve(async (request) => {
      const { method, url, headers } = request;
      const answer = Response.json({ method, url, one: headers.get('x-one'), body: await request.text() });
      answer.headers.append('set-cookie', 'a=1');
      answer.headers.append('set-cookie', 'b=2');
      return answer;
    });
    const big = 'é'.repeat(200_000);
    for (const [method, body] of [
      ['POST', 'some text'],
      ['PUT', big],
      ['DELETE', ''],
      ['GET', ''],
    ]) {
      const response = await fetch(`http://127.0.0.1:${port}/path?x=1`, {
        method,
        headers: { 'x-one': 'ä' },
        ...(body && { body }),
      });
      assert.deepEqual(await response.json(), { method, url: `http://127.0.0.1:${port}/path?x=1`, one: 'ä', body });
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
    }
    const head = await raw(port, lines('HEAD / HTTP/1.1'));
    assert.match(head, /^HTTP\/1\.1 200/);
    assert.ok(head.endsWith('\r\n\r\n'), 'no body');
  });

  it('serves over HTTP/2, too', async () => {
    const server = createHttp2Server(
      nodeListener(async (request) => {
        const { method, url } = request;
        return Response.json({ method, url, body: await request.text() });
      }),
    );
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const authority = `127.0.0.1:${server.address().port}`;
    const client = connectHttp2(`http://${authority}`);
    const stream = client.request({ ':method': 'POST', ':path': '/x?y' });
    stream.end('text');
    let text = '';
    for await (const piece of stream) text += piece;
    assert.deepEqual(JSON.parse(text), { method: 'POST', url: `http://${authority}/x?y`, body: 'text' });
    await new Promise((resolve) => client.close(resolve));
    await new Promise((resolve) => server.close(resolve));
  });

  it('serves over TLS, too', async () => {
    // A key that both sides have takes the place of a certificate.
    const psk = Buffer.alloc(32, 1);
    const tls = { ciphers: 'PSK', maxVersion: 'TLSv1.2' };
    const handler = async (request) => new Response(`${request.url} ${await request.text()}`);
    const server = createTlsServer({ ...tls, pskCallback: () => psk }, nodeListener(handler));
    servers.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address();
    const request = tlsRequest({
      ...tls,
      ...{ host: '127.0.0.1', port, path: '/x', method: 'POST', agent: false },
      pskCallback: () => ({ psk, identity: 'ana' }),
      checkServerIdentity: () => undefined,
    });
    request.end('tides');
    const [response] = await once(request, 'response');
    assert.equal(await textOf(response), `https://127.0.0.1:${port}/x tides`);
  });

  it('answers what a handler throws with 500 and a number, and ends a body that breaks', async () => {
    const heard = [];
    const onError = (error, { number, request }) => heard.push([error.message, number, request.method]);
    const failing = [
      () => {
        throw new Error('at db.internal');
      },
      () => Promise.reject(new Error('at db.internal')),
      () => undefined,
      () => 'text',
    ];
    for (const handler of failing) {
      const port = await serve(handler, { onError });
      const response = await fetch(`http://127.0.0.1:${port}/`);
      const { error } = await response.json();
      const [[, number, method]] = heard.splice(0);
      assert.deepEqual(
        [response.status, error],
        [500, { code: 'INTERNAL', message: `the server has failed: logged as ${number}`, number }],
      );
      assert.equal(method, 'GET');
    }
    const broken = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('half')),
          pull: (controller) => controller.error(new Error('broken')),
        }),
      );
    const port = await serve(broken, { onError });
    const answer = await raw(port, lines('GET / HTTP/1.1'));
    assert.ok(!answer.endsWith('0\r\n\r\n'), 'the client sees that it is not all');
    assert.equal(heard[0][0], 'broken');
    const locked = await serve(
      () => {
        const response = new Response('x');
        response.body.getReader();
        return response;
      },
      { onError },
    );
    assert.equal(statusOf(await raw(locked, lines('GET / HTTP/1.1'))), 500, 'a body that somebody reads already');
    assert.equal(heard.length, 2);
  });

  it('writes no faster than the client reads, and lets go when it has gone', async () => {
    let pulled = 0;
    const gone = [];
    const port = await serve((request) => {
      request.signal.addEventListener('abort', () => gone.push('signal'));
      return new Response(
        new ReadableStream({
          pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(65_536));
          },
          cancel: () => gone.push('body'),
        }),
      );
    });
    const request = httpRequest({ port, host: '127.0.0.1' });
    request.on('error', () => undefined);
    request.end();
    const [response] = await once(request, 'response');
    response.pause();
    let before = -1;
    // Once the buffers of the sockets are full, nothing more is asked of the body.
    while (pulled !== before) {
      before = pulled;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(pulled < 2000, `${pulled} pieces`);
    request.destroy();
    while (gone.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.deepEqual(gone.sort(), ['body', 'signal']);
  });

  it('lets go of a stream whose client has gone, and of a request that is cut in its body', async () => {
    const service = new SessionService();
    const key = { appName: 'a', userId: 'u', sessionId: 's' };
    await service.createSession(key);
    const watches = countingWatches(service);
    const heard = [];
    const port = await serve(serveSessions(watches.source, { insecure: true, onError: (error) => heard.push(error) }));
    const response = await fetch(`http://127.0.0.1:${port}/v1/watch?appName=a&userId=u&sessionId=s`, {
      headers: { accept: 'text/event-stream' },
    });
    while (watches.open() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await response.body.cancel();
    while (watches.open() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const socket = connect(port, '127.0.0.1');
    socket.write(['POST /v1/watch HTTP/1.1', 'Host: h', 'Content-Length: 1000', '', '[{"appN'].join('\r\n'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await once(socket, 'close');
    const posted = await fetch(`http://127.0.0.1:${port}/v1/watch`, { method: 'POST', body: JSON.stringify([key]) });
    assert.equal(posted.status, 200);
    await posted.body.cancel();
    assert.deepEqual(heard, [], 'a client that goes is no error');
    await service.close();
  });

  it('passes over the rest of a body that the handler lets go of', async () => {
    const port = await serve(async (request) => {
      const reader = request.body.getReader();
      const { value } = request.url.endsWith('/first') ? await reader.read() : { value: [] };
      await reader.cancel();
      return new Response(String(value.length > 0));
    });
    for (const [path, hasRead] of [
      ['/none', 'false'],
      ['/first', 'true'],
      ['/none', 'false'],
    ]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: 'x'.repeat(1_000_000) });
      assert.equal(await response.text(), hasRead);
    }
  });
});
