// Access over HTTP: the sessions that a client may see, and the errors that it gets.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService, StatepadError, StoreError } from 'statepad';
import { connect } from 'statepad/client';
import { serve } from 'statepad/serve';
import { memoryStore } from 'statepad/stores/memory';
import { setting } from '../../support/fixtures.mjs';
import { fetchOf } from '../../support/client.mjs';
import { closedAfterEach } from '../../support/services.mjs';

const ANA = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };
const BEN = { appName: 'tutor', userId: 'ben', sessionId: 'monday' };
const SECRET = 'postgres://admin:hunter2@db.internal:5432';

const opened = closedAfterEach();
async function serviceOf(options) {
  const service = opened(options);
  await service.createSession({ ...ANA, state: { n: 0, 'user:n': 1, 'app:n': 2 } });
  await service.createSession({ ...BEN, state: { n: 0, 'user:n': 3 } });
  return service;
}

const requestOf = (parameters, init = {}) => {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return new Request(`http://host/v1/watch?${query.join('&')}`, init);
};
/** A client whose requests a handler answers. */
const clientOf = (handler) =>
  connect({ url: 'http://host', fetch: fetchOf(handler), retry: { pause: 1, attempts: 1 } });
const STREAM = { headers: { accept: 'text/event-stream' } };
const errorOf = async (response) => [response.status, (await response.json()).error];

/** The status for a request, whose stream, if it is one, is let go. */
async function statusOf(handler, parameters, init) {
  const response = await handler(requestOf(parameters, init));
  await response.body?.cancel();
  return response.status;
}

/** The text of a stream until it has a part. */
async function textUntil(part, { body }) {
  const reader = body.getReader();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += new TextDecoder().decode(read.value);
    if (text.includes(part)) {
      await reader.cancel();
      return text;
    }
  }
  return assert.fail(`it ended with ${JSON.stringify(text)}`);
}

const USER = { id: 'ana', apps: ['tutor'], users: ['ana'] };
const TARGETS = {
  app: { appName: 'tutor' },
  'own user': { appName: 'tutor', userId: 'ana' },
  'own session': ANA,
  'own whole session': { ...ANA, whole: true },
  'own session that is not there': { ...ANA, sessionId: 'none' },
  'other user': { appName: 'tutor', userId: 'ben' },
  'other session': BEN,
  'other session that is not there': { ...BEN, sessionId: 'none' },
  'other app': { appName: 'shop' },
};
/** The statuses of streams of all targets, in their order. */
const TABLE = [
  ['a user', USER, [200, 200, 200, 200, 404, 403, 403, 403, 403]],
  ['a session', { ...USER, sessions: ['monday'] }, [200, 200, 200, 200, 403, 403, 403, 403, 403]],
  ['no user', { apps: ['tutor'], users: [] }, [200, 403, 403, 403, 403, 403, 403, 403, 403]],
  ['all users', { apps: ['tutor'], users: 'all' }, [200, 200, 200, 200, 404, 200, 200, 404, 403]],
  ['all apps', { apps: 'all', users: ['ben'] }, [200, 403, 403, 403, 403, 200, 200, 404, 200]],
  ['no app values', { ...USER, reads: ['session', 'user'] }, [403, 200, 200, 200, 404, 403, 403, 403, 403]],
  ['own values alone', { ...USER, reads: ['session'] }, [403, 403, 200, 200, 404, 403, 403, 403, 403]],
  ['nothing', { apps: [], users: [] }, [403, 403, 403, 403, 403, 403, 403, 403, 403]],
];

