// A lease that was lost, or given back: what can be written through its handle from then on.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY, hasCode, setting } from '../../support/fixtures.mjs';
import { sharingPlaces } from '../../support/services.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };

for (const [name, open] of Object.entries(sharingPlaces)) {
  describe(name, () => {
    /** A session with a rewind to take back, and services whose clock stands still. */
    const start = async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
      const opened = open();
      const session = await opened.service.createSession({ ...KEY, state: { n: 0 } });
      for (const invocationId of ['a', 'b']) {
        await opened.service.appendEvent({ session, event: setting({ n: invocationId }, { invocationId }) });
      }
      await opened.service.rewind(session, { before: 'b' });
      /** The time of the lease goes by, and another takes it, so long for good. */
      const overtake = async (lease) => {
        t.mock.timers.tick(lease.ttl ?? 60_000);
        return await opened.other.lease(await opened.other.getSession(KEY));
      };
      const theLog = async () => (await opened.other.getSession(KEY))?.events.length;
      return { ...opened, session, overtake, theLog, tick: (ms) => t.mock.timers.tick(ms) };
    };
    /** Every way to write through a handle. */
    const writes = ({ service, session }) => ({
      appendEvent: () => service.appendEvent({ session, event: setting({ n: 'late' }) }),
      updateState: () => service.updateState(session, () => ({ n: 'late' })),
      'updateState of the user': () => service.updateState(session, () => ({ 'user:n': 'late' })),
      rewind: () => service.rewind(session, { before: 'a' }),
      redo: () => service.redo(session),
      deleteSession: () => service.deleteSession(session),
      context: () => {
        const context = service.invocation(session, { author: 'late' });
        context.state.set('n', 'late');
        return context.append({});
      },
    });

    for (const what of Object.keys(writes({}))) {
      test(`${what} of a lost lease is refused for good, whatever is called, and its signal is aborted`, async (t) => {
        const opened = await start(t);
        const { service, session, overtake, theLog } = opened;
        const write = writes(opened)[what];
        const lease = await service.lease(session, { ttl: 60_000 });
        const theirs = await overtake(lease);
        await lease.release();
        assert.equal(lease.signal.aborted, true);
        assert.equal(lease.signal.reason.code, 'LEASE_LOST');
        await assert.rejects(write(), hasCode('LEASE_LOST'));
        await lease.release();
        await lease[Symbol.asyncDispose]();
        await assert.rejects(lease.renew(), hasCode('LEASE_LOST'));
        await assert.rejects(write(), hasCode('LEASE_LOST'));
        // Also when the one that has overtaken it has ended, and under a lease of its own.
        await theirs.release();
        await assert.rejects(service.lease(session), hasCode('LEASE_LOST'));
        await assert.rejects(
          service.withLease(session, () => assert.fail()),
          hasCode('LEASE_LOST'),
        );
        await assert.rejects(write(), hasCode('LEASE_LOST'));
        assert.equal(await theLog(), 3);
        const again = await service.lease(await service.getSession(KEY));
        await service.appendEvent({ session: again.session, event: setting({ n: 'on' }) });
      });

      test(`${what} asked for before the release is written under the lease, or not at all`, async (t) => {
        const opened = await start(t);
        const { service, other, session, theLog } = opened;
        const lease = await service.lease(session);
        const write = writes(opened)[what];
        const written = write().then(
          () => true,
          (error) => error,
        );
        await lease.release();
        const atRelease = await theLog();
        const theirs = await other.lease(NAME).catch((error) => error);
        const outcome = await written;
        assert.equal(await theLog(), atRelease, 'nothing is written once it was given back');
        if (outcome === true) {
          assert.equal(atRelease, what === 'deleteSession' ? undefined : 4);
        } else {
          assert.ok(hasCode('LEASE_LOST')(outcome), String(outcome));
          assert.match(outcome.message, /was released/u);
          assert.ok(theirs.token > lease.token);
          assert.equal(await theLog(), 3);
        }
        assert.equal(lease.signal.aborted, false);
      });

      test(`${what} after the release needs no lease`, async (t) => {
        const opened = await start(t);
        const { service, session, theLog } = opened;
        const lease = await service.lease(session);
        await lease.release();
        await writes(opened)[what]();
        assert.equal(await theLog(), what === 'deleteSession' ? undefined : 4);
      });
    }

    test('what is asked for while a lost lease is given back is refused', async (t) => {
      const opened = await start(t);
      const { service, session, overtake, theLog } = opened;
      const lease = await service.lease(session, { ttl: 60_000 });
      await overtake(lease);
      const released = lease.release();
      const late = Object.values(writes(opened)).map((write) => write());
      for (const { reason } of await Promise.allSettled(late)) {
        assert.ok(hasCode('LEASE_LOST')(reason), String(reason));
      }
      await released;
      assert.equal(await theLog(), 3);
    });

    test('withLease rejects with LEASE_LOST when its lease was lost, though nothing was written since', async (t) => {
      const { service, session, overtake, theLog } = await start(t);
      let signal;
      const run = service.withLease(
        session,
        async (lease) => {
          signal = lease.signal;
          await overtake(lease);
          return 'done';
        },
        { ttl: 60_000 },
      );
      await assert.rejects(run, hasCode('LEASE_LOST'));
      assert.equal(signal.aborted, true);
      await assert.rejects(service.appendEvent({ session, event: setting({ n: 'late' }) }), hasCode('LEASE_LOST'));
      assert.equal(await theLog(), 3);
    });

    test('withLease rejects with what its function has thrown, also when its lease was lost', async (t) => {
      const { service, session, overtake } = await start(t);
      const failure = new Error('the run failed');
      const run = service.withLease(session, async (lease) => {
        await overtake(lease);
        throw failure;
      });
      await assert.rejects(run, failure);
    });

    test('withLease answers when its function has given the lease back, or has deleted the session', async (t) => {
      const { service, session, overtake, other } = await start(t);
      const released = service.withLease(session, async (lease) => {
        await lease.release();
        await (await overtake(lease)).release();
        return 'released';
      });
      assert.equal(await released, 'released');
      assert.equal(
        await service.withLease(session, async () => {
          await service.deleteSession(session);
          return 'deleted';
        }),
        'deleted',
      );
      assert.equal(await other.getSession(KEY), undefined);
    });

    test('deleting through the handle of a lease spares a session that was made anew', async (t) => {
      const { service, session, other } = await start(t);
      await service.lease(session);
      await other.deleteSession(KEY);
      await other.createSession({ ...KEY, state: { anew: 1 } });
      await service.deleteSession(session);
      assert.deepEqual((await other.getSession(KEY)).state, { anew: 1 });
      // A caller that names the session by its key means the present one.
      await service.deleteSession(KEY);
      assert.equal(await other.getSession(KEY), undefined);
    });

    test('a handle that is leased anew loses the lease that it had', async (t) => {
      const { service, session, tick } = await start(t);
      const first = await service.lease(session, { ttl: 60_000 });
      tick(60_000);
      const second = await service.lease(session, { ttl: 60_000 });
      assert.equal(first.signal.aborted, true);
      await first.release();
      await service.appendEvent({ session, event: setting({ n: 1 }) });
      await assert.rejects(service.lease(NAME), hasCode('LEASE_HELD'));
      await second.release();
      await (await service.lease(NAME)).release();
    });

    test('a lease is held to the last millisecond of its time, and taken in the next', async (t) => {
      const { service, session, other, tick } = await start(t);
      const lease = await service.lease(session, { ttl: 60_000 });
      tick(59_999);
      await assert.rejects(other.lease(NAME), hasCode('LEASE_HELD'));
      tick(1);
      assert.ok((await other.lease(NAME)).token > lease.token);
    });
  });
}
