// Errors of the sessions API of Agent Engine: in Google's form, without anything of the internals.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { fetchOf, openServer } from './server.mjs';
import { serve } from 'statepad/serve';

const SECRET = 'driver: password of /var/lib/db';
const EVENT = { author: 'user', invocationId: 'i1', timestamp: '2026-01-02T00:00:00Z' };
const APPEND = ['POST /sessions/s1:appendEvent', EVENT];

/** A service over a store whose operations throw, once `fail` has been given an error for them. */
function failing() {
  const failures = {};
  const store = memoryStore();
  const failable = ['owners', 'commit', 'list', 'remove'].map((name) => [
    name,
    async (...args) => {
      if (failures[name] !== undefined) throw failures[name]();
      return await store[name](...args);
    },
  ]);
  const service = new SessionService({
    store: { ...store, ...Object.fromEntries(failable), commitMany: undefined },
    retry: { attempts: 1 },
  });
  return { service, fail: (name, error) => (failures[name] = error) };
}

/** Errors of a store, the operation that throws each, and the answer to the client. */
const STORES = [
  ['owners', () => new StoreError('unavailable', SECRET), ['GET /sessions/s1'], 503, 'UNAVAILABLE'],
  ['commit', () => new StoreError('unavailable', SECRET), APPEND, 503, 'UNAVAILABLE'],
  ['commit', () => new Error(SECRET), APPEND, 504, 'DEADLINE_EXCEEDED'],
  ['commit', () => new StoreError('rejected', SECRET), APPEND, 400, 'INVALID_ARGUMENT'],
  ['commit', () => new StoreError('forbidden', SECRET), APPEND, 403, 'PERMISSION_DENIED'],
  ['list', () => new StoreError('corrupt', SECRET), ['GET /sessions'], 500, 'INTERNAL'],
  ['remove', () => new StoreError('unavailable', SECRET), ['DELETE /sessions/s1'], 503, 'UNAVAILABLE'],
];

describe('an error of the store is answered without its words, and logged under a number', () => {
  for (const [operation, error, [line, body], status, name] of STORES) {
    test(`${operation} throws ${error().code ?? 'anything'}: ${status} ${name}`, async () => {
      const { service, fail } = failing();
      const logged = [];
      const { ask } = openServer({ service, onError: (cause, { number }) => logged.push([number, cause]) });
      assert.equal((await ask('POST /sessions?sessionId=s1', { userId: 'ana' })).status, 200);
      fail(operation, error);
      const answer = await ask(line, body);
      assert.equal(answer.status, status, answer.text);
      const { code, message, status: given } = answer.body.error;
      assert.deepEqual([code, given], [status, name]);
      assert.ok(!answer.text.includes(SECRET), answer.text);
      const [[number, cause]] = logged;
      assert.ok(message.endsWith(`logged as ${number}`), message);
      assert.ok(JSON.stringify([cause.message, cause.cause?.message]).includes(SECRET));
      assert.equal(answer.headers.get('retry-after'), status === 503 ? '1' : null);
      fail(operation, undefined);
      await service.close();
    });
  }
});

test('a body has limits, and a type', async () => {
  const fetch = fetchOf(serve(new SessionService(), { insecure: true, limits: { body: 100 } }));
  const post = async (body, type = 'application/json') => {
    const address = 'http://localhost/v1beta1/reasoningEngines/77/sessions';
    const response = await fetch(address, { method: 'POST', body, headers: { 'content-type': type } });
    const { error } = await response.json();
    return [response.status, error.code, error.status];
  };
  assert.deepEqual(await post(`{"userId":"${'a'.repeat(100)}"}`), [413, 413, 'INVALID_ARGUMENT']);
  assert.deepEqual(await post('{"userId":"ana"}', 'text/plain'), [415, 415, 'INVALID_ARGUMENT']);
  assert.deepEqual(await post('{"userId":'), [400, 400, 'INVALID_ARGUMENT']);
  assert.deepEqual(await post(new Uint8Array([0x22, 0xff, 0x22])), [400, 400, 'INVALID_ARGUMENT']);
});

test('what the service refuses names the place of the fault', async () => {
  const { ask } = openServer();
  await ask('POST /sessions?sessionId=s1', { userId: 'ana' });
  const rawEvent = { id: 7, author: 'user' };
  const { status, body } = await ask(APPEND[0], { ...EVENT, rawEvent });
  assert.deepEqual([status, body.error.status], [400, 'INVALID_ARGUMENT']);
  assert.match(body.error.message, /^id must be a string/);
  const wide = await ask(APPEND[0], `{"author":"a","invocationId":"i","rawEvent":{"n":[12345678901234567890]}}`);
  assert.match(wide.body.error.message, /12345678901234567890 at rawEvent\.n\[0\]/);
});

test('a session that is deleted in the middle of a request is missing in the same words', async () => {
  const { service, fail } = failing();
  const { ask } = openServer({ service });
  await ask('POST /sessions?sessionId=s1', { userId: 'ana' });
  const gone = await ask('GET /sessions/s2');
  fail('commit', () => new StoreError('not-found', SECRET));
  const { status, text } = await ask(...APPEND);
  assert.deepEqual([status, text], [404, gone.text.replaceAll('s2', 's1')]);
});

test('methods that a path does not have are told apart from paths that are not there', async () => {
  const { ask } = openServer();
  const { status, headers } = await ask('PUT /sessions/s1', {});
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, PATCH, DELETE']);
  assert.equal((await ask('GET /sessions/s1/event')).status, 404);
  assert.equal((await ask('GET /sessions/s1:appendEvent')).status, 405);
});

test('a server that is closing says so', async () => {
  const { ask, handler } = openServer();
  await handler.close();
  const { status, body, headers } = await ask('GET /sessions');
  assert.deepEqual([status, body.error.status, headers.get('retry-after')], [503, 'UNAVAILABLE', '1']);
});