describe('a principal', () => {
  for (const [name, principal, statuses] of TABLE) {
    it(`that may see ${name} is told that, and of nothing else whether it is there`, async () => {
      const handler = serve(await serviceOf(), { authorize: () => principal });
      const answers = await Promise.all(Object.values(TARGETS).map((target) => statusOf(handler, target, STREAM)));
      assert.deepEqual(
        Object.fromEntries(Object.keys(TARGETS).map((target, index) => [target, answers[index]])),
        Object.fromEntries(Object.keys(TARGETS).map((target, index) => [target, statuses[index]])),
      );
      // As JSON, and as one of several in a stream: the same.
      for (const [index, target] of Object.values(TARGETS).entries()) {
        if (target.sessionId !== undefined) {
          assert.equal(await statusOf(handler, target), statuses[index]);
        }
        const several = new Request('http://host/v1/watch', { method: 'POST', body: JSON.stringify([target]) });
        const part = { 200: 'id: 0/', 403: '"code":"FORBIDDEN"', 404: '"code":"SESSION_NOT_FOUND"' }[statuses[index]];
        assert.ok(await textUntil(part, await handler(several)));
      }
    });
  }

  it('of a user hears of what is written to its app', async () => {
    const service = await serviceOf();
    const source = clientOf(serve(service, { authorize: () => USER }));
    const changes = source.watch({ appName: 'tutor' }, { since: 1 });
    await service.updateState({ appName: 'tutor' }, () => ({ 'app:n': 5 }));
    const { value } = await changes.next();
    assert.deepEqual(value.delta, { 'app:n': 5 });
    await changes.return();
  });

  it('is not told who wrote a value whose session it may not see', async () => {
    const service = await serviceOf();
    const source = clientOf(serve(service, { authorize: () => USER }));
    const changes = source.watch({ appName: 'tutor' }, { since: 1 });
    for (const key of [BEN, ANA]) {
      const session = await service.getSession(key);
      await service.appendEvent({ session, event: setting({ 'app:n': key.userId }) });
    }
    const [ben, ana] = [await changes.next(), await changes.next()].map(({ value }) => value);
    assert.deepEqual(ben.delta, { 'app:n': 'ben' });
    assert.equal('by' in ben, false);
    assert.deepEqual([ana.by.userId, ana.by.sessionId], ['ana', 'monday']);
    await changes.return();
  });

  it('sees no key of a scope that it may not read, in states, events and changes', async () => {
    const service = await serviceOf();
    const session = await service.getSession(ANA);
    const authorize = () => ({ ...USER, reads: ['session'] });
    const source = clientOf(serve(service, { authorize }));
    const changes = source.watch({ ...ANA, whole: true });
    const first = (await changes.next()).value;
    assert.deepEqual(first.session.state, { n: 0 });
    const customMetadata = { statepad: { deleted: ['app:n', 'm'] } };
    const stateDelta = { n: 1, 'user:n': 2, 'app:n': null, m: null };
    await service.appendEvent({ session, event: { author: 'a', actions: { stateDelta }, customMetadata } });
    const { value } = await changes.next();
    assert.deepEqual([value.type, value.event.actions.stateDelta], ['event', { n: 1, m: null }]);
    assert.deepEqual(value.event.customMetadata, { statepad: { deleted: ['m'] } });
    const read = await source.getSession(ANA);
    assert.deepEqual(read.state, { n: 1 });
    assert.ok(!JSON.stringify(read).includes('user:n'));
    await changes.return();
  });

  it('ends, and its streams with it', async () => {
    const service = await serviceOf();
    const handler = serve(service, { authorize: () => ({ ...USER, ends: new Date(Date.now() + 30) }) });
    const { body } = await handler(requestOf(ANA, STREAM));
    let text = '';
    for await (const piece of body) text += new TextDecoder().decode(piece);
    assert.match(text, /^retry: 1000\n\nid: /);
    const late = serve(service, { authorize: () => ({ ...USER, ends: Date.now() - 1 }) });
    assert.deepEqual((await errorOf(await late(requestOf(ANA))))[1].code, 'UNAUTHENTICATED');
  });

  it('that is none is a fault of the server, and grants nothing', async () => {
    const service = await serviceOf();
    for (const junk of [
      {},
      null,
      'ana',
      5,
      [],
      ANA,
      { apps: ['tutor'] },
      { users: ['ana'] },
      { apps: 'tutor', users: ['ana'] },
      { apps: ['tutor'], users: [5] },
      { ...USER, user: 'ana' },
      { ...USER, reads: ['everything'] },
      { ...USER, ends: 'soon' },
      { ...USER, id: 5 },
      { ...USER, sessions: null },
    ]) {
      const heard = [];
      const onError = (error, { number, request }) => heard.push([error.message, number, request.method]);
      const [status, error] = await errorOf(await serve(service, { authorize: () => junk, onError })(requestOf(ANA)));
      const [[message, number, method]] = heard;
      assert.deepEqual(
        [status, error],
        [500, { code: 'INTERNAL', message: `the server has failed: logged as ${number}`, number }],
      );
      assert.match(message, /principal|authorize/);
      assert.equal(method, 'GET');
    }
  });

  it('is missing where nobody is known, or refused as the server says', async () => {
    const service = await serviceOf();
    const none = serve(service, { authorize: async () => undefined });
    assert.deepEqual(await errorOf(await none(requestOf(ANA, STREAM))), [
      401,
      { code: 'UNAUTHENTICATED', message: 'the client is not authenticated' },
    ]);
    const refuses = serve(service, { authorize: () => new Response('no', { status: 418 }) });
    assert.equal(await (await refuses(requestOf(ANA))).text(), 'no');
    const says = serve(service, {
      authorize: () => {
        throw new StatepadError('FORBIDDEN', 'not on Sundays');
      },
    });
    assert.deepEqual(await errorOf(await says(requestOf(ANA))), [
      403,
      { code: 'FORBIDDEN', message: 'not on Sundays' },
    ]);
  });
});

