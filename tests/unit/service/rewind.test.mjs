// Rewinding: the session's own keys go back, nothing is taken out of the log, and it can be taken back.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode, runs } from '../../support/fixtures.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
const isOwn = (key) => !/^(?:app|user):/u.test(key);
const own = (state) => Object.fromEntries(Object.entries(state).filter(([key]) => isOwn(key)));
const said = (invocationId, stateDelta = {}, more = {}) => ({
  author: 'agent',
  invocationId,
  ...more,
  actions: { stateDelta },
});

/** A service, and another one that shares its sessions where that is possible. */
const places = {
  memory: () => {
    const service = new SessionService();
    return [service, service];
  },
  'memory store': () => {
    const store = memoryStore();
    return [new SessionService({ store }), new SessionService({ store })];
  },
  'memory store, little room': () => {
    const store = memoryStore();
    return [new SessionService({ store, cachedEvents: 0 }), new SessionService({ store, cachedEvents: 2 })];
  },
};

/** The places of the events that ADK's readers show: they walk backwards, and jump at a marker. */
function shownByAdk(events) {
  const shown = [];
  for (let place = events.length - 1; place >= 0; place--) {
    const before = events[place].actions.rewindBeforeInvocationId;
    if (before === undefined) {
      shown.unshift(place);
      continue;
    }
    const first = events.findIndex(({ invocationId }, at) => at < place && invocationId === before);
    place = first < 0 ? place : first;
  }
  return shown;
}

/** The state that changes come to, in a record without order. */
function replay(state, events) {
  const values = new Map(Object.entries(state));
  for (const { actions, customMetadata } of events) {
    const deleted = customMetadata?.statepad?.deleted ?? [];
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      if (deleted.includes(key)) {
        values.delete(key);
      } else {
        values.set(key, value);
      }
    }
  }
  return plain(Object.fromEntries(values));
}

