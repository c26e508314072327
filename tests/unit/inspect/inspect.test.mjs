// `inspect(service)`: who is answered, what may be written, and what is kept running.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { URLSearchParams } from 'node:url';
import { ask } from '../../cli/requests.mjs';
import { source } from '../../support/source.mjs';
import { furnished, inspected, MONDAY } from './inspector.mjs';

const { ROUTES, pathTo } = await source('serve/routes/routes.ts', 'http/paths.ts');
const writing = ROUTES.map(({ declaration }) => declaration).filter(
  ({ method, access }) => method !== 'GET' && access !== 'client',
);
const reading = ROUTES.map(({ declaration }) => declaration).filter(
  ({ method, path, access }) => method === 'GET' && path.startsWith('/v1/') && access !== 'client',
);

/** Bodies without which a route would refuse the request for another reason. */
const BODIES = {
  appendEvent: { event: { author: 'user' } },
  rewindSession: { before: 'i1' },
  takeLease: { holder: 'h', ttl: 1000 },
  renewLease: { holder: 'h', ttl: 1000 },
  getOrCreateSession: { sessionId: 'new' },
  createSession: { sessionId: 'new' },
  trimAppHistory: { upTo: 1 },
  trimUserHistory: { upTo: 1 },
};
/** The keys that a route must be told. */
const KEYS = {
  getSessionHistory: '?key=topic',
  getAppHistory: '?key=app:motd',
  getUserHistory: '?key=user:name',
};
const HEADERS = { 'statepad-lease': 'x', 'idempotency-key': 'k', 'if-match': '*' };