describe('an error', () => {
  const down = (error) => ({
    ...memoryStore(),
    watch: undefined,
    load: async () => {
      throw error;
    },
  });

  it('of the store is told as its code and a number, and no word of what the driver said', async () => {
    for (const [error, status, code] of [
      [new StoreError('unavailable', `connect ECONNREFUSED ${SECRET}`), 503, 'STORE_UNAVAILABLE'],
      [new StoreError('rejected', `cannot cast at ${SECRET}`), 400, 'INVALID_ARGUMENT'],
      [new StoreError('corrupt', `bad row at ${SECRET}`), 500, 'STORE_CORRUPT'],
      [new Error(`unknown: ${SECRET}`), 503, 'STORE_UNAVAILABLE'],
    ]) {
      const service = new SessionService({ store: down(error), retry: { attempts: 1 } });
      const heard = [];
      const onError = (cause, { number }) => {
        heard.push([cause, number]);
        throw new Error('the log is full');
      };
      const handler = serve(service, { insecure: true, onError });
      for (const init of [{}, STREAM]) {
        const response = await handler(requestOf(ANA, init));
        const headers = JSON.stringify([...response.headers]);
        const [is, told] = await errorOf(response);
        const [cause, number] = heard.pop();
        assert.deepEqual([is, told.code, told.number], [status, code, number]);
        assert.ok(!(JSON.stringify(told) + headers).includes('db.internal'), told.message);
        assert.match(String(cause.message), /db\.internal/);
        assert.match(number, /^\d{12}$/);
      }
      const several = new Request('http://host/v1/watch', {
        method: 'POST',
        body: JSON.stringify([ANA, { ...ANA, whole: true }]),
      });
      const text = await textUntil(`"code":"${code}"`, await handler(several));
      assert.ok(!text.includes('db.internal'));
      assert.ok(heard.length >= 1 && text.includes(heard[0][1]));
      const source = clientOf(handler);
      await assert.rejects(source.watch(ANA).next(), (rejected) => {
        assert.deepEqual([rejected.code, rejected.status], [code, status]);
        return heard.some(([, number]) => number === rejected.number);
      });
      await service.close();
    }
  });

  it('inside a stream is heard of, and ends the stream', async () => {
    const session = { id: 's', appName: 'a', userId: 'u', state: {}, events: [], lastUpdateTime: 0, revision: 0 };
    const service = {
      serving: async () => ({}),
      getSession: async () => session,
      // eslint-disable-next-line require-yield
      async *watch() {
        throw new Error(`broken at ${SECRET}`);
      },
    };
    const heard = [];
    const handler = serve(service, { insecure: true, onError: (error) => heard.push(error.message) });
    const response = await handler(requestOf({ appName: 'a', userId: 'u', sessionId: 's' }, STREAM));
    assert.equal(await response.text(), 'retry: 1000\n\nid: 0\n\n');
    assert.deepEqual(heard, [`broken at ${SECRET}`]);
  });

  it('of a session says no more than its id', async () => {
    const [one, other] = [await serviceOf(), new SessionService()];
    const handler = serve(other, { insecure: true });
    assert.ok(await one.getSession(ANA));
    const [status, error] = await errorOf(await handler(requestOf(ANA)));
    assert.deepEqual(
      [status, error],
      [404, { code: 'SESSION_NOT_FOUND', message: 'session "monday" not found', id: 'monday' }],
    );
    await other.close();
  });
});

