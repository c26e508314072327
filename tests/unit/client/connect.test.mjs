// Connecting: where requests go, what goes with them, and what becomes of answers that are none of the server's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { connect, isStatepadError } from 'statepad/client';
import { serve } from 'statepad/serve';
import { clientOf, fetchOf, handlerOf } from '../../support/client.mjs';
import { hasCode, KEY, setting } from '../../support/fixtures.mjs';

const SESSION = { id: 's', appName: 'app', userId: 'u', state: {}, events: [], lastUpdateTime: 1, revision: 0 };

/** A client that gets these answers, one after the other, and what it has asked. */
function answered(answers, options) {
  const asked = [];
  const fetch = async (address, { headers, method, body, signal, credentials }) => {
    asked.push({ address, method, headers: Object.fromEntries(headers), body, credentials });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    return await answer(signal);
  };
  return { client: connect({ url: 'http://host', fetch, retry: { pause: 0 }, ...options }), asked };
}

const ok = (body, init) => () => Response.json(body, init);
const refusal = (status, code, headers) => () =>
  Response.json({ error: { code, message: 'as it is' } }, { status, headers });
const read = (client) => client.getSession(KEY);
const write = (client) => client.appendEvent({ session: { ...SESSION }, event: setting({ n: 1 }) });
const appended = ok({ event: { id: 'e' }, revision: 1, lastUpdateTime: 1 });