for (const [place, open] of Object.entries(places)) {
  describe(place, () => {
    test('a rewind restores the own keys, keeps the others, and says which of them the undone turns had written', async () => {
      const [service] = open();
      const session = await service.createSession({ ...KEY, state: { k: 1, tenant: 't', 'app:a': 1, 'user:u': 1 } });
      await service.appendEvent({ session, event: said('i1', { k: 2, 'app:a': 2 }) });
      await service.appendEvent({ session, event: said('i2', { k: 3, n: 1, 'user:u': 2 }) });
      await service.appendEvent({ session, event: said('i2', { tenant: DELETED, 'user:v': 1, 'app:a': DELETED }) });

      const { event, revision, shared } = await service.rewind(session, { before: 'i2' });
      assert.equal(revision, 4);
      assert.equal(session.revision, 4, 'the handle was brought up to date');
      assert.equal(session.events.at(-1), event);
      assert.equal(event.author, 'system');
      assert.equal(event.actions.rewindBeforeInvocationId, 'i2');
      assert.ok(event.invocationId !== '' && event.invocationId !== 'i2');
      assert.deepEqual(plain(event.actions.stateDelta), { k: 2, tenant: 't', n: null });
      assert.deepEqual(event.customMetadata, { statepad: { deleted: ['n'] } });
      assert.deepEqual(plain(session.state), { k: 2, tenant: 't', 'user:u': 2, 'user:v': 1 });
      assert.deepEqual([...shared].sort(), ['app:a', 'user:u', 'user:v']);
      assert.equal(session.events.length, 4, 'nothing is taken out of the log');

      const again = await service.rewind(session, { before: 'i1' });
      assert.deepEqual(own(session.state), { k: 1, tenant: 't' });
      assert.deepEqual(again.shared, ['app:a']);
      for (const [revision, state] of [
        [0, { k: 1, tenant: 't' }],
        [3, { k: 3, n: 1 }],
        [4, { k: 2, tenant: 't' }],
        [5, { k: 1, tenant: 't' }],
      ]) {
        assert.deepEqual(own(plain(await service.stateAt(session, revision))), state);
      }
    });

    test('what operators came to is undone and redone as any value', async () => {
      const [service] = open();
      const session = await service.createSession({ ...KEY, state: { n: 1 } });
      await service.appendEvent({ session, event: said('i1', { n: increment(2), 'app:c': increment(1) }) });
      await service.appendEvent({
        session,
        event: said('i2', { n: increment(4), m: increment(1), 'app:c': increment(1) }),
      });
      assert.deepEqual((await service.rewind(session, { before: 'i2' })).shared, ['app:c']);
      assert.deepEqual(plain(session.state), { n: 3, 'app:c': 2 });
      await service.redo(session);
      assert.deepEqual(plain(session.state), { n: 7, m: 1, 'app:c': 2 });
    });

    test('what was rewound is redone step by step, until the next write', async () => {
      const [service] = open();
      await service.createSession({ ...KEY, state: { n: 0 } });
      for (const n of [1, 2, 3]) {
        await service.appendEvent({ session: NAME, event: said(`i${n}`, { n, [`user:${n}`]: n }) });
      }
      const now = async () => (await service.getSession(KEY)).state.n;
      await assert.rejects(service.redo(NAME), hasCode('INVALID_ARGUMENT'));
      await service.rewind(NAME, { before: 'i3' });
      await service.rewind(NAME, { before: 'i1' });
      assert.equal(await now(), 0);
      const redone = await service.redo(NAME);
      assert.equal(await now(), 2);
      assert.deepEqual(redone.shared, ['user:1', 'user:2']);
      assert.deepEqual((await service.redo(NAME)).shared, ['user:3']);
      assert.equal(await now(), 3);
      await assert.rejects(service.redo(NAME), /nothing to redo/u);

      await service.rewind(NAME, { before: 'i2' });
      await service.appendEvent({ session: NAME, event: said('i4', { n: 4 }) });
      await assert.rejects(service.redo(NAME), hasCode('INVALID_ARGUMENT'));
      await assert.rejects(
        service.rewind(NAME, { before: 'i2' }),
        (error) =>
          hasCode('INVALID_ARGUMENT')(error) && error.path === 'before' && /undone already/u.test(error.message),
      );
      await service.rewind(NAME, { before: 'i4' });
      assert.equal(await now(), 1);
    });

    test('what there is not is told of by its name', async () => {
      const [service] = open();
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: said('i1', { n: 1 }) });
      for (const [call, message] of [
        [
          () => service.rewind(session, { before: 'i9' }),
          'before the invocation "i9": the session has no event of it',
        ],
        [() => service.rewind(session, { before: '' }), 'the session has no event of it'],
        [() => service.rewind(session, {}), 'before is missing'],
        [() => service.rewind(session), 'options is missing'],
        [() => service.rewind(session, { to: 'i1' }), 'to is not known in the options'],
        [() => service.redo(session, { before: 'i1' }), 'before is not known in the options'],
      ]) {
        await assert.rejects(call, (error) => hasCode('INVALID_ARGUMENT')(error) && error.message.includes(message));
      }
      assert.equal(session.revision, 1);
      await assert.rejects(service.rewind({ ...NAME, id: 'x' }, { before: 'i1' }), hasCode('SESSION_NOT_FOUND'));
    });

    test('a session that was deleted, or created anew, is not rewound through an old handle', async () => {
      const [service, other] = open();
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: said('i1', { n: 1 }) });
      await other.deleteSession(KEY);
      await assert.rejects(service.rewind(session, { before: 'i1' }), hasCode('SESSION_NOT_FOUND'));
      await other.createSession(KEY);
      await other.appendEvent({ session: NAME, event: said('i1', { n: 2 }) });
      await assert.rejects(service.rewind(session, { before: 'i1' }), hasCode('SESSION_NOT_FOUND'));
      await assert.rejects(service.redo(session), hasCode('SESSION_NOT_FOUND'));
      assert.equal((await other.getSession(KEY)).revision, 1);
    });

    test('a rewind takes in what others have written, also through a handle that is behind', async () => {
      const [service, other] = open();
      const session = await service.createSession({ ...KEY, state: { n: 0 } });
      await service.appendEvent({ session, event: said('i1', { n: 1 }) });
      await other.appendEvent({ session: NAME, event: said('i2', { n: 2, m: 2, 'app:x': 1 }) });
      const { shared, revision } = await service.rewind(session, { before: 'i1' });
      assert.deepEqual([shared, revision], [['app:x'], 3]);
      assert.deepEqual(plain(session.state), { n: 0, 'app:x': 1 });
      assert.deepEqual(plain((await other.getSession(KEY)).state), { n: 0, 'app:x': 1 });
    });

    test('many who write and rewind at the same time lose nothing', async () => {
      const [service, other] = open();
      await service.createSession({ ...KEY, state: { n: 0 } });
      await service.appendEvent({ session: NAME, event: said('base', { base: 1 }) });
      const appends = Array.from({ length: 20 }, (_, n) =>
        [service, other][n % 2].appendEvent({ session: NAME, event: said(`i${n}`, { [`k${n}`]: n }) }),
      );
      const rewinds = Array.from({ length: 6 }, (_, n) => [service, other][n % 2].rewind(NAME, { before: 'base' }));
      await Promise.all(appends);
      const outcomes = await Promise.allSettled(rewinds);
      assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
      const refused = outcomes.filter(({ status }) => status === 'rejected');
      refused.forEach(({ reason }) => assert.match(reason.message, /all its events are undone already/u));
      const { events, state } = await service.getSession(KEY);
      assert.equal(events.length, 21 + outcomes.length - refused.length);
      const shown = shownByAdk(events).map((at) => events[at]);
      assert.deepEqual(own(plain(state)), replay({ n: 0 }, shown));
    });

    test('a law: whatever is written, rewound and redone, the state is that of what stands, and the past stays told', async () => {
      const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'app:x', 'user:y');
      const value = fc.option(fc.constantFrom(0, 1, null, 'x', [1]), { nil: DELETED, freq: 3 });
      const delta = fc.array(fc.tuple(key, value), { maxLength: 3 });
      const step = fc.oneof(
        { arbitrary: fc.record({ does: fc.constant('append'), delta, turn: fc.nat(5), who: fc.nat(3) }), weight: 4 },
        { arbitrary: fc.record({ does: fc.constant('rewind'), turn: fc.nat(5), who: fc.nat(3) }), weight: 3 },
        { arbitrary: fc.record({ does: fc.constant('redo'), who: fc.nat(3) }), weight: 2 },
      );
      await fc.assert(
        fc.asyncProperty(delta, fc.array(step, { maxLength: 14 }), async (initial, steps) => {
          const [service, other] = open();
          const state = Object.fromEntries(initial.filter(([, each]) => each !== DELETED));
          const session = await service.createSession({ ...KEY, state });
          const theirs = await other.getSession({ ...KEY, config: { numRecentEvents: 1 } });
          // Through a handle, another service's, one with a window, or none.
          const ways = [
            [service, () => session],
            [other, () => theirs],
            [other, () => NAME],
            [service, () => NAME],
          ];
          let isTop = false;
          for (const { does, who, turn, delta: pairs } of steps) {
            const [by, handle] = ways[who];
            const before = await service.getSession(KEY);
            const stood = shownByAdk(before.events);
            if (does === 'append') {
              await by.appendEvent({ session: handle(), event: said(`i${turn}`, Object.fromEntries(pairs)) });
              isTop = false;
              continue;
            }
            const call = does === 'redo' ? by.redo(handle()) : by.rewind(handle(), { before: `i${turn}` });
            const isAllowed =
              does === 'redo' ? undefined : stood.some((at) => before.events[at].invocationId === `i${turn}`);
            const done = await call.catch((error) => error);
            if (done instanceof Error) {
              assert.ok(hasCode('INVALID_ARGUMENT')(done), done);
              assert.notEqual(isAllowed, true);
              assert.ok(does !== 'redo' || !isTop, 'what was just rewound can be redone');
              continue;
            }
            assert.notEqual(isAllowed, false);
            isTop = does === 'rewind';
            const after = await service.getSession(KEY);
            assert.equal(after.revision, before.revision + 1);
            assert.deepEqual(
              Object.entries(after.state).filter(([each]) => !isOwn(each)),
              Object.entries(before.state).filter(([each]) => !isOwn(each)),
              'shared keys stay',
            );
            const stands = shownByAdk(after.events);
            const concerned = [
              ...stood.filter((at) => !stands.includes(at)),
              ...stands.filter((at) => !stood.includes(at)),
            ];
            const touched = concerned.flatMap((at) => Object.keys(after.events[at].actions.stateDelta));
            assert.deepEqual([...done.shared].sort(), [...new Set(touched.filter((each) => !isOwn(each)))].sort());
          }
          const { events, state: now } = await other.getSession(KEY);
          const shown = shownByAdk(events).map((at) => events[at]);
          assert.deepEqual(own(plain(now)), own(replay(state, shown)));
          for (let revision = 0; revision <= events.length; revision++) {
            assert.deepEqual(
              own(plain(await service.stateAt(NAME, revision))),
              own(replay(state, events.slice(0, revision))),
            );
          }
        }),
        { numRuns: runs(150) },
      );
    });

    test('ten thousand events go back and forth', async () => {
      const [service] = open();
      const session = await service.createSession({ ...KEY, state: { n: 0 } });
      for (let n = 1; n <= 10_000; n++) {
        await service.appendEvent({ session, event: said(`i${n}`, { n, [`k${n % 50}`]: n }) });
      }
      await service.rewind(session, { before: 'i5000' });
      assert.equal(session.state.n, 4999);
      await service.redo(session);
      assert.equal(session.state.n, 10_000);
      await service.rewind(session, { before: 'i1' });
      assert.deepEqual(plain(session.state), { n: 0 });
    });
  });
}

