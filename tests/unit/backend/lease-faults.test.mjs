// Leases over stores that fail: answers that are lost, calls that arrive late, stores that have none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
/** Waits until everything under way is done as far as it goes by itself. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A service over a store whose calls of `lease`, `commit`, `load` and `remove` go as `plan` says, one entry a call:
 * `lost` is done and the answer is lost, `cut` is not done and nobody knows, `busy` is not done and says so. `asked`
 * are the requests that write. The clock stands still.
 */
async function open(t, options = {}) {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const inner = memoryStore();
  const plan = { lease: [], commit: [], load: [], remove: [] };
  const asked = [];
  const run = async (what, request, go) => {
    if (request !== undefined) asked.push(request);
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
    load: async (key, query, context) => await run('load', undefined, () => inner.load(key, query, context)),
    remove: async (key, context, guard) =>
      await run('remove', { remove: guard }, () => inner.remove(key, context, guard)),
    commit: async (change, context) => await run('commit', change, () => inner.commit(change, context)),
    ...options,
  };
  const service = new SessionService({ store, retry: { attempts: 3, pause: 1 } });
  const other = new SessionService({ store: inner });
  await service.createSession({ ...KEY, state: { n: 0 } });
  asked.length = 0;
  const session = await service.getSession(KEY);
  return { service, other, session, plan, asked, inner, clock: t.mock.timers };
}

/** The time of the lease goes by, and another takes it. */
async function overtake({ other, clock }, lease) {
  clock.setTime(lease.until);
  return await other.lease(NAME);
}

test('a request for a lease whose answer was lost is sent again, and has the lease that was given', async (t) => {
  const opened = await open(t);
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
  assert.equal(lease.signal.aborted, false, 'giving it back once more is no loss');
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  assert.ok((await other.lease(NAME)).token > lease.token);
});

test('a release that has failed keeps the lease, and is repeated', async (t) => {
  for (const what of ['cut', 'busy', 'lost']) {
    await t.test(what, async (t) => {
      const opened = await open(t);
      const { service, session, plan, other, asked } = opened;
      const lease = await service.lease(session);
      plan.lease.push(what, 'cut', 'cut');
      await assert.rejects(lease.release(), hasCode('STORE_UNAVAILABLE'));
      assert.equal(lease.signal.aborted, false);
      if (what !== 'lost') {
        await service.appendEvent({ session, event: setting({ n: 1 }) });
        assert.equal(asked.at(-1).guard.fence, lease.token, 'it is the lease that the handle has still');
        await lease.renew();
      }
      await Promise.all([lease.release(), lease.release()]);
      assert.equal(lease.signal.aborted, false);
      await service.appendEvent({ session, event: setting({ n: 2 }) });
      assert.equal(asked.at(-1).guard.fence, undefined);
      await (await other.lease(NAME)).release();
    });
  }
});

test('a lease that was taken while its release failed is lost, and its handle writes nothing', async (t) => {
  const opened = await open(t);
  const { service, session, plan } = opened;
  const lease = await service.lease(session);
  plan.lease.push('cut', 'cut', 'cut');
  await assert.rejects(lease.release(), hasCode('STORE_UNAVAILABLE'));
  await overtake(opened, lease);
  await lease.release();
  assert.equal(lease.signal.reason.code, 'LEASE_LOST');
  await assert.rejects(service.appendEvent({ session, event: setting({ n: 1 }) }), hasCode('LEASE_LOST'));
});

test('what reads for longer than the lease is held is not written without it', async (t) => {
  const late = {
    rewind: ({ service, session }) => service.rewind(session, { before: 'i' }),
    redo: ({ service, session }) => service.redo(session),
    updateState: ({ service, session }) => service.updateState(session, () => ({ n: 'late' })),
  };
  for (const [what, write] of Object.entries(late)) {
    await t.test(what, async (t) => {
      const opened = await open(t);
      const { service, session, plan, other } = opened;
      await service.appendEvent({ session, event: setting({ n: 1 }) });
      if (what === 'redo') await service.rewind(session, { before: 'i' });
      const lease = await service.lease(session);
      const before = await other.getSession(KEY);
      let goOn;
      const isRead = new Promise((resolve) => plan.load.push(() => (resolve(), new Promise((go) => (goOn = go)))));
      const written = write(opened).catch((error) => error);
      await isRead;
      await lease.release();
      goOn();
      assert.ok(hasCode('LEASE_LOST')(await written));
      assert.equal((await other.getSession(KEY)).revision, before.revision);
      assert.equal(lease.signal.aborted, false);
    });
  }
});

test('a deletion under a lease carries its token, and is refused for good once the lease is lost', async (t) => {
  const opened = await open(t);
  const { service, session, plan, asked, inner, other } = opened;
  const lease = await service.lease(session);
  plan.remove.push('cut', async () => void (await overtake(opened, lease)));
  await assert.rejects(service.deleteSession(session), hasCode('LEASE_LOST'));
  assert.equal(lease.signal.aborted, true);
  // The first try arrives now.
  const { remove: guard } = asked.find((request) => request.remove !== undefined);
  assert.equal(guard.fence, lease.token);
  await assert.rejects(inner.remove(KEY, { signal: new AbortController().signal }, guard), { code: 'fenced' });
  assert.notEqual(await other.getSession(KEY), undefined);
});

test('a deletion under a lease whose answer was lost is a success', async (t) => {
  const { service, session, plan, other } = await open(t);
  await service.lease(session);
  plan.remove.push('lost');
  await service.deleteSession(session);
  assert.equal(await other.getSession(KEY), undefined);
});

