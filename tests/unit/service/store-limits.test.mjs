// Limits of a service over stores that keep fewer of them, or have their own; and of requests that are sent again.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService, StoreError, append, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { onceOf, storages } from './serving-requests.mjs';

const key = { appName: 'app', userId: 'ana', sessionId: 's' };
const user = { appName: 'app', userId: 'ana' };

/** A store that resolves operators, and compares no limits. */
function withoutLimits(more = {}) {
  const store = memoryStore();
  return { ...store, keeps: store.keeps.filter((feature) => feature !== 'limits'), ...more };
}

describe('results of operators over a store that keeps no limits', () => {
  it('are compared with the limit of values that the options name', async () => {
    const service = new SessionService({ store: withoutLimits(), limits: { value: 100 } });
    const session = await service.createSession({ ...key, state: { list: [], 'user:list': [] } });
    const large = append('x'.repeat(200));
    await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta: { list: large } } } }), {
      code: 'LIMIT_EXCEEDED',
      exceeded: 'value',
      key: 'list',
      size: 204,
      limit: 100,
      id: 's',
    });
    const update = service.updateState(user, () => ({ 'user:list': large }));
    await assert.rejects(update, { code: 'LIMIT_EXCEEDED', exceeded: 'value', key: 'user:list', size: 204 });
    await service.appendEvent({ session, event: { actions: { stateDelta: { list: append(1) } } } });
    assert.deepEqual((await service.getSession(key)).state, { list: [1], 'user:list': [] });
  });

  it('are left to the store where the options name none, or turn it off', async () => {
    for (const limits of [undefined, { value: Infinity }]) {
      const store = withoutLimits({ guards: 'none' });
      const service = new SessionService({ store, limits });
      const session = await service.createSession(key);
      await service.appendEvent({ session, event: { actions: { stateDelta: { n: increment(2) } } } });
      assert.deepEqual((await service.getSession(key)).state, { n: 2 });
    }
  });

  it('are refused over a store that could not protect them here either', async () => {
    const service = new SessionService({ store: withoutLimits({ guards: 'none' }), limits: { value: 100 } });
    const session = await service.createSession(key);
    await assert.rejects(service.appendEvent({ session, event: { actions: { stateDelta: { n: increment(2) } } } }), {
      code: 'INVALID_ARGUMENT',
      key: 'n',
      message: /the store does not compare its result with limits\.value, and compares no values/,
    });
  });
});

it('a limit of the store itself is a refusal, with what the store says of it', async () => {
  const store = memoryStore();
  const full = new StoreError('limit', 'the disk quota of the app is used up', { size: 7, limit: 5 });
  const service = new SessionService({ store: { ...store, commitMany: undefined } });
  const session = await service.createSession(key);
  const refusing = { ...store, commitMany: undefined, commit: async () => Promise.reject(full) };
  const refused = new SessionService({ store: refusing });
  let runs = 0;
  const isRefused = (error) => {
    const { code, message, exceeded, size, limit, cause } = error;
    assert.deepEqual([code, message, exceeded, size, limit], ['LIMIT_EXCEEDED', full.message, undefined, 7, 5]);
    return cause === full;
  };
  const count = () => {
    runs += 1;
    return { 'user:n': runs };
  };
  await assert.rejects(refused.createSession({ ...key, sessionId: 't' }), isRefused);
  await assert.rejects(refused.appendEvent({ session: await refused.getSession(key), event: {} }), isRefused);
  await assert.rejects(refused.updateState(user, count), isRefused);
  await assert.rejects(refused.updateState(key, count), isRefused);
  await assert.rejects(refused.fork(session), isRefused);
  assert.equal(runs, 2);
});

for (const [name, storage] of Object.entries(storages)) {
  describe(`a fork for a request that a limit refuses, over ${name}`, () => {
    it('leaves nothing, and stays refused after the limit was raised', async () => {
      for (const sessionId of ['fork', undefined]) {
        const storeOf = storage();
        const service = new SessionService({ store: storeOf(), limits: { events: 2 } });
        const session = await service.createSession(key);
        await service.appendEvent({ session, event: {} });
        await service.appendEvent({ session, event: {} });
        const source = { ...user, id: 's' };
        const fork = async (by, id) => await (await by.serving({})).fork(source, { sessionId }, onceOf(id));
        const refused = { code: 'LIMIT_EXCEEDED', exceeded: 'events', size: 3 };
        await assert.rejects(fork(service, 'r'), refused);
        const raised = new SessionService({ store: storeOf() });
        assert.deepEqual(await (await raised.serving({})).owners('app', 'fork'), []);
        await assert.rejects(fork(service, 'r'), { code: 'STATE_CONFLICT' });
        await assert.rejects(fork(raised, 'r'), { code: 'STATE_CONFLICT', message: /an earlier attempt/ });
        assert.equal((await raised.listSessions({ appName: 'app' })).totalItems, 1);
        assert.equal((await fork(raised, 'other')).revision, 3);
      }
    });
  });
}
