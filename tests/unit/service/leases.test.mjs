// Leases: one runner at a time for a session, in memory and over a store.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY, hasCode, setting } from '../../support/fixtures.mjs';
import { sharingPlaces } from '../../support/services.mjs';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Lets time go by, as the mocked clock tells it, until a promise is settled. */
async function passUntil(timers, promise) {
  let isOver = false;
  const end = () => (isOver = true);
  promise.then(end, end);
  for (await settled(); !isOver; await settled()) timers.tick(20);
  return await promise;
}

for (const [name, open] of Object.entries(sharingPlaces)) {
  describe(name, () => {
    test('a lease is held by one, and every write through the handle of a lost one is refused', async (t) => {
      t.mock.timers.enable({ apis: ['Date'] });
      const { service, other } = open();
      const session = await service.createSession({ ...KEY, state: { n: 0 } });
      const theirs = await other.getSession(KEY);
      const lease = await service.lease(session, { ttl: 60_000 });
      assert.equal(lease.session, session);
      assert.equal(lease.signal.aborted, false);
      await service.appendEvent({ session, event: setting({ n: 1 }) });
      const held = await other.lease(theirs).then(assert.fail, (error) => error);
      assert.equal(held.code, 'LEASE_HELD');
      assert.equal(held.id, 's');
      assert.equal(held.until, lease.until);
      t.mock.timers.tick(60_000);

      const next = await other.lease(theirs, { ttl: 60_000 });
      assert.ok(next.token > lease.token);
      assert.deepEqual(theirs.state, { n: 1 }, 'the handle was brought up to date');
      await other.appendEvent({ session: theirs, event: setting({ n: 2 }) });
      const context = service.invocation(session, { author: 'late' });
      context.state.set('n', 'late');
      for (const write of [
        () => service.appendEvent({ session, event: setting({ n: 'late' }) }),
        () => service.appendEvent({ session, event: setting({ n: 'late' }), expectedRevision: 1 }),
        () => service.updateState(session, () => ({ n: 'late' })),
        () => service.updateState(session, () => ({ 'user:n': 'late' })),
        () => context.append({}),
        () => lease.renew(),
      ]) {
        await assert.rejects(write, hasCode('LEASE_LOST'));
      }
      assert.equal(lease.signal.aborted, true);
      assert.equal(lease.signal.reason.code, 'LEASE_LOST');
      await lease.release();
      await assert.rejects(
        service.appendEvent({ session, event: setting({ n: 'late' }) }),
        hasCode('LEASE_LOST'),
        'releasing what was lost lets nothing through',
      );
      await next.renew();
      const now = await other.getSession(KEY);
      assert.deepEqual([now.state, now.revision], [{ n: 2 }, 2]);

      // A writer that asks for no lease writes as before.
      await service.appendEvent({ session: KEY_AS_SESSION, event: setting({ n: 3 }) });
      await next.release();
      await other.appendEvent({ session: theirs, event: setting({ n: 4 }) });
      assert.equal((await other.getSession(KEY)).state.n, 4);
    });

    test('an event that is stored already is no write, whatever has become of the lease', async (t) => {
      t.mock.timers.enable({ apis: ['Date'] });
      const { service, other } = open();
      const session = await service.createSession(KEY);
      await service.lease(session, { ttl: 1 });
      const event = setting({ n: 1 }, { id: 'e', timestamp: 1 });
      const stored = await service.appendEvent({ session, event });
      t.mock.timers.tick(1);
      await other.lease(await other.getSession(KEY));
      assert.deepEqual(await service.appendEvent({ session, event }), stored);
    });

    test('a lease that is over is kept until another takes it', async (t) => {
      t.mock.timers.enable({ apis: ['Date'] });
      const { service } = open();
      const session = await service.createSession(KEY);
      const lease = await service.lease(session, { ttl: 1 });
      t.mock.timers.tick(1);
      await service.appendEvent({ session, event: setting({ n: 1 }) });
      await lease.renew(60_000);
      const again = service.lease(await service.getSession(KEY));
      await assert.rejects(again, hasCode('LEASE_HELD'));
      await lease.release();
      await assert.rejects(lease.renew(), hasCode('LEASE_LOST'));
      await lease.release();
      await (await service.lease(KEY_AS_SESSION)).release();
    });

    test('a session by its name is leased through a new handle', async () => {
      const { service } = open();
      await service.createSession({ ...KEY, state: { n: 1 } });
      const lease = await service.lease(KEY_AS_SESSION);
      assert.deepEqual(lease.session.state, { n: 1 });
      await service.appendEvent({ session: lease.session, event: setting({ n: 2 }) });
      await lease[Symbol.asyncDispose]();
      await service.withLease(KEY_AS_SESSION, () => undefined);
      await assert.rejects(service.lease({ ...KEY_AS_SESSION, id: 'none' }), hasCode('SESSION_NOT_FOUND'));
    });

    test('writes that were asked for before the release are written under the lease', async () => {
      const { service } = open();
      const session = await service.createSession(KEY);
      const lease = await service.lease(session);
      const before = service.appendEvent({ session, event: setting({ a: 1 }) });
      const released = lease.release();
      const after = service.appendEvent({ session, event: setting({ b: 1 }) });
      await Promise.all([before, released, after]);
      assert.deepEqual((await service.getSession(KEY)).state, { a: 1, b: 1 });
    });

    test('the lease of a session that was deleted is lost with it', async () => {
      const { service, other } = open();
      const session = await service.createSession(KEY);
      const lease = await service.lease(session);
      await other.deleteSession(KEY);
      await other.createSession({ ...KEY, state: { anew: 1 } });
      await assert.rejects(service.appendEvent({ session, event: setting({ n: 1 }) }), hasCode('SESSION_NOT_FOUND'));
      await assert.rejects(lease.renew(), hasCode('SESSION_NOT_FOUND'));
      assert.equal(lease.signal.reason.code, 'SESSION_NOT_FOUND');
      await lease.release();
      await assert.rejects(service.lease(session), hasCode('SESSION_NOT_FOUND'));
      await other.lease(await other.getSession(KEY));
      assert.deepEqual((await other.getSession(KEY)).state, { anew: 1 });
    });

    test('withLease renews while its function runs, gives back whatever comes of it, and waits its turn', async (t) => {
      t.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
      const { service, other } = open();
      const session = await service.createSession({ ...KEY, state: { n: 0 } });
      const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
      const order = [];
      const run = (of, label) => async (lease) => {
        order.push(`${label} begins`);
        const { n } = lease.session.state;
        await passUntil(t.mock.timers, sleep(500));
        await of.appendEvent({ session: lease.session, event: setting({ n: n + 1 }) });
        order.push(`${label} ends`);
        return label;
      };
      const theirs = await other.getSession(KEY);
      let begin;
      const isBegun = new Promise((resolve) => (begin = resolve));
      const first = service.withLease(session, (lease) => (begin(), run(service, 'first')(lease)), { ttl: 200 });
      await isBegun;
      await assert.rejects(other.withLease(theirs, run(other, 'none')), hasCode('LEASE_HELD'));
      const second = other.withLease(theirs, run(other, 'second'), { ttl: 200, wait: 10_000 });
      assert.deepEqual(await passUntil(t.mock.timers, Promise.all([first, second])), ['first', 'second']);
      assert.deepEqual(order, ['first begins', 'first ends', 'second begins', 'second ends']);
      assert.equal(theirs.state.n, 2);

      const failure = new Error('the run failed');
      const failed = service.withLease(session, () => {
        throw failure;
      });
      await assert.rejects(failed, failure);
      await service.withLease(session, () => undefined);
    });

    test('waiting for a lease ends with its signal', async () => {
      const { service } = open();
      const session = await service.createSession(KEY);
      await service.lease(session);
      const controller = new AbortController();
      const waiting = service.withLease(KEY_AS_SESSION, () => 'never', { wait: 60_000, signal: controller.signal });
      await settled();
      const reason = new Error('enough');
      controller.abort(reason);
      await assert.rejects(waiting, reason);
    });

    test('twenty runners that wait for each other lose nothing', async () => {
      const { service, other } = open();
      await service.createSession({ ...KEY, state: { n: 0 } });
      const runs = Array.from({ length: 20 }, (_, index) =>
        [service, other][index % 2].withLease(
          KEY_AS_SESSION,
          async ({ session }) => {
            const on = [service, other][index % 2];
            await on.appendEvent({ session, event: setting({ n: session.state.n + 1 }) });
          },
          { wait: 60_000 },
        ),
      );
      await Promise.all(runs);
      assert.equal((await service.getSession(KEY)).state.n, 20);
    });

    test('what is not a lease is refused by name', async () => {
      const { service } = open();
      const session = await service.createSession(KEY);
      for (const [call, message] of [
        [() => service.lease(session, { ttl: 0 }), 'ttl must be a whole number of milliseconds from 1'],
        [() => service.lease(session, { ttl: 0.5 }), 'ttl must be'],
        [() => service.lease(session, { ttl: 2 ** 31 }), 'from 1 to 2147483647, not 2147483648'],
        [() => service.lease(session, { tll: 5 }), 'tll is not known in the options, which are ttl, signal'],
        [() => service.lease(session, { wait: 5 }), 'wait is not known in the options'],
        [() => service.lease(), 'session is missing'],
        [() => service.withLease(session), 'fn is missing'],
        [() => service.withLease(session, () => 1, { wait: -1 }), 'wait must be a whole number'],
      ]) {
        await assert.rejects(call, (error) => hasCode('INVALID_ARGUMENT')(error) && error.message.includes(message));
      }
      const lease = await service.lease(session);
      await assert.rejects(lease.renew(-1), hasCode('INVALID_ARGUMENT'));
      await service.close();
      await assert.rejects(service.lease(session), hasCode('CLOSED'));
    });
  });
}

const KEY_AS_SESSION = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