test('a store that compares no token when it removes is asked for nothing under a lease', async (t) => {
  const { service, session, asked } = await open(t, { keeps: ['marks', 'calls', 'creations'] });
  const lease = await service.lease(session);
  const isTold = (error) => hasCode('INVALID_ARGUMENT')(error) && /release the lease first/u.test(error.message);
  await assert.rejects(service.deleteSession(session), isTold);
  assert.equal(asked.filter(({ remove }) => remove !== undefined).length, 0);
  await lease.release();
  await service.deleteSession(session);
  assert.equal(await service.getSession(KEY), undefined);
});

test('a store that does not answer is no lost lease', async (t) => {
  const { service, session, plan } = await open(t);
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

test('withLease answers with what its function has answered, also when the lease cannot be given back', async (t) => {
  const { service, plan } = await open(t);
  const answer = await service.withLease(NAME, () => {
    plan.lease.push('busy', 'busy', 'busy');
    return 'done';
  });
  assert.equal(answer, 'done');
});

test('withLease tells its function when the lease is lost: by a renewal', async (t) => {
  const opened = await open(t);
  const { service, clock } = opened;
  clock.reset();
  clock.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  let heard;
  const run = service.withLease(
    NAME,
    async (lease) => {
      await overtake(opened, lease);
      const isAborted = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      clock.tick(10);
      await isAborted;
      heard = lease.signal.reason;
    },
    { ttl: 30 },
  );
  await assert.rejects(run, hasCode('LEASE_LOST'));
  assert.ok(hasCode('LEASE_LOST')(heard));
});

test('withLease renews each third of the time, whatever becomes of a renewal', async (t) => {
  const { service, clock, asked, plan } = await open(t);
  clock.reset();
  clock.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  const renewals = () => asked.filter(({ ttl, fence }) => ttl === 90 && fence === 1).length;
  const pass = async (time) => {
    await settled();
    clock.tick(time);
    await settled();
    return renewals();
  };
  await service.withLease(
    NAME,
    async (lease) => {
      const { until } = lease;
      assert.equal(await pass(29), 0);
      assert.equal(await pass(1), 1);
      assert.equal(lease.until, until + 30);
      assert.equal(await pass(29), 1);
      plan.lease.push('busy', 'busy', 'busy');
      // One that fails is tried three times, a millisecond or two apart.
      for (let time = 0; renewals() < 4; time += 1) {
        assert.ok(time <= 10);
        await pass(1);
      }
      await settled();
      assert.equal(await pass(29), 4);
      assert.equal(await pass(1), 5);
    },
    { ttl: 90 },
  );
  assert.equal(await pass(1_000), 5, 'and not after it has ended');
});

test('an append that was written before its lease was lost, and its answer lost, is a success', async (t) => {
  const opened = await open(t);
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

test('an append whose try was lost on the way is refused for good once the lease is', async (t) => {
  const opened = await open(t);
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

test('of a batch only what lacks its lease is refused', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const store = memoryStore();
  const service = new SessionService({ store });
  const other = new SessionService({ store });
  const keys = ['a', 'b', 'c'].map((sessionId) => ({ ...KEY, sessionId }));
  const sessions = await Promise.all(keys.map((key) => service.createSession(key)));
  const leases = await Promise.all(sessions.map((session) => service.lease(session)));
  t.mock.timers.setTime(leases[1].until);
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

test('who gives up taking a lease leaves none behind', async (t) => {
  const { service, session, plan, other, clock } = await open(t);
  const controller = new AbortController();
  plan.lease.push(() => controller.abort(new Error('enough')));
  await assert.rejects(service.lease(session, { signal: controller.signal }), /enough/u);
  await settled();
  clock.tick(1);
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

test('a store without leases is refused by name, and nothing else changes', async (t) => {
  const { service, session } = await open(t, { lease: undefined });
  const isTold = (error) =>
    hasCode('INVALID_ARGUMENT')(error) && /the store does not support leases/u.test(error.message);
  await assert.rejects(service.lease(session), isTold);
  await assert.rejects(
    service.withLease(session, () => 1),
    isTold,
  );
  await service.appendEvent({ session, event: setting({ n: 1 }) });
});

test('a store that does not say what became of a lease is asked again, and then not believed', async (t) => {
  const { service, session } = await open(t, { lease: async () => ({}) });
  await assert.rejects(service.lease(session), hasCode('STORE_UNAVAILABLE'));
});

test('a store that compares nothing else still gets the token, and which session is meant', async (t) => {
  const opened = await open(t, { guards: 'none' });
  const { service, session, asked } = opened;
  const lease = await service.lease(session);
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  const [{ created }] = asked;
  assert.equal(typeof created, 'string');
  assert.deepEqual(asked.at(-1).guard, { created, fence: lease.token });
  await overtake(opened, lease);
  await assert.rejects(service.appendEvent({ session, event: setting({ n: 2 }) }), hasCode('LEASE_LOST'));
});

test('what carries no lease carries no token', async (t) => {
  const { service, session, asked } = await open(t);
  const lease = await service.lease(session);
  await service.appendEvent({ session: NAME, event: setting({ n: 1 }) });
  assert.equal(asked.at(-1).guard.fence, undefined);
  await lease.release();
  await service.appendEvent({ session, event: setting({ n: 2 }) });
  assert.equal(asked.at(-1).guard.fence, undefined);
});
