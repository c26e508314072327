// An inspector of another server: its routes are passed on, with its token, and nothing else of the browser.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, describe, it } from 'node:test';
import { URLSearchParams } from 'node:url';
import { source } from '../../support/source.mjs';
import { fetched, furnished, inspected, MONDAY, nodeListener, serve } from './inspector.mjs';

const { ROUTES, pathTo } = await source('serve/routes/routes.ts', 'http/paths.ts');
const SESSION = '/v1/apps/tutor/users/ana/sessions/monday';
const OWNER = { id: 'owner', apps: 'all', users: 'all', writes: ['session', 'user', 'app'] };

/** A server on a free port: of a listener of Node. */
async function listening(listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** A server of a service below a path, with a token, and what it was asked. */
async function doored() {
  const service = await furnished();
  const asked = [];
  const authorize = ({ headers }) => (headers.get('authorization') === 'Bearer s3cret' ? OWNER : undefined);
  const listener = nodeListener(serve(service, { authorize, basePath: '/agents' }));
  const origin = await listening((request, response) => {
    asked.push({ url: request.url, method: request.method, headers: request.headers });
    listener(request, response);
  });
  return { service, asked, url: `${origin}/agents` };
}

/** A server that answers everything alike. */
async function answering(status, headers, text = '') {
  return await listening((_, response) => response.writeHead(status, headers).end(text));
}

describe('an inspector of a server', () => {
  it('names it by its host, and answers with what it answers', async () => {
    const { url } = await doored();
    const { get, lines } = await inspected({ url, token: 's3cret' });
    assert.match(lines[0], /^inspector of 127\.0\.0\.1:\d+: /);
    assert.deepEqual((await get('/v1/apps')).body, { apps: ['shop', 'tutor'] });
    const { body, headers } = await get(SESSION);
    assert.deepEqual([body.state.topic, body.revision], ['moon', 1]);
    assert.match(headers.etag, /^"/);
    const missing = await get(`${SESSION}x`);
    assert.deepEqual([missing.status, missing.body.error.code], [404, 'SESSION_NOT_FOUND']);
    const all = await get('/v1/apps/tutor/sessions?limit=1');
    assert.equal(all.status, 200);
  });

  it('keeps the two tokens apart: the page has its own, the server sees but its own', async () => {
    const { url, asked } = await doored();
    const { get, token } = await inspected({ url, token: 's3cret' });
    assert.equal((await get('/v1/apps', { token: 's3cret' })).status, 401);
    assert.equal((await get('/v1/apps', { token: undefined })).status, 401);
    assert.deepEqual(asked, []);
    const secrets = { cookie: 'a=b', referer: 'http://x/', 'x-goog-api-key': token, 'x-custom': 'c' };
    const answer = await get('/v1/apps?limit=1', { headers: secrets });
    assert.equal(answer.status, 200);
    const [{ url: path, headers }] = asked;
    assert.equal(path, '/agents/v1/apps?limit=1');
    assert.equal(headers.authorization, 'Bearer s3cret');
    for (const name of Object.keys(secrets)) assert.equal(headers[name], undefined, name);
    assert.doesNotMatch(JSON.stringify([asked, answer.body, answer.headers]), new RegExp(token));
    assert.doesNotMatch(JSON.stringify([answer.body, answer.headers]), /s3cret/);
  });

  it('passes a stream on piece by piece, and its end in both directions', async () => {
    const { url, service } = await doored();
    const { origin, token, close } = await inspected({ url, token: 's3cret' });
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const several = JSON.stringify([{ ...MONDAY, whole: true, initial: true }]);
    const open = [
      await fetch(`${origin}/v1/watch?${new URLSearchParams({ ...MONDAY, whole: 'true' })}`, { headers }),
      await fetch(`${origin}/v1/watch`, { method: 'POST', headers, body: several }),
    ];
    const readers = open.map(({ body }) => body.getReader());
    const until = async (reader, text) => {
      for (let heard = ''; !heard.includes(text);) heard += Buffer.from((await reader.read()).value);
    };
    for (const reader of readers) await until(reader, '"moon"');
    await service.updateState(MONDAY, () => ({ topic: 'sun' }));
    for (const reader of readers) await until(reader, '"sun"');
    await readers[0].cancel();
    const end = (async () => {
      while (!(await readers[1].read()).done);
    })().catch(() => undefined);
    await close();
    await end;
  });

  for (const { operation, method, path, access } of ROUTES.map(({ declaration }) => declaration)) {
    if (method === 'GET' || access === 'client') continue;
    it(`refuses ${operation} without asking the server`, async () => {
      const { url, asked } = await doored();
      const { get } = await inspected({ url, token: 's3cret' });
      const { status, body } = await get(pathTo(path, MONDAY), { method, body: method === 'POST' ? {} : undefined });
      assert.deepEqual([status, body.error.code, asked], [403, 'FORBIDDEN', []]);
    });
  }

  it('writes when it is told to, as the server allows', async () => {
    const { url, service } = await doored();
    const { get, origin, token } = await inspected({ url, token: 's3cret' }, { write: true });
    const event = { id: 'e2', author: 'user', actions: { stateDelta: { topic: 'wind' } } };
    const appended = await get(`${SESSION}/events`, { method: 'POST', body: { event } });
    assert.deepEqual([appended.status, appended.body.revision], [200, 2]);
    assert.equal((await service.getSession(MONDAY)).state.topic, 'wind');
    const removed = await fetched(origin + SESSION, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(removed.status, 204);
  });

  for (const path of [
    '/healthz',
    '/openapi.json',
    '/v1',
    '/v1/unknown',
    '/v1/reasoningEngines/tutor/sessions',
    '/admin',
  ]) {
    it(`has nothing at ${path}`, async () => {
      const { url, asked } = await doored();
      const { get } = await inspected({ url, token: 's3cret' });
      assert.deepEqual([(await get(path)).status, asked], [404, []]);
    });
  }

  it('says so when the server does not know its token, and asks the page for no other', async () => {
    const { url } = await doored();
    const { get } = await inspected({ url, token: 'wr0ng' });
    const { status, body } = await get('/v1/apps');
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN']);
    assert.match(body.error.message, /does not know the token/);
    assert.doesNotMatch(JSON.stringify(body), /wr0ng/);
  });

  it('says so when the server cannot be reached', async () => {
    const { get, errors } = await inspected({ url: 'http://127.0.0.1:1' });
    const { status, body } = await get('/v1/apps');
    assert.deepEqual([status, body.error.code], [503, 'STORE_UNAVAILABLE']);
    assert.match(errors[0].message, /^http:\/\/127\.0\.0\.1:1 cannot be reached$/);
  });

  it('follows no redirection, which would take the token elsewhere', async () => {
    const { url, asked } = await doored();
    const { get } = await inspected({ url: await answering(302, { location: `${url}/v1/apps` }), token: 's3cret' });
    assert.deepEqual([(await get('/v1/apps')).status, asked], [502, []]);
  });

  it('passes on no cookie, and no header of one connection', async () => {
    const { get } = await inspected({
      url: await answering(
        200,
        {
          'content-type': 'application/json',
          'set-cookie': 'a=b',
          'x-powered-by': 'x',
          'access-control-allow-origin': '*',
        },
        '{"apps":[]}',
      ),
    });
    const { headers, body } = await get('/v1/apps');
    assert.deepEqual(body, { apps: [] });
    for (const name of ['set-cookie', 'x-powered-by', 'access-control-allow-origin']) {
      assert.equal(headers[name], undefined, name);
    }
  });

  for (const [server, path] of [
    [{ url: 'ftp://host' }, 'server.url'],
    [{ url: '/agents' }, 'server.url'],
    [{ url: 'http://host', token: 1 }, 'server.token'],
    [{ url: 'http://host', tokn: 'x' }, 'server.tokn'],
  ]) {
    it(`refuses ${JSON.stringify(server)}`, async () => {
      await assert.rejects(inspected(server), { code: 'INVALID_ARGUMENT', path });
    });
  }

  it('limits nothing by names: the server limits its tokens', async () => {
    const { url } = await doored();
    await assert.rejects(inspected({ url }, { only: { apps: ['tutor'] } }), {
      code: 'INVALID_ARGUMENT',
      path: 'only',
    });
  });
});
