// Forks: a session that goes on from a moment of another one.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, StoreError, append, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../contract/read.mjs';
import { KEY, hasCode, runs, setting } from '../support/fixtures.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
const own = (state) => Object.fromEntries(Object.entries(state).filter(([key]) => !/^(?:app|user):/u.test(key)));

const places = { memory: () => ({}), 'memory store': () => ({ store: memoryStore() }) };

for (const [place, optionsOf] of Object.entries(places)) {
  describe(place, () => {
    test('a fork has the log up to a revision, says where it comes from, and shares nothing of what comes later', async () => {
      const service = new SessionService(optionsOf());
      const session = await service.createSession({
        ...KEY,
        state: { tenant: 't', 'app:price': 1, 'user:name': 'Ana' },
      });
      const delta = { n: 1, 'app:price': 2, 'user:name': 'Bea' };
      await service.appendEvent({ session, event: setting(delta, { id: 'a', timestamp: 7, author: 'agent' }) });
      await service.appendEvent({ session, event: setting({ tenant: DELETED, 'user:name': DELETED }, { id: 'b' }) });
      await service.appendEvent({ session, event: setting({ n: 3 }, { id: 'c' }) });

      const fork = await service.fork(session, { at: 2, sessionId: 'fork' });
      assert.deepEqual(own(fork.state), { n: 1 });
      assert.equal(fork.state['app:price'], 2);
      assert.equal(Object.hasOwn(fork.state, 'user:name'), false);
      assert.deepEqual(fork.events.map(({ id }) => id).slice(0, 2), ['a', 'b']);
      assert.deepEqual(plain(fork.events[0].actions.stateDelta), { n: 1 });
      assert.equal(fork.events[0].timestamp, 7);
      assert.deepEqual(fork.events[1].customMetadata, { statepad: { deleted: ['tenant'] } });
      const [last] = fork.events.slice(-1);
      assert.equal(last.author, 'system');
      assert.notEqual(last.invocationId, '');
      assert.deepEqual(last.customMetadata, { statepad: { forkedFrom: { sessionId: 's', revision: 2 } } });
      assert.deepEqual(own(await service.stateAt(fork, 0)), { tenant: 't' });

      await service.appendEvent({ session: fork, event: setting({ n: 'fork' }) });
      await service.appendEvent({ session, event: setting({ n: 'parent' }) });
      await service.deleteSession(KEY);
      assert.equal((await service.getSession({ ...KEY, sessionId: 'fork' })).state.n, 'fork');
    });

    test('a fork of a fork, of the creation and of all there is', async () => {
      const service = new SessionService(optionsOf());
      await service.createSession({ ...KEY, state: { n: 0 } });
      await service.appendEvent({ session: NAME, event: setting({ n: 1 }) });
      const all = await service.fork(NAME);
      const first = await service.fork(all, { at: 0, sessionId: ' ' });
      assert.deepEqual([all.state.n, first.state.n], [1, 0]);
      assert.deepEqual([all.revision, first.revision], [2, 1]);
      assert.deepEqual(first.events[0].customMetadata.statepad.forkedFrom, { sessionId: all.id, revision: 0 });
      assert.notEqual(first.id.trim(), '');
    });

    test('what there is not cannot be forked, and leaves nothing behind', async () => {
      const service = new SessionService(optionsOf());
      const session = await service.createSession(KEY);
      await assert.rejects(service.fork(session, { at: 1 }), { code: 'INVALID_ARGUMENT', path: 'at' });
      await assert.rejects(service.fork(session, { at: -1 }), hasCode('INVALID_ARGUMENT'));
      await assert.rejects(service.fork(session, { to: 1 }), hasCode('INVALID_ARGUMENT'));
      await assert.rejects(service.fork(session, { sessionId: 's' }), hasCode('SESSION_EXISTS'));
      await assert.rejects(service.fork({ ...NAME, id: 'none' }), hasCode('SESSION_NOT_FOUND'));
      await service.deleteSession(KEY);
      await service.createSession(KEY);
      await assert.rejects(service.fork(session), hasCode('SESSION_NOT_FOUND'));
      assert.equal((await service.listSessions(KEY)).totalItems, 1);
    });

    test('operators are taken over with what they came to, those of the session alone', async () => {
      const service = new SessionService(optionsOf());
      const session = await service.createSession({ ...KEY, state: { n: 1 } });
      const delta = { n: increment(2), 'app:c': increment(5), l: append('x') };
      await service.appendEvent({ session, event: setting(delta, { id: 'a' }) });
      await service.appendEvent({ session, event: setting({ n: increment(4), 'app:c': increment(1) }) });
      const fork = await service.fork(session, { at: 1 });
      assert.deepEqual(plain(fork.state), { n: 3, l: ['x'], 'app:c': 6 });
      assert.deepEqual(plain(fork.events[0].actions.stateDelta), { n: 3, l: ['x'] });
      assert.deepEqual(Object.keys(fork.events[0].customMetadata.statepad.operators), ['n', 'l']);
    });

    test('a law: a fork at any revision has the own keys of that moment, and the same past', async () => {
      const key = fc.constantFrom('a', 'b', '__proto__', 'app:x', 'user:y');
      const value = fc.option(fc.integer({ max: 3, min: 0 }), { nil: DELETED });
      const delta = fc.array(fc.tuple(key, value), { maxLength: 3 });
      const past = fc.tuple(delta, fc.array(delta, { maxLength: 6 }), fc.nat());
      await fc.assert(
        fc.asyncProperty(past, async ([initial, deltas, place]) => {
          const service = new SessionService(optionsOf());
          const record = (pairs) => Object.fromEntries(pairs);
          const state = record(initial.filter(([, each]) => each !== DELETED));
          const session = await service.createSession({ ...KEY, state });
          for (const pairs of deltas) {
            await service.appendEvent({ session, event: setting(record(pairs)) });
          }
          const at = place % (deltas.length + 1);
          const fork = await service.fork(session, { at });
          for (let revision = 0; revision <= at; revision++) {
            assert.deepEqual(
              own(plain(await service.stateAt(fork, revision))),
              own(plain(await service.stateAt(session, revision))),
            );
          }
          assert.deepEqual(own(plain(fork.state)), own(plain(await service.stateAt(session, at))));
          const { state: now } = await service.getSession(KEY);
          assert.deepEqual(plain(now), plain(session.state));
        }),
        { numRuns: runs(100) },
      );
    });
  });
}

