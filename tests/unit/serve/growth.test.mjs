// Sessions that expire, limits and sweeps over HTTP, and through a client.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService, applyChange } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { clientOf } from '../../support/client.mjs';
import { ANA, serverOver } from './server.mjs';

const U = '/v1/apps/tutor/users/ana';
const DAY = 86_400_000;

/** A service in memory whose clock the test turns, behind a server. */
function opened(options = {}) {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const service = new SessionService({ now: () => clock.now, ...options });
  return { clock, service, ...serverOver(service) };
}

const append = (id, stateDelta = {}) => ({ event: { id, author: 'agent', actions: { stateDelta } } });

describe('a session that expires, over HTTP,', () => {
  it('tells its end, which writes move where it is a ttl, and is missing from then on', async () => {
    const { ask, clock, service } = opened();
    const body = { sessionId: 's', ttl: DAY };
    const created = await ask('POST', `${U}/sessions`, { body });
    assert.deepEqual([created.status, created.body.expireTime], [200, clock.now + DAY]);
    clock.now += DAY / 2;
    const appended = await ask('POST', `${U}/sessions/s/events`, { body: append('e1') });
    assert.deepEqual([appended.status, appended.body.expireTime], [200, clock.now + DAY]);
    const read = await ask('GET', `${U}/sessions/s`);
    assert.equal(read.body.expireTime, clock.now + DAY);
    const listed = await ask('GET', `${U}/sessions`);
    assert.deepEqual(
      listed.body.sessions.map(({ expireTime }) => expireTime),
      [clock.now + DAY],
    );
    clock.now += DAY;
    assert.equal((await ask('GET', `${U}/sessions/s`)).status, 404);
    assert.equal((await ask('POST', `${U}/sessions/s/events`, { body: append('e2') })).status, 404);
    assert.deepEqual((await ask('GET', `${U}/sessions`)).body.sessions, []);
    await service.close();
  });

  it('has an end that stays where it is a time, in a fork, too', async () => {
    const { ask, clock, service } = opened({ ttl: DAY });
    const end = clock.now + 5 * DAY;
    const body = { sessionId: 's', expireTime: end };
    assert.equal((await ask('POST', `${U}/sessions:getOrCreate`, { body })).body.expireTime, end);
    clock.now += DAY;
    assert.equal((await ask('POST', `${U}/sessions/s/events`, { body: append('e1') })).body.expireTime, end);
    const fork = async (more) => (await ask('POST', `${U}/sessions/s:fork`, { body: more })).body.expireTime;
    assert.deepEqual(
      [await fork({}), await fork({ ttl: 2 * DAY }), await fork({ expireTime: end }), await fork({ ttl: null })],
      [clock.now + DAY, clock.now + 2 * DAY, end, undefined],
    );
    const lasting = await ask('POST', `${U}/sessions`, { body: { ttl: null } });
    assert.ok(!('expireTime' in lasting.body));
    await service.close();
  });

  it('is refused with an end that cannot be meant, which is named', async () => {
    const { ask, clock, service } = opened();
    for (const [body, path] of [
      [{ ttl: 0 }, 'ttl'],
      [{ ttl: 'long' }, 'ttl'],
      [{ expireTime: clock.now }, 'expireTime'],
      [{ expireTime: null }, 'expireTime'],
      [{ ttl: 1, expireTime: clock.now + 1 }, 'expireTime'],
    ]) {
      const { status, body: answer } = await ask('POST', `${U}/sessions`, { body });
      assert.deepEqual([status, answer.error.path], [400, path], JSON.stringify(body));
    }
    await service.close();
  });
});

describe('a limit of the service, over HTTP,', () => {
  for (const [name, limit, state, delta, expected] of [
    ['value', 5, {}, { text: 'four' }, { key: 'text', size: 6 }],
    ['delta', 9, {}, { a: 1, text: 'four' }, { size: 12 }],
    ['state', 9, { a: 1 }, { text: 'four' }, { size: 12 }],
    ['keys', 1, { a: 1 }, { b: 1 }, { size: 2 }],
    ['events', 0, {}, {}, { size: 1 }],
  ]) {
    it(`tells its name, ${name}, the size and the limit, and is not logged`, async () => {
      const { ask, errors, service } = opened({ limits: { [name]: limit } });
      assert.equal((await ask('POST', `${U}/sessions`, { body: { sessionId: 's', state } })).status, 200);
      const { status, body } = await ask('POST', `${U}/sessions/s/events`, { body: append('e1', delta) });
      const { code, message, key, size, exceeded, number } = body.error;
      assert.deepEqual([status, code], [413, 'LIMIT_EXCEEDED'], JSON.stringify(body));
      assert.deepEqual(
        { exceeded, limit: body.error.limit, size, number },
        {
          ...{ exceeded: name, limit, size: expected.size, number: undefined },
        },
      );
      assert.equal(key, expected.key);
      assert.match(message, /limit/);
      assert.deepEqual(errors, []);
      assert.equal((await ask('GET', `${U}/sessions/s`)).body.revision, 0);
      await service.close();
    });
  }
});