for (const place of Object.keys(places)) {
  test(`a rewind under a lease carries it: ${place}`, async () => {
    const [service, other] = places[place]();
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: said('i1', { n: 1 }) });
    const lease = await service.lease(session, { ttl: 1 });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await other.lease(await other.getSession(KEY));
    await assert.rejects(service.rewind(session, { before: 'i1' }), hasCode('LEASE_LOST'));
    await assert.rejects(service.redo(session), hasCode('INVALID_ARGUMENT'));
    assert.equal(lease.signal.aborted, true);
    assert.equal((await other.getSession(KEY)).revision, 1);
  });
}

for (const guards of ['keys', 'none']) {
  test(`a store that compares no revisions is refused by name: guards: ${guards}`, async () => {
    const service = new SessionService({ store: { ...memoryStore(), guards } });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: said('i1', { n: 1 }) });
    const isTold = (error) =>
      hasCode('INVALID_ARGUMENT')(error) &&
      /cannot be rewound: the store does not compare revisions/u.test(error.message);
    await assert.rejects(service.rewind(session, { before: 'i1' }), isTold);
    assert.equal((await service.getSession(KEY)).revision, 1);
  });
}

test('markers that another ADK has written are understood', async () => {
  const service = new SessionService();
  const session = await service.createSession({ ...KEY, state: { k: 1, tenant: 't' } });
  await service.appendEvent({ session, event: said('i1', { k: 2 }) });
  // adk-python sets what was not there to null, also what creation gave.
  const marker = { author: 'user', invocationId: 'r1' };
  const actions = { rewindBeforeInvocationId: 'i1', stateDelta: { k: null } };
  await service.appendEvent({ session, event: { ...marker, actions } });
  assert.deepEqual(plain(session.state), { k: null, tenant: 't' });
  await service.redo(session);
  assert.deepEqual(plain(session.state), { k: 2, tenant: 't' });
  await service.rewind(session, { before: 'i1' });
  assert.deepEqual(plain(session.state), { k: 1, tenant: 't' });
});
