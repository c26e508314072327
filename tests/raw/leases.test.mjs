// Leases of the service that the crate has by itself, where writes wait for their turn: a write carries the lease that
// its handle had when it was asked for.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { KEY } from '../support/fixtures.mjs';
import { keeping } from '../support/damaged-logs.mjs';
import { rawBuild } from './build.mjs';

const { SessionService } = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);

const event = (id, invocationId = 'i') => ({ id, invocationId, actions: { stateDelta: { [id]: 1 } } });
const orCode = (promise) =>
  promise.then(
    () => 'done',
    ({ code }) => code,
  );

/** A service whose `persist` waits while it is held. */
function held() {
  const { persist, restore } = keeping([]);
  const clock = { time: 1000 };
  let opened = Promise.resolve();
  let open = () => undefined;
  const hold = () => (opened = new Promise((resolve) => (open = resolve)));
  const service = new SessionService({
    now: () => clock.time,
    persist: async (changes) => {
      await opened;
      await persist(changes);
    },
    restore,
  });
  return { service, clock, hold, go: () => open() };
}

/** A session with two invocations, its lease, and another session. */
async function leased() {
  const { service, ...others } = held();
  const session = await service.createSession(KEY);
  const other = await service.createSession({ ...KEY, sessionId: 'other' });
  await service.appendEvent({ session, event: event('a') });
  await service.appendEvent({ session, event: event('b', 'j') });
  const lease = await service.lease(session, { ttl: 100 });
  return { service, session, other, lease, ...others };
}

for (const [what, write] of Object.entries({
  appendEvent: (service, session) => service.appendEvent({ session, event: event('late') }),
  updateState: (service, session) => service.updateState(session, () => ({ late: 1 })),
  rewind: (service, session) => service.rewind(session, { before: 'j' }),
  deleteSession: (service, session) => service.deleteSession(session),
})) {
  test(`${what} that waits for its turn is refused when its lease is lost meanwhile, and when it is given back`, async () => {
    const { service, session, other, lease, clock, hold, go } = await leased();
    hold();
    const before = service.appendEvent({ session: other, event: event('x') });
    const late = orCode(write(service, session));
    clock.time = 1200;
    const second = await service.lease(await service.getSession(KEY), { ttl: 100 });
    // It is lost: what is called through its handle later goes on being refused.
    const released = lease.release();
    const later = orCode(write(service, session));
    go();
    assert.deepEqual(await Promise.all([late, later]), ['LEASE_LOST', 'LEASE_LOST']);
    await Promise.all([before, released]);
    assert.equal(await orCode(write(service, session)), 'LEASE_LOST');
    assert.equal((await service.getSession(KEY)).revision, 2);
    assert.equal(await orCode(write(service, second.session)), 'done');
  });

  test(`${what} that was asked for before its lease is given back is written before, and after it without a lease`, async () => {
    const { service, session, other, lease, hold, go } = await leased();
    hold();
    const before = service.appendEvent({ session: other, event: event('x') });
    const early = orCode(write(service, session));
    const released = lease.release();
    const late = orCode(service.appendEvent({ session, event: event('y') }));
    go();
    await Promise.all([before, released]);
    const gone = what === 'deleteSession' ? 'SESSION_NOT_FOUND' : 'done';
    assert.deepEqual(await Promise.all([early, late]), ['done', gone]);
    assert.equal(await orCode(service.appendEvent({ session, event: event('z') })), gone);
  });
}

test('deleteSession through the handle of a lost lease is refused, and through another handle is not', async () => {
  let time = 1000;
  const service = new SessionService({ now: () => time });
  const session = await service.createSession(KEY);
  await service.lease(session, { ttl: 100 });
  const other = await service.getSession(KEY);
  time = 1200;
  const second = await service.lease(other, { ttl: 100 });
  assert.equal(await orCode(service.deleteSession(session)), 'LEASE_LOST');
  await second.release();
  assert.equal(await orCode(service.deleteSession(await service.getSession(KEY))), 'done');
});