describe('a sweep over HTTP', () => {
  it('counts, and removes what has expired, up to a limit', async () => {
    const { ask, clock, service } = opened();
    const create = async (appName, n) => await service.createSession({ ...ANA, appName, sessionId: `${n}`, ttl: DAY });
    for (let n = 0; n < 3; n++) await create('tutor', n);
    await create('shop', 0);
    clock.now += DAY;
    const sweep = async (path, body) => (await ask('POST', path, { body })).body;
    for (let time = 0; time < 2; time++) {
      const counted = await sweep('/v1/apps:sweep', { dryRun: true });
      assert.deepEqual(counted, { sessions: 4, users: 0, more: false });
    }
    assert.deepEqual(await sweep('/v1/apps/tutor:sweep', { dryRun: true }), { sessions: 3, users: 0, more: false });
    assert.deepEqual(await sweep('/v1/apps/tutor:sweep', { limit: 2 }), { sessions: 2, users: 0, more: true });
    assert.deepEqual(await sweep('/v1/apps:sweep', {}), { sessions: 2, users: 0, more: false });
    assert.deepEqual(await sweep('/v1/apps:sweep', {}), { sessions: 0, users: 0, more: false });
    assert.equal((await ask('POST', '/v1/apps:sweep', { body: { limit: 0 } })).status, 400);
    await service.close();
  });

  it('is refused by name over a store without expiry', async () => {
    const store = { ...memoryStore(), sweep: undefined, keeps: [] };
    const service = new SessionService({ store });
    const { ask } = serverOver(service);
    const { status, body } = await ask('POST', '/v1/apps:sweep', { body: {} });
    assert.deepEqual([status, body.error.code], [400, 'INVALID_ARGUMENT']);
    assert.match(body.error.message, /no sweep/);
    await service.close();
  });
});

describe('a client of sessions that expire', () => {
  it('has handles that show their ends, as those of a service', async () => {
    const { clock, service } = opened();
    const client = clientOf(service);
    const key = { ...ANA, sessionId: 's' };
    const session = await client.createSession({ ...key, ttl: DAY });
    assert.equal(session.expireTime, clock.now + DAY);
    const changes = client.watch({ ...key, whole: true });
    let shown = applyChange(undefined, (await changes.next()).value);
    assert.equal(shown.expireTime, clock.now + DAY);
    clock.now += 1_000;
    await client.appendEvent({ session, event: { author: 'ana' } });
    shown = applyChange(shown, (await changes.next()).value);
    assert.deepEqual([shown.revision, shown.expireTime], [1, clock.now + DAY]);
    await changes.return();
    assert.equal(session.expireTime, clock.now + DAY);
    assert.equal((await client.getSession(key)).expireTime, clock.now + DAY);
    assert.equal((await client.fork(session, { ttl: Infinity })).expireTime, undefined);
    assert.ok(!('expireTime' in (await client.createSession({ ...ANA, ttl: Infinity }))));
    for (const ends of [{ ttl: NaN }, { ttl: -1 }, { expireTime: Infinity }, { ttl: 1, expireTime: 1 }]) {
      await assert.rejects(client.createSession({ ...ANA, ...ends }), { code: 'INVALID_ARGUMENT' });
      await assert.rejects(client.fork(session, ends), { code: 'INVALID_ARGUMENT' });
    }
    clock.now += DAY;
    assert.equal(await client.getSession(key), undefined);
    await assert.rejects(client.appendEvent({ session, event: {} }), { code: 'SESSION_NOT_FOUND' });
    await client.close();
    await service.close();
  });

  it('sweeps by as many requests as it takes', async () => {
    const { clock, service } = opened();
    const client = clientOf(service);
    for (let n = 0; n < 1_203; n++) await service.createSession({ ...ANA, appName: n < 3 ? 'shop' : 'tutor', ttl: 1 });
    clock.now += 1;
    assert.deepEqual(await client.sweep({ dryRun: true }), { sessions: 1_203, users: 0 });
    assert.deepEqual(await client.sweep({ dryRun: true, limit: 7 }), { sessions: 7, users: 0 });
    assert.deepEqual(await client.sweep({ appName: 'shop' }), { sessions: 3, users: 0 });
    assert.deepEqual(await client.sweep({ limit: 600 }), { sessions: 600, users: 0 });
    assert.deepEqual(await client.sweep(), { sessions: 600, users: 0 });
    await assert.rejects(client.sweep({ limit: 0 }), { code: 'INVALID_ARGUMENT' });
    await client.close();
    await service.close();
  });

  it('throws the limits of a service with their details', async () => {
    const { service } = opened({ limits: { value: 5 } });
    const client = clientOf(service);
    await assert.rejects(client.createSession({ ...ANA, state: { 'user:text': 'four' } }), (error) => {
      const { code, exceeded, key, size, limit, status } = error;
      const expected = { code: 'LIMIT_EXCEEDED', exceeded: 'value', key: 'user:text', size: 6, limit: 5, status: 413 };
      assert.deepEqual({ code, exceeded, key, size, limit, status }, expected);
      return true;
    });
    await client.close();
    await service.close();
  });
});