describe('a client', () => {
  it('refuses options that it cannot use, by name, and shows no token', () => {
    for (const [options, path] of [
      [undefined, 'options'],
      [5, 'options'],
      [{}, 'url'],
      [{ url: 5 }, 'url'],
      ['ftp://host', 'url'],
      ['host', 'url'],
      ['', 'url'],
      [{ url: 'http://host', fetch: 1 }, 'fetch'],
      [{ url: 'http://host', timeOut: 1 }, 'timeOut'],
      [{ url: 'http://host', timeout: 0 }, 'timeout'],
      [{ url: 'http://host', timeout: '1 s' }, 'timeout'],
      [{ url: 'http://host', silence: 0 }, 'silence'],
      [{ url: 'http://host', retry: { attempts: 0 } }, 'retry.attempts'],
      [{ url: 'http://host', retry: { pause: -1 } }, 'retry.pause'],
      [{ url: 'http://host', retry: { tries: 1 } }, 'retry.tries'],
      [{ url: 'http://host', token: '' }, 'token'],
      [{ url: 'http://host', token: 'hunter2 \n' }, 'token'],
      [{ url: 'http://host', token: 5 }, 'token'],
    ]) {
      assert.throws(
        () => connect(options),
        (error) => hasCode('INVALID_ARGUMENT')(error) && error.path === path && !error.message.includes('hunter2'),
        JSON.stringify(options),
      );
    }
  });

  it('is made anywhere with a path alone, and asks with it in a page, or by a fetch of its own', async () => {
    const client = connect('/agents');
    for (const use of [() => read(client), () => write(client), () => client.watch(KEY).next()]) {
      await assert.rejects(use, (error) => hasCode('INVALID_ARGUMENT')(error) && error.path === 'url');
    }
  });

  it('asks below the path of its URL, with its parameters', async () => {
    for (const [url, address] of [
      ['http://host', 'http://host/v1/apps/app/state'],
      ['http://host/', 'http://host/v1/apps/app/state'],
      [new URL('https://host:8/agents/?k=a%20b#x'), 'https://host:8/agents/v1/apps/app/state?k=a+b'],
      ['/agents', '/agents/v1/apps/app/state'],
    ]) {
      const { client, asked } = answered([ok({ state: {} })], { url });
      await client.getAppState({ appName: 'app' });
      assert.deepEqual(
        asked.map((each) => each.address),
        [address],
      );
    }
    const service = new SessionService();
    const handler = serve(service, { insecure: true, basePath: '/agents' });
    const client = connect({ url: 'http://host/agents', fetch: fetchOf(handler) });
    for (const id of ['', '.', '..', '~', 'a/b\\c', 'a:b', '%2e', '名 👍', '?#&']) {
      const session = await client.createSession({ appName: id, userId: id, sessionId: `x${id}` });
      await client.appendEvent({ session, event: setting({ [id]: id }) });
      assert.deepEqual((await service.getSession(session)).state, { [id]: id });
    }
  });

  it('sends its token, and the headers that a function gives for each request', async () => {
    let count = 0;
    const headers = async () => ({ 'x-count': String((count += 1)), authorization: 'other' });
    const failing = () => Promise.reject(new TypeError('fetch failed'));
    const { client, asked } = answered([failing, ok(SESSION)], { token: 's3cret', headers, credentials: 'include' });
    await read(client);
    assert.deepEqual(
      asked.map((each) => [each.headers['x-count'], each.headers.authorization, each.credentials]),
      [
        ['1', 'Bearer s3cret', 'include'],
        ['2', 'Bearer s3cret', 'include'],
      ],
    );
    const reason = new Error('no token');
    const { client: without, asked: nothing } = answered([appended], { headers: () => Promise.reject(reason) });
    await assert.rejects(write(without), reason);
    assert.deepEqual(nothing, []);
    await assert.rejects(read(answered([ok({})], { headers: { 'a b': 'c' } }).client), hasCode('INVALID_ARGUMENT'));
  });

  it('sends a write again under one identity, and no other one twice', async () => {
    const gone = () => Promise.reject(new TypeError('fetch failed'));
    const { client, asked } = answered([gone, () => new Response('<h1>', { status: 502 }), appended]);
    await write(client);
    assert.deepEqual(new Set(asked.map(({ body }) => body)).size, 1);
    assert.equal(typeof JSON.parse(asked[0].body).event.id, 'string');
    const { client: other, asked: others } = answered([gone, ok(SESSION)]);
    await other.createSession(KEY);
    await other.createSession(KEY);
    const keys = others.map(({ headers }) => headers['idempotency-key']);
    assert.equal(keys[0], keys[1]);
    assert.notEqual(keys[1], keys[2]);
  });

  it('throws what the server says, with the details, and asks no more', async () => {
    const error = { code: 'SESSION_STALE', message: 'too late', expected: 1, actual: 2, stack: 'no', evil: 1 };
    const { client, asked } = answered([ok({ error }, { status: 409 })]);
    await assert.rejects(write(client), (thrown) => {
      assert.ok(isStatepadError(thrown));
      assert.deepEqual({ ...thrown }, { code: 'SESSION_STALE', status: 409, expected: 1, actual: 2 });
      assert.match(thrown.stack, /StatepadError: too late/);
      return true;
    });
    assert.equal(asked.length, 1);
    for (const [status, code] of [
      [400, 'INVALID_ARGUMENT'],
      [401, 'UNAUTHENTICATED'],
      [403, 'FORBIDDEN'],
      [404, 'SESSION_NOT_FOUND'],
      [409, 'STATE_CONFLICT'],
      [413, 'TOO_LARGE'],
      [422, 'KEY_REUSED'],
      [500, 'INTERNAL'],
      [500, 'STORE_CORRUPT'],
      [503, 'STORE_UNSUITABLE'],
    ]) {
      const one = answered([refusal(status, code)]);
      await assert.rejects(write(one.client), (thrown) => hasCode(code)(thrown) && thrown.status === status);
      assert.equal(one.asked.length, 1, code);
    }
  });

  it('tries again what passes, as late as the server says', async () => {
    for (const [status, code, headers] of [
      [503, 'STORE_UNAVAILABLE'],
      [503, 'CLOSED'],
      [504, 'COMMIT_UNKNOWN'],
      [429, 'TOO_MANY_REQUESTS'],
      [408, 'INVALID_ARGUMENT'],
      [409, 'STATE_CONFLICT', { 'retry-after': '0' }],
    ]) {
      const { client, asked } = answered([refusal(status, code, headers), refusal(status, code, headers), appended]);
      await write(client);
      assert.equal(asked.length, 3, code);
    }
    const begin = performance.now();
    const later = answered([refusal(503, 'CLOSED', { 'retry-after': '1' }), ok(SESSION)]);
    await read(later.client);
    assert.ok(performance.now() - begin > 950);
    const never = answered([refusal(429, 'TOO_MANY_REQUESTS', { 'retry-after': '100' })], { timeout: 5_000 });
    await assert.rejects(read(never.client), hasCode('TOO_MANY_REQUESTS'));
    assert.equal(never.asked.length, 1, 'there is no time for that');
  });

  it('says of a write that may have happened that this is unknown, and of nothing else', async () => {
    const gone = () => Promise.reject(new TypeError('fetch failed'));
    const proxy = (status) => () => new Response('<h1>', { status });
    for (const [answers, code] of [
      [[gone], 'COMMIT_UNKNOWN'],
      [[proxy(500)], 'COMMIT_UNKNOWN'],
      [[proxy(502)], 'COMMIT_UNKNOWN'],
      [[ok('no object')], 'COMMIT_UNKNOWN'],
      [[() => new Response('{"event', { headers: { 'content-type': 'application/json' } })], 'COMMIT_UNKNOWN'],
      [[refusal(504, 'COMMIT_UNKNOWN')], 'COMMIT_UNKNOWN'],
      // The right to ask is gone: the first attempt may have happened.
      [[gone, refusal(401, 'UNAUTHENTICATED')], 'COMMIT_UNKNOWN'],
      [[gone, refusal(500, 'INTERNAL')], 'COMMIT_UNKNOWN'],
      [[gone, proxy(404)], 'COMMIT_UNKNOWN'],
      // The server knows: the first attempt has not happened, and never will.
      [[gone, refusal(409, 'SESSION_STALE')], 'SESSION_STALE'],
      [[refusal(503, 'STORE_UNAVAILABLE')], 'STORE_UNAVAILABLE'],
      [[refusal(429, 'TOO_MANY_REQUESTS')], 'TOO_MANY_REQUESTS'],
      [[proxy(404)], 'STORE_UNAVAILABLE'],
      [[proxy(403)], 'STORE_UNAVAILABLE'],
      [[proxy(413)], 'TOO_LARGE'],
      [[proxy(429)], 'TOO_MANY_REQUESTS'],
    ]) {
      const { client } = answered(answers, { retry: { attempts: 3, pause: 0 } });
      await assert.rejects(write(client), hasCode(code), String(answers));
      const reading = answered(answers, { retry: { attempts: 3, pause: 0 } });
      await assert.rejects(read(reading.client), (error) => error.code !== 'COMMIT_UNKNOWN' || answers.length === 1);
    }
  });

  it('gives up an attempt without an answer, and the call in time', async () => {
    const silent = (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    const { client, asked } = answered([silent, appended], { timeout: 150 });
    await write(client);
    assert.equal(asked.length, 2);
    for (const deaf of [silent, () => new Promise(() => undefined)]) {
      const never = answered([deaf], { timeout: 60 });
      const begin = performance.now();
      await assert.rejects(write(never.client), hasCode('COMMIT_UNKNOWN'));
      await assert.rejects(read(never.client), hasCode('STORE_UNAVAILABLE'));
      assert.ok(performance.now() - begin < 1_000);
    }
  });

  it('ends a call by its signal: with the reason, or with COMMIT_UNKNOWN once a write is on its way', async () => {
    const reason = new Error('enough');
    const silent = () => new Promise(() => undefined);
    const { client, asked } = answered([silent]);
    const aborted = AbortSignal.abort(reason);
    for (const call of [
      () => client.getSession({ ...KEY, signal: aborted }),
      () => client.createSession({ ...KEY, signal: aborted }),
      () => client.appendEvent({ session: SESSION, event: setting({}), signal: aborted }),
      () => client.updateState(KEY, () => ({ n: 1 }), { signal: aborted }),
      () => client.rewind(SESSION, { before: 'i', signal: aborted }),
      () => client.fork(SESSION, { signal: aborted }),
      () => client.lease(SESSION, { signal: aborted }),
      () => client.stateAt(SESSION, 0, { signal: aborted }),
      () => client.listSessions({ appName: 'app', signal: aborted }),
      () => client.deleteSession({ ...KEY, signal: aborted }),
    ]) {
      await assert.rejects(call, reason, String(call));
    }
    assert.deepEqual(asked, []);
    const end = new AbortController();
    const reading = client.getSession({ ...KEY, signal: end.signal });
    const writing = client.appendEvent({ session: SESSION, event: setting({}), signal: end.signal });
    const waiting = client.appendEvent({ session: SESSION, event: setting({}), signal: end.signal });
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    end.abort(reason);
    await assert.rejects(reading, reason);
    await assert.rejects(writing, (error) => hasCode('COMMIT_UNKNOWN')(error) && error.cause === reason);
    await assert.rejects(waiting, reason);
    assert.equal(asked.length, 2, 'the second write was never sent');
  });

  it('does not take a redirected write for a write', async () => {
    const redirected = () => Object.defineProperty(Response.json({ events: [] }), 'redirected', { value: true });
    const { client } = answered([redirected]);
    await assert.rejects(write(client), (error) => hasCode('INVALID_ARGUMENT')(error) && error.path === 'url');
    const reading = answered([() => Object.defineProperty(Response.json(SESSION), 'redirected', { value: true })]);
    assert.equal((await read(reading.client)).id, 's');
  });

  it('refuses calls after close, which waits for its writes and ends its watches', async () => {
    const service = new SessionService();
    let release = () => undefined;
    const held = new Promise((resolve) => (release = resolve));
    const pass = fetchOf(handlerOf(service));
    const fetch = async (address, init) => {
      if (init.method === 'POST' && address.endsWith('/events')) await held;
      return await pass(address, init);
    };
    const client = clientOf(service, { fetch });
    const session = await client.createSession(KEY);
    const changes = [client.watch(KEY), client.watch({ ...KEY, whole: true }), client.watch({ appName: 'app' })];
    await changes[1].next();
    const waiting = changes.map((each) => each.next());
    const writes = [1, 2].map((n) => client.appendEvent({ session, event: setting({ n }) }));
    const flushing = client.flush();
    const closing = client.close();
    for (const each of waiting) assert.deepEqual(await each, { done: true, value: undefined });
    await assert.rejects(client.getSession(KEY), hasCode('CLOSED'));
    assert.throws(() => client.watch(KEY), hasCode('CLOSED'));
    release();
    await Promise.all([flushing, closing]);
    assert.equal((await Promise.all(writes)).length, 2);
    assert.equal((await service.getSession(KEY)).revision, 2);
    await client.close();
    await client[Symbol.asyncDispose]();
  });
});
