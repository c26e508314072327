// Leases over stores that fail: answers that are lost, calls that arrive late, stores that have none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, connectionLost, hasCode, setting } from '../support/fixtures.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
const tick = (time = 5) => new Promise((resolve) => setTimeout(resolve, time));

/**
 * A service over a store whose calls of `lease` and `commit` go as `plan` says, one entry a call: `lost` is done and
 * the answer is lost, `cut` is not done and nobody knows, `busy` is not done and says so. `asked` are the requests.
 */
async function open(options = {}) {
  const inner = memoryStore();
  const plan = { lease: [], commit: [] };
  const asked = [];
  const run = async (what, request, go) => {
    asked.push(request);
    const next = plan[what].shift();
    if (typeof next === 'function') await next();
    if (next === 'busy') throw new StoreError('unavailable', 'too many connections');
    if (next === 'cut') throw connectionLost();
    const answer = await go();
    if (next === 'lost') throw connectionLost();
    return answer;
  };
  const store = {
    ...inner,
    watch: undefined,
    commitMany: undefined,
    lease: async (key, request, context) => await run('lease', request, () => inner.lease(key, request, context)),
    commit: async (change, context) => await run('commit', change, () => inner.commit(change, context)),
    ...options,
  };
  const service = new SessionService({ store, retry: { attempts: 3, pause: 1 } });
  const other = new SessionService({ store: inner });
  await service.createSession({ ...KEY, state: { n: 0 } });
  asked.length = 0;
  const session = await service.getSession(KEY);
  return { service, other, session, plan, asked, inner };
}

/** Another takes the lease, whatever its holder does. */
async function overtake({ other }, lease) {
  await lease.renew(1);
  await tick();
  return await other.lease(NAME);
}

test('a request for a lease whose answer was lost is sent again, and has the lease that was given', async () => {
  const opened = await open();
  const { service, session, plan, asked, other } = opened;
  plan.lease.push('lost', 'cut', undefined);
  const lease = await service.lease(session);
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked.map(({ holder }) => holder)).size, 1);
  assert.equal(lease.token, 1);
  plan.lease.push('lost', 'busy');
  await lease.renew();
  plan.lease.push('lost');
  await lease.release();
  assert.ok((await other.lease(NAME)).token > lease.token);
});

test('a store that does not answer is no lost lease', async () => {
  const { service, session, plan } = await open();
  plan.lease.push('busy', 'busy', 'busy');
  await assert.rejects(service.lease(session), hasCode('STORE_UNAVAILABLE'));
  const lease = await service.lease(session);
  plan.lease.push('cut', 'cut', 'cut');
  await assert.rejects(lease.renew(), hasCode('STORE_UNAVAILABLE'));
  assert.equal(lease.signal.aborted, false);
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  plan.lease.push('busy', 'busy', 'busy');
  await assert.rejects(lease.release(), hasCode('STORE_UNAVAILABLE'));
  plan.lease.push('busy', 'busy', 'busy');
  await lease[Symbol.asyncDispose]();
});

test('withLease answers with what its function has answered, also when the lease cannot be given back', async () => {
  const { service, plan } = await open();
  const answer = await service.withLease(NAME, () => {
    plan.lease.push('busy', 'busy', 'busy');
    return 'done';
  });
  assert.equal(answer, 'done');
});

test('withLease tells its function when the lease is lost: by a renewal', async () => {
  const opened = await open();
  const { service } = opened;
  const heard = service.withLease(
    NAME,
    async (lease) => {
      await overtake(opened, lease);
      await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      return lease.signal.reason;
    },
    { ttl: 30 },
  );
  assert.ok(hasCode('LEASE_LOST')(await heard));
});

test('an append that was written before its lease was lost, and its answer lost, is a success', async () => {
  const opened = await open();
  const { service, session, plan, other } = opened;
  const lease = await service.lease(session);
  const lost = async () => {
    plan.commit.unshift(async () => void (await overtake(opened, lease)));
  };
  plan.commit.push('lost');
  const appended = service.appendEvent({ session, event: setting({ n: 1 }) });
  await lost();
  assert.equal((await appended).actions.stateDelta.n, 1);
  assert.equal((await other.getSession(KEY)).revision, 1);
});