describe('streams', () => {
  it('are limited for each client, and counted until they end', async () => {
    const service = await serviceOf();
    const clients = ['ana', 'ben'];
    const open = async (handler, headers = {}) =>
      await handler(requestOf(ANA, { headers: { ...STREAM.headers, ...headers } }));
    const authorize = (request) => ({ ...USER, id: request.headers.get('client') });
    const handler = serve(service, { authorize, limits: { streams: 2 } });
    const streams = [];
    for (const client of clients) {
      streams.push(await open(handler, { client }), await open(handler, { client }));
      const refused = await open(handler, { client });
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.deepEqual(await errorOf(refused), [
        429,
        { code: 'TOO_MANY_REQUESTS', message: 'the client already has 2 streams, which is its limit' },
      ]);
    }
    assert.ok(streams.every(({ status }) => status === 200));
    await streams[0].body.cancel();
    const again = await open(handler, { client: 'ana' });
    assert.equal(again.status, 200);
    // A request that is refused, or is no stream, does not count.
    await again.body.cancel();
    assert.equal(
      await statusOf(handler, { ...ANA, sessionId: 'none' }, { headers: { ...STREAM.headers, client: 'ana' } }),
      404,
    );
    assert.equal(await statusOf(handler, ANA, { headers: { client: 'ben' } }), 200);
    const last = await open(handler, { client: 'ana' });
    assert.equal(last.status, 200);
    await Promise.all([last, ...streams.slice(1)].map(({ body }) => body.cancel()));
  });

  it('are not for proxies to transform or to keep', async () => {
    const handler = serve(await serviceOf(), { insecure: true });
    const { headers, body } = await handler(requestOf(ANA, STREAM));
    assert.equal(headers.get('cache-control'), 'no-store, no-transform');
    assert.equal(headers.get('x-accel-buffering'), 'no');
    await body.cancel();
  });
});

describe('pages of other origins', () => {
  const from = (origin, init = {}) => ({ ...init, headers: { origin, ...init.headers } });
  const APP = 'https://app.example.com';

  it('read nothing unless they are named', async () => {
    const service = await serviceOf();
    const off = serve(service, { insecure: true });
    const on = serve(service, { insecure: true, cors: { origins: [APP] } });
    for (const [handler, origin] of [
      [off, APP],
      [on, 'https://evil.example.com'],
      [on, `${APP}.evil.com`],
      [on, 'null'],
    ]) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await handler(requestOf(ANA, from(origin, { method })));
        assert.equal(headers.get('access-control-allow-origin'), null);
        assert.equal(headers.get('access-control-allow-headers'), null);
      }
    }
  });

  it('that are named read answers, errors and streams, and may send headers', async () => {
    const authorize = (request) => (request.headers.has('authorization') ? USER : undefined);
    const cors = { origins: [APP, 'http://localhost:5173'], credentials: true };
    const handler = serve(await serviceOf(), { authorize, cors });
    const preflight = await handler(
      requestOf(ANA, from(APP, { method: 'OPTIONS', headers: { 'access-control-request-headers': 'authorization' } })),
    );
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization');
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, POST, PATCH, DELETE');
    const bearer = { authorization: 'Bearer x' };
    const answers = [
      preflight,
      await handler(requestOf(ANA, from(APP, { headers: bearer }))),
      await handler(requestOf(ANA, from(APP, { headers: { ...bearer, ...STREAM.headers } }))),
      await handler(requestOf(BEN, from(APP, { headers: bearer }))),
      await handler(requestOf(ANA, from(APP))),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 200, 200, 403, 401],
    );
    for (const { headers, body } of answers) {
      assert.equal(headers.get('access-control-allow-origin'), APP);
      assert.equal(headers.get('access-control-allow-credentials'), 'true');
      assert.match(headers.get('vary'), /origin/);
      await body?.cancel();
    }
  });
});
