// Leases that remote holders have: they prove them by what they were told.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, hasCode, setting } from '../../support/fixtures.mjs';
import { NAME, onceOf, prepared, storages } from './serving-requests.mjs';

const TTL = 60_000;
const places = { memory: () => () => undefined, ...storages };
const proofOf = ({ fence: token, created }, holder = 'h') => ({ token, holder, created });
/** Writes of each kind to a session, through a handle. */
const WRITES = {
  'an append': (service, access, session) => service.appendEvent({ session, event: setting({ n: 7 }) }),
  'an update': (service, access, session) => service.updateState(session, () => ({ n: 7 })),
  'a conditional write': (service, access, session) => access.write(session, { delta: { n: 7 } }, onceOf('w')),
  'a rewind': (service, access, session) => access.rewind(session, { before: 'i2' }, onceOf('r')),
  'a deletion': (service, access, session, proof) => access.remove(KEY, { proof }),
};

for (const [place, storage] of Object.entries(places)) {
  describe(`over ${place}`, () => {
    const begin = async () => {
      const service = await prepared(storage()());
      const access = await service.serving({});
      const current = async () => await service.getSession(KEY);
      const lease = await access.lease(KEY, { holder: 'h', ttl: TTL });
      return { service, access, current, lease, proof: proofOf(lease) };
    };

    test('a lease is taken once, renewed and released by its proof', async () => {
      const { access, lease, proof, current } = await begin();
      assert.equal(lease.created, access.createdOf(await current()));
      assert.equal((await access.lease(KEY, { holder: 'h', ttl: TTL })).fence, lease.fence, 'its answer was lost');
      await assert.rejects(access.lease(KEY, { holder: 'h2', ttl: TTL }), (error) => {
        assert.ok(hasCode('LEASE_HELD')(error));
        return error.until > 0;
      });
      const renewed = await access.lease(KEY, { holder: 'h', ttl: 2 * TTL, proof });
      assert.equal(renewed.fence, lease.fence);
      assert.ok(renewed.until > lease.until);
      await access.lease(KEY, { holder: 'h', ttl: 0, proof });
      await access.lease(KEY, { holder: 'h', ttl: 0, proof });
      const next = await access.lease(KEY, { holder: 'h2', ttl: TTL });
      assert.ok(next.fence > lease.fence);
      await assert.rejects(access.lease(KEY, { holder: 'h', ttl: TTL, proof }), hasCode('LEASE_LOST'));
    });

    test('a forged proof neither renews nor releases a lease', async () => {
      const { access, proof } = await begin();
      for (const forged of [
        { ...proof, token: proof.token + 1 },
        { ...proof, token: proof.token - 1 },
        { ...proof, holder: 'h2' },
        { ...proof, created: 'another' },
      ]) {
        for (const ttl of [TTL, 0]) {
          await assert.rejects(access.lease(KEY, { holder: 'h', ttl, proof: forged }), hasCode('LEASE_LOST'));
        }
      }
      await assert.rejects(access.lease(KEY, { holder: 'h2', ttl: TTL }), hasCode('LEASE_HELD'));
    });

    for (const [kind, write] of Object.entries(WRITES)) {
      test(`${kind} under a lease is made while nobody else has taken it, and refused after that`, async () => {
        const { service, access, current, proof } = await begin();
        await access.lease(KEY, { holder: 'h', ttl: 0, proof });
        const lost = access.underLease(await current(), proof);
        const before = (await current()).revision;
        await assert.rejects(write(service, access, lost, proof), hasCode('LEASE_LOST'));
        assert.equal((await current()).revision, before);
        await access.lease(KEY, { holder: 'h2', ttl: TTL });
        await assert.rejects(write(service, access, lost, proof), (error) =>
          ['LEASE_LOST', 'STATE_CONFLICT'].includes(error.code),
        );
        assert.equal((await current()).revision, before);
      });

      test(`${kind} under a lease that is held is made`, async () => {
        const { service, access, current, proof } = await begin();
        const before = (await current()).revision;
        await write(service, access, access.underLease(await current(), proof), proof);
        const now = await current();
        assert.equal(now?.revision, kind === 'a deletion' ? undefined : before + 1);
      });
    }

    test('a handle under a lease is another one than that it was made of', async () => {
      const { service, access, current, proof } = await begin();
      const plain = await current();
      const leased = access.underLease(plain, proof);
      await access.lease(KEY, { holder: 'h', ttl: 0, proof });
      await service.appendEvent({ session: plain, event: setting({ n: 8 }) });
      assert.deepEqual([plain.revision, leased.revision], [3, 2]);
      await assert.rejects(service.appendEvent({ session: leased, event: setting({ n: 9 }) }), hasCode('LEASE_LOST'));
    });

    test('the lease of a session that was deleted is not one of its successor', async () => {
      const { service, access, current, proof } = await begin();
      await service.deleteSession(KEY);
      await assert.rejects(access.lease(KEY, { holder: 'h', ttl: TTL, proof }), hasCode('SESSION_NOT_FOUND'));
      await service.createSession(KEY);
      await assert.rejects(access.lease(KEY, { holder: 'h', ttl: TTL, proof }), hasCode('LEASE_LOST'));
      assert.throws(() => access.underLease({ ...NAME }, proof), hasCode('INVALID_ARGUMENT'));
      const successor = await current();
      assert.throws(() => access.underLease(successor, proof), hasCode('LEASE_LOST'));
      await access.remove(KEY, { proof });
      assert.notEqual(await current(), undefined);
    });

    test('a deletion names its session by the creation, and leaves a successor alone', async () => {
      const { service, access, current } = await begin();
      const created = access.createdOf(await current());
      await access.remove(KEY, { created: 'another' });
      assert.notEqual(await current(), undefined);
      await access.remove(KEY, { created });
      await access.remove(KEY, { created });
      assert.equal(await current(), undefined);
      const next = await service.createSession(KEY);
      assert.notEqual(access.createdOf(next), created);
      await access.remove(KEY, { created });
      await service.appendEvent({ session: next, event: setting({ n: 1 }) });
      assert.equal((await current()).revision, 1);
      await access.remove(KEY);
      assert.equal(await current(), undefined);
    });

    test('a wrong request for a lease is refused by name', async () => {
      const { access } = await begin();
      for (const [request, message] of [
        [{ ttl: TTL }, /holder is missing/],
        [{ holder: 'h', ttl: 0 }, /ttl must be a whole number/],
        [{ holder: 'h', ttl: -1 }, /ttl must be a whole number/],
        [{ holder: 'h', ttl: 2 ** 40 }, /ttl must be a whole number/],
      ]) {
        await assert.rejects(access.lease(KEY, request), { code: 'INVALID_ARGUMENT', message });
      }
      const none = { ...KEY, sessionId: 'none' };
      await assert.rejects(access.lease(none, { holder: 'h', ttl: TTL }), hasCode('SESSION_NOT_FOUND'));
    });
  });
}

test('a store without leases refuses them by name', async () => {
  const store = { ...memoryStore(), lease: undefined };
  const service = new SessionService({ store });
  const session = await service.createSession(KEY);
  const access = await service.serving({});
  const refused = { code: 'INVALID_ARGUMENT', message: /the store does not support leases/ };
  await assert.rejects(access.lease(KEY, { holder: 'h', ttl: TTL }), refused);
  const proof = { token: 1, holder: 'h', created: access.createdOf(session) };
  assert.throws(() => access.underLease(session, proof), refused);
});

test('a store that compares no creations refuses a deletion that names one', async () => {
  const store = { ...memoryStore(), keeps: ['marks'] };
  const service = new SessionService({ store });
  await service.createSession(KEY);
  const access = await service.serving({});
  const removal = access.remove(KEY, { created: 'c' });
  await assert.rejects(removal, { code: 'INVALID_ARGUMENT', message: /does not compare creations/ });
});
