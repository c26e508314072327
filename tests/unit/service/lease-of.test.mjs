// A look at the lease of a session: by the service that has it, by another one, and by a client of a server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { connect } from 'statepad/client';
import { serve } from 'statepad/serve';

const KEY = { appName: 'shop', userId: 'ana', sessionId: 's' };
const NAME = { appName: 'shop', userId: 'ana', id: 's' };

for (const [place, storeOf] of [
  ['in memory', () => undefined],
  ['over a store', () => memoryStore()],
]) {
  test(`${place}, a lease is seen with its holder and its end, and nobody's lease is changed`, async () => {
    let time = Date.now();
    const service = new SessionService({ store: storeOf(), now: () => time });
    await assert.rejects(service.leaseOf(NAME), { code: 'SESSION_NOT_FOUND' });
    await service.createSession(KEY);
    assert.equal(await service.leaseOf(NAME), undefined);

    const handler = serve(service, { insecure: true });
    const client = connect({
      url: 'http://localhost',
      fetch: async (url, init) => await handler(new Request(url, init)),
    });
    const lease = await service.lease(NAME, { ttl: 60_000 });
    const seen = await service.leaseOf(NAME);
    assert.deepEqual(seen, { token: lease.token, holder: seen.holder, until: lease.until });
    assert.match(seen.holder, /\S/);
    assert.deepEqual(await client.leaseOf(NAME), seen);
    assert.deepEqual(await service.leaseOf(NAME), seen);
    await service.appendEvent({ session: lease.session, event: { author: 'x' } });
    await lease.release();
    assert.equal(await service.leaseOf(NAME), undefined);
    assert.equal(await client.leaseOf(NAME), undefined);

    const next = await service.lease(NAME, { ttl: 60_000 });
    assert.notEqual((await service.leaseOf(NAME)).holder, seen.holder);
    if (place === 'in memory') {
      time = next.until;
      assert.equal(await service.leaseOf(NAME), undefined);
    }
    await client.close();
    await service.close();
  });
}

test('over a store that does not tell leases, a look is refused by name', async () => {
  const store = { ...memoryStore(), readLease: undefined };
  const service = new SessionService({ store });
  await service.createSession(KEY);
  await assert.rejects(service.leaseOf(NAME), { code: 'INVALID_ARGUMENT', message: /does not tell leases/ });
});
