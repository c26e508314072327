// Refusals and answers tell nothing of the inside, nor of other sessions.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { ANA, serverOver, furnish, openServer } from './server.mjs';

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

describe('a refusal', () => {
  const SECRET = 'postgres://admin:hunter2@db.internal:5432';

  it('tells nothing of a driver, of `authorize` or of the machine', async () => {
    const store = memoryStore();
    const service = new SessionService({ store, retry: { attempts: 1 } });
    await furnish(service);
    const failures = [
      ['load', new StoreError('unavailable', SECRET), 503, 'STORE_UNAVAILABLE'],
      ['load', new StoreError('corrupt', SECRET), 500, 'STORE_CORRUPT'],
      ['load', new StoreError('forbidden', SECRET), 403, 'FORBIDDEN'],
      ['load', new StoreError('rejected', SECRET), 400, 'INVALID_ARGUMENT'],
      ['load', new Error(SECRET), 503, 'STORE_UNAVAILABLE'],
      ['list', new Error(SECRET), 503, 'STORE_UNAVAILABLE'],
      ['listApps', new StoreError('corrupt', SECRET), 500, 'STORE_CORRUPT'],
      ['commit', new Error(SECRET), 504, 'COMMIT_UNKNOWN'],
      ['commit', new StoreError('unavailable', SECRET), 503, 'STORE_UNAVAILABLE'],
      ['commit', new StoreError('rejected', SECRET, { size: 10, limit: 5 }), 413, 'LIMIT_EXCEEDED'],
      ['commit', new StoreError('conflict', SECRET), 409, 'STATE_CONFLICT'],
      ['lease', new StoreError('held', SECRET, { until: 5 }), 409, 'LEASE_HELD'],
      ['lease', new StoreError('fenced', SECRET), 409, 'LEASE_LOST'],
    ];
    const paths = {
      load: ['GET', S],
      list: ['GET', `${A}/sessions`],
      listApps: ['GET', '/v1/apps'],
      lease: ['POST', `${S}/lease`],
    };
    for (const [operation, error, status, code] of failures) {
      const failing = new Proxy(store, {
        get: (target, name) => {
          if (name === operation || (name === 'commitMany' && operation === 'commit'))
            return () => Promise.reject(error);
          return typeof target[name] === 'function' ? target[name].bind(target) : target[name];
        },
      });
      const other = new SessionService({ store: failing, retry: { attempts: 1 } });
      const server = serverOver(other);
      const [method, path] = paths[operation] ?? ['POST', `${A}/state:update`];
      const body = method === 'GET' ? undefined : operation === 'lease' ? {} : { delta: { 'app:n': 1 } };
      const answer = await server.ask(method, path, { body });
      assert.deepEqual(
        [answer.status, answer.body.error.code],
        [status, code],
        `${operation}: ${JSON.stringify(answer.body)}`,
      );
      assert.doesNotMatch(JSON.stringify(answer.body), /hunter2|postgres|stores\/|\.js|\.ts/);
      if (status === 503) assert.equal(answer.headers.get('retry-after'), '1');
      const { number } = answer.body.error;
      if (number !== undefined) {
        assert.match(number, /^\d{12}$/);
        assert.equal(server.errors.at(-1).number, number);
        assert.match(String(server.errors.at(-1).error.message), /hunter2/);
      }
      await other.close();
    }
    await service.close();
  });

  it('comes from /readyz when the store is away', async () => {
    const store = memoryStore();
    let isAway = false;
    const failing = new Proxy(store, {
      get: (target, name) =>
        isAway && name === 'owners'
          ? () => Promise.reject(new StoreError('unavailable', SECRET))
          : typeof target[name] === 'function'
            ? target[name].bind(target)
            : target[name],
    });
    const service = new SessionService({ store: failing, retry: { attempts: 1 } });
    const { ask } = serverOver(service);
    assert.equal((await ask('GET', '/readyz', { client: null })).status, 200);
    isAway = true;
    const away = await ask('GET', '/readyz', { client: null });
    assert.deepEqual([away.status, away.body.error.code], [503, 'STORE_UNAVAILABLE']);
    assert.doesNotMatch(JSON.stringify(away.body), /hunter2/);
    assert.equal((await ask('GET', '/healthz', { client: null })).status, 200);
    isAway = false;
    assert.equal((await ask('GET', '/readyz', { client: null })).status, 200);
    await service.close();
  });

  it('of a fork tells a session of nothing but itself', async () => {
    const { ask, service } = await openServer();
    await service.fork({ ...ANA, id: 'monday' }, { sessionId: 'fork' });
    const principal = { apps: ['tutor'], users: ['ana'], sessions: ['fork'] };
    const { ask: asFork } = serverOver(service, { authorize: () => principal });
    const { body } = await asFork('GET', `${U}/sessions/fork`);
    assert.doesNotMatch(JSON.stringify(body), /monday/);
    assert.match(JSON.stringify((await ask('GET', `${U}/sessions/fork`)).body), /forkedFrom/);
    await service.close();
  });

  it('of reading survives events that other programs have stored', async () => {
    const { ask, service } = await openServer();
    const log = await service.logWriter({});
    for (const customMetadata of [
      null,
      { statepad: null },
      { statepad: 'x' },
      { statepad: [1] },
      { statepad: { forkedFrom: 1 } },
    ]) {
      await log.append({ ...ANA, id: 'monday' }, { author: 'a', customMetadata });
    }
    for (const client of ['admin', 'monday', 'plain']) assert.equal((await ask('GET', S, { client })).status, 200);
    await service.close();
  });
});
