// Sharing a connection among tabs: what the option takes, and that it changes nothing outside of a browser.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainSession, SessionService } from 'statepad';
import { connect } from 'statepad/client';
import { clientOf } from '../../support/client.mjs';

const KEY = { appName: 'app', userId: 'user', sessionId: 'one' };

describe('shareTabs', () => {
  for (const [given, path] of [
    [null, 'shareTabs'],
    [true, 'shareTabs'],
    [{}, 'shareTabs.key'],
    [{ key: '' }, 'shareTabs.key'],
    [{ key: 1 }, 'shareTabs.key'],
    [{ kee: 'ana' }, 'shareTabs.kee'],
  ]) {
    it(`refuses ${JSON.stringify(given)}, and names ${path}`, () => {
      assert.throws(
        () => connect({ url: 'http://host', shareTabs: given }),
        ({ code, message }) => code === 'INVALID_ARGUMENT' && message.includes(path),
      );
    });
  }

  it('changes nothing outside of a browser: the client has a connection of its own', async () => {
    const service = new SessionService();
    const client = clientOf(service, { shareTabs: { key: 'ana' } });
    const session = await service.createSession(KEY);
    const changes = client.watch({ ...KEY, whole: true });
    const first = await changes.next();
    assert.deepEqual(first.value.session, plainSession(session));
    await service.appendEvent({ session, event: { author: 'ana' } });
    assert.equal((await changes.next()).value.revision, 1);
    await changes.return();
    await service.close();
  });
});

describe('plainSession', () => {
  it('is what the handle shows, as an ordinary frozen object without temp: keys, and stays as it is', async () => {
    const service = new SessionService();
    const session = await service.createSession({ ...KEY, state: { topic: 'tides', ['__proto__']: 1, 'user:n': 2 } });
    const event = { author: 'user', invocationId: 'i', actions: { stateDelta: { topic: 'moon', 'temp:x': 1 } } };
    await service.appendEvent({ session, event });
    assert.ok('temp:x' in session.state);
    const plain = plainSession(session);
    await service.appendEvent({ session, event: { author: 'user' } });
    assert.equal(Object.getPrototypeOf(plain), Object.prototype);
    assert.ok(Object.isFrozen(plain) && Object.isFrozen(plain.state));
    const members = Object.getOwnPropertyDescriptors(plain);
    assert.ok(Object.values(members).every(({ get }) => get === undefined));
    assert.deepEqual(plain.state, { topic: 'moon', ['__proto__']: 1, 'user:n': 2 });
    assert.deepEqual([plain.events.length, plain.revision, session.revision], [1, 1, 2]);
    assert.deepEqual(structuredClone(plain), plain);
    assert.deepEqual(plainSession(plain), plain);
    assert.equal((await service.getSession({ ...KEY })).revision, 2);
    await service.appendEvent({ session: plain, event: { author: 'user' } });
    assert.equal((await service.getSession(KEY)).revision, 3);
    for (const wrong of [undefined, null, 'one']) {
      assert.throws(
        () => plainSession(wrong),
        ({ code }) => code === 'INVALID_ARGUMENT',
      );
    }
  });
});