test('an append whose try was lost on the way is refused for good once the lease is', async () => {
  const opened = await open();
  const { service, session, plan, asked, inner, other } = opened;
  const lease = await service.lease(session);
  plan.commit.push('cut', async () => void (await overtake(opened, lease)));
  await assert.rejects(service.appendEvent({ session, event: setting({ n: 1 }) }), hasCode('LEASE_LOST'));
  assert.equal(lease.signal.aborted, true);
  // The first try arrives now.
  const first = asked.find(({ kind, attempt }) => kind === 'append' && attempt === undefined);
  assert.equal(first.guard.fence, lease.token);
  const { signal } = new AbortController();
  await assert.rejects(inner.commit(first, { signal }), (error) => ['fenced', 'conflict'].includes(error.code));
  assert.equal((await other.getSession(KEY)).revision, 0);
});

test('of a batch only what lacks its lease is refused', async () => {
  const store = memoryStore();
  const service = new SessionService({ store });
  const other = new SessionService({ store });
  const keys = ['a', 'b', 'c'].map((sessionId) => ({ ...KEY, sessionId }));
  const sessions = await Promise.all(keys.map((key) => service.createSession(key)));
  const leases = await Promise.all(sessions.map((session) => service.lease(session)));
  await leases[1].renew(1);
  await tick();
  await other.lease({ ...NAME, id: 'b' });
  const outcomes = await Promise.allSettled(
    sessions.map((session) => service.appendEvent({ session, event: setting({ n: 1 }) })),
  );
  assert.deepEqual(
    outcomes.map(({ status, reason }) => reason?.code ?? status),
    ['fulfilled', 'LEASE_LOST', 'fulfilled'],
  );
  assert.equal((await other.getSession(keys[1])).revision, 0);
});

test('who gives up taking a lease leaves none behind', async () => {
  const { service, session, plan, other } = await open();
  const controller = new AbortController();
  plan.lease.push(() => controller.abort(new Error('enough')));
  await assert.rejects(service.lease(session, { signal: controller.signal }), /enough/u);
  await tick(20);
  await (await other.lease(NAME)).release();
});

test('a lease whose session cannot be read is given back', async () => {
  const inner = memoryStore();
  let isCut = false;
  const load = async (...args) => {
    if (isCut) throw new StoreError('unavailable', 'not now');
    return await inner.load(...args);
  };
  const service = new SessionService({ store: { ...inner, load, watch: undefined }, retry: { attempts: 1 } });
  const session = await service.createSession(KEY);
  isCut = true;
  await assert.rejects(service.lease(session), hasCode('STORE_UNAVAILABLE'));
  await (await new SessionService({ store: inner }).lease(NAME)).release();
});

test('a store without leases is refused by name, and nothing else changes', async () => {
  const { service, session } = await open({ lease: undefined });
  const isTold = (error) => hasCode('INVALID_ARGUMENT')(error) && /the store keeps no leases/u.test(error.message);
  await assert.rejects(service.lease(session), isTold);
  await assert.rejects(
    service.withLease(session, () => 1),
    isTold,
  );
  await service.appendEvent({ session, event: setting({ n: 1 }) });
});

test('a store that does not say what became of a lease is asked again, and then not believed', async () => {
  const { service, session } = await open({ lease: async () => ({}) });
  await assert.rejects(service.lease(session), hasCode('STORE_UNAVAILABLE'));
});

test('a store that compares nothing else still gets the token, and which session is meant', async () => {
  const opened = await open({ guards: 'none' });
  const { service, session, asked } = opened;
  const lease = await service.lease(session);
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  const [{ created }] = asked;
  assert.equal(typeof created, 'string');
  assert.deepEqual(asked.at(-1).guard, { created, fence: lease.token });
  await overtake(opened, lease);
  await assert.rejects(service.appendEvent({ session, event: setting({ n: 2 }) }), hasCode('LEASE_LOST'));
});

test('what carries no lease carries no token', async () => {
  const { service, session, asked } = await open();
  const lease = await service.lease(session);
  await service.appendEvent({ session: NAME, event: setting({ n: 1 }) });
  assert.equal(asked.at(-1).guard.fence, undefined);
  await lease.release();
  await service.appendEvent({ session, event: setting({ n: 2 }) });
  assert.equal(asked.at(-1).guard.fence, undefined);
});