test('a fork that fails midway is removed again', async () => {
  const inner = memoryStore();
  let left = Infinity;
  const commit = async (change, context) => {
    if ((left -= 1) < 0) throw new StoreError('rejected', 'no more');
    return await inner.commit(change, context);
  };
  const service = new SessionService({ store: { ...inner, commit, commitMany: undefined } });
  await service.createSession(KEY);
  for (let n = 0; n < 3; n++) {
    await service.appendEvent({ session: NAME, event: setting({ n }) });
  }
  for (let most = 0; most < 5; most++) {
    left = most;
    await assert.rejects(service.fork(NAME, { sessionId: 'fork' }), hasCode('INVALID_ARGUMENT'));
    assert.equal(await service.getSession({ ...KEY, sessionId: 'fork' }), undefined);
  }
  left = 5;
  assert.equal((await service.fork(NAME, { sessionId: 'fork' })).revision, 4);
});

test('a fork whose caller has given up is removed again', async () => {
  const inner = memoryStore();
  const controller = new AbortController();
  let count = 0;
  const commit = async (change, context) => {
    count += 1;
    if (change.kind === 'append' && count > 8) controller.abort(new Error('enough'));
    return await inner.commit(change, context);
  };
  const service = new SessionService({ store: { ...inner, commit, commitMany: undefined } });
  await service.createSession(KEY);
  for (let n = 0; n < 5; n++) {
    await service.appendEvent({ session: NAME, event: setting({ n }) });
  }
  await assert.rejects(service.fork(NAME, { sessionId: 'fork', signal: controller.signal }));
  assert.equal(await service.getSession({ ...KEY, sessionId: 'fork' }), undefined);
});