describe('an inspector of a service', () => {
  it('prints its address once, with a token that is new each time', async () => {
    const service = await furnished();
    const [one, other] = await Promise.all([inspected(service, { label: 'a.db' }), inspected(service)]);
    assert.deepEqual(one.lines, [`inspector of a.db: ${one.url}`]);
    assert.match(one.url, /^http:\/\/127\.0\.0\.1:\d+\/inspector\/#token=[\w-]{43}$/);
    assert.notEqual(one.token, other.token);
    assert.equal((await one.get('/v1/apps', { token: other.token })).status, 401);
  });

  it('answers those with its token: the facts, the sessions, and what is written meanwhile', async () => {
    const service = await furnished();
    const { get, origin, token } = await inspected(service);
    assert.deepEqual((await get('/inspector/about.json')).body, { store: 'sessions', write: false, base: '../' });
    assert.deepEqual((await get('/v1/apps')).body, { apps: ['shop', 'tutor'] });
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const query = new URLSearchParams({ ...MONDAY, whole: 'true' });
    const stream = await fetch(`${origin}/v1/watch?${query}`, { headers });
    const reader = stream.body.getReader();
    const until = async (text) => {
      for (let heard = ''; !heard.includes(text);) heard += Buffer.from((await reader.read()).value);
    };
    await until('"moon"');
    await service.updateState({ ...MONDAY }, () => ({ topic: 'sun' }));
    await until('"sun"');
    await reader.cancel();
  });

  const REFUSED = [
    ['no token', { token: undefined }, 401],
    ['a wrong token', { token: 'x'.repeat(43) }, 401],
    ['a token in the query', { token: undefined, query: true }, 401],
    ['a foreign Host', { headers: { host: 'evil.example' } }, 403],
    ['a Host that only begins like it', { headers: { host: '127.0.0.1.evil.example' } }, 403],
    ['another origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['a page on another port', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
  ];
  for (const [what, { query, ...options }, status] of REFUSED) {
    it(`gives nothing for ${what}`, async () => {
      const { get, token, errors } = await inspected(await furnished());
      for (const path of ['/v1/apps', '/v1/apps/tutor/users/ana/sessions/monday', '/inspector/about.json']) {
        const answer = await get(query ? `${path}?token=${token}` : path, options);
        assert.deepEqual([answer.status, Object.keys(answer.body)], [status, ['error']], path);
      }
      assert.deepEqual(errors, []);
    });
  }

  it('gives a foreign Host not even a file', async () => {
    const { origin } = await inspected(await furnished());
    const answer = await ask(`${origin}/inspector/`, { headers: { host: 'evil.example' } });
    assert.equal(answer.status, 403);
  });

  it('limits what is shown by names', async () => {
    const { get } = await inspected(await furnished(), { only: { apps: ['tutor'], users: ['ana'] } });
    assert.deepEqual((await get('/v1/apps')).body, { apps: ['tutor'] });
    assert.equal((await get('/v1/apps/tutor/users/ana/sessions/monday')).status, 200);
    assert.equal((await get('/v1/apps/shop/users/ben/sessions/cart')).status, 403);
  });

  it('answers nothing more after its end, and ends once', async () => {
    const service = await furnished();
    const { get, close } = await inspected(service);
    await Promise.all([close(), close()]);
    await assert.rejects(get('/v1/apps'), { code: 'ECONNREFUSED' });
    assert.ok(await service.getSession(MONDAY));
  });
});

describe('an inspector that only reads', async () => {
  const service = await furnished();
  const call = async ({ get }, { method, path, operation }) =>
    await get(pathTo(path, MONDAY), { method, body: BODIES[operation], headers: HEADERS });

  it('knows every route that writes', () => {
    assert.ok(writing.length > 10);
  });
  for (const declaration of writing) {
    it(`refuses ${declaration.operation}`, async () => {
      const before = JSON.stringify(await service.getSession(MONDAY));
      const { status, body } = await call(await inspected(service), declaration);
      assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'], JSON.stringify(body));
      assert.equal(JSON.stringify(await service.getSession(MONDAY)), before);
    });
  }
  for (const declaration of reading) {
    it(`answers ${declaration.operation}`, async () => {
      const query = KEYS[declaration.operation] ?? '';
      const { status, body } = await (await inspected(service)).get(pathTo(declaration.path, MONDAY) + query);
      assert.equal(status, 200, JSON.stringify(body));
    });
  }

  it('writes when it is told to', async () => {
    const writer = await inspected(service, { write: true });
    assert.equal((await writer.get('/inspector/about.json')).body.write, true);
    const plain = { method: 'POST', body: BODIES.appendEvent };
    assert.equal((await writer.get('/v1/apps/tutor/users/ana/sessions/monday/events', plain)).status, 200);
    const update = { method: 'POST', body: { delta: { 'app:motd': 'Hello' } } };
    assert.equal((await writer.get('/v1/apps/tutor/state:update', update)).status, 200);
  });
});

describe('the arguments', () => {
  for (const [options, path] of [
    [{ port: -1 }, 'port'],
    [{ port: 65_536 }, 'port'],
    [{ port: '80' }, 'port'],
    [{ write: 'yes' }, 'write'],
    [{ open: 1 }, 'open'],
    [{ keepAlive: 1 }, 'keepAlive'],
    [{ log: 'x' }, 'log'],
    [{ onError: 1 }, 'onError'],
    [{ label: '' }, 'label'],
    [{ only: { apps: 'tutor' } }, 'only.apps'],
    [{ only: { app: ['tutor'] } }, 'only.app'],
    [{ wirte: true }, 'wirte'],
  ]) {
    it(`refuses ${JSON.stringify(options)}`, async () => {
      await assert.rejects(inspected(await furnished(), options), ({ code, message }) => {
        assert.equal(code, 'INVALID_ARGUMENT');
        assert.ok(message.includes(path), message);
        return true;
      });
    });
  }

  it('refuses what is no service, and a port that is taken', async () => {
    await assert.rejects(inspected({}), { code: 'INVALID_ARGUMENT', path: 'service.getSession' });
    const { origin } = await inspected(await furnished());
    const port = Number(new URL(origin).port);
    await assert.rejects(inspected(await furnished(), { port }), ({ code, message }) => {
      assert.equal(code, 'INVALID_ARGUMENT');
      assert.match(message, new RegExp(`port ${port} of 127\\.0\\.0\\.1 cannot be used`));
      return true;
    });
  });
});
