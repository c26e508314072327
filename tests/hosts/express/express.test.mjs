// Express: the handler below a path; and with its compression in front of a stream, whose changes reach the client as
// they come.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { applyChange, connect } from 'statepad/client';
import { nodeListener, serve } from 'statepad/serve';
import { install } from '../host.mjs';
import { handlerOver } from '../served-handler.js';
import { seenBy, works } from '../matrix.mjs';
import { itServes } from '../served.mjs';

const KEY = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };

const require = createRequire(join(await install('express'), 'package.json'));
const express = require('express');
const compression = require('compression');

/** Starts an application on a free port. */
const listen = async (app) =>
  await new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });

async function stop(server) {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve() : server.close(resolve)));
}

describe('in Express', () => {
  const complaints = [];
  const service = new SessionService();
  let server;

  before(async () => {
    const handler = handlerOver(service, { onError: (error) => complaints.push(String(error)) });
    const app = express();
    app.use('/agents', nodeListener(handler));
    server = await listen(app);
  });
  after(async () => {
    await stop(server);
    await service.close();
  });

  const seen = seenBy('express');
  const output = () => complaints.join('\n');
  itServes(() => ({ url: `http://127.0.0.1:${server.address().port}/agents`, output }), {
    saw: () => seen.saw('Express, `serve`', works()),
  });

  it('is what docs/hosts.md says', () => seen.check());
});

describe('behind compression, in Express', () => {
  let service;
  let server;

  before(async () => {
    service = new SessionService();
    const handler = serve(service, { insecure: true });
    const plain = async (request) => {
      const { body, headers } = await handler(request);
      return new Response(body, { headers: { 'content-type': headers.get('content-type') } });
    };
    const app = express();
    // It compresses whatever it may, as the default of many proxies is.
    app.use(compression({ threshold: 0, filter: () => true }));
    app.use('/agents', nodeListener(handler));
    app.use('/plain', nodeListener(plain));
    server = await listen(app);
  });
  after(async () => {
    await stop(server);
    await service?.close();
  });

  const address = (path) => `http://127.0.0.1:${server.address().port}${path}`;

  it('ten changes come one by one', async () => {
    const client = connect(address('/agents'));
    const session = await client.createSession(KEY);
    const changes = client.watch({ ...KEY, whole: true });
    let shown = applyChange(undefined, (await changes.next()).value);
    for (let n = 1; n <= 10; n++) {
      await client.appendEvent({ session, event: { author: 'ana', actions: { stateDelta: { n } } } });
      shown = applyChange(shown, (await changes.next()).value);
      assert.deepEqual([shown.revision, shown.state.n], [n, n]);
    }
    await changes.return();
  });

  it('what may be transformed is, and a stream is not', async () => {
    const { id: sessionId } = await service.createSession({ ...KEY, sessionId: 'other' });
    const query = `?${new globalThis.URLSearchParams({ ...KEY, sessionId })}`;
    const headers = { accept: 'text/event-stream', 'accept-encoding': 'gzip' };
    for (const [path, encoding] of [
      ['/agents/v1/watch', null],
      ['/plain/v1/watch', 'gzip'],
    ]) {
      const response = await fetch(address(path + query), { headers });
      assert.equal(response.headers.get('content-encoding'), encoding);
      await response.body.cancel();
    }
  });

  it('a POST comes through with its body, and a request that is none is refused', async () => {
    const post = await fetch(address('/agents/v1/watch'), { method: 'POST', body: JSON.stringify([KEY]) });
    const reader = post.body.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /^retry: 1000/);
    await reader.cancel();
    assert.equal((await fetch(address('/agents/v1/watch'), { method: 'POST', body: 'junk' })).status, 400);
  });
});
