// Forks: a session that goes on from a moment of another one.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, StoreError, append, increment } from 'statepad';
import { callbackStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode, runs, setting } from '../../support/fixtures.mjs';

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

    test('nobody sees a fork before it is whole', async () => {
      const service = new SessionService(optionsOf());
      const session = await service.createSession(KEY);
      for (let n = 0; n < 10; n++) await service.appendEvent({ session, event: setting({ n }) });
      const made = service.fork(session, { sessionId: 'fork' });
      let seen;
      while ((seen = await service.getSession({ ...KEY, sessionId: 'fork' })) === undefined) {
        const { totalItems } = await service.listSessions(KEY);
        assert.ok(totalItems === 1 || (await service.getSession({ ...KEY, sessionId: 'fork' })).revision === 11);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(seen.revision, 11);
      assert.equal((await made).revision, 11);
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

test('a fork without an id of the caller that fails midway is removed again', async () => {
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
    await assert.rejects(service.fork(NAME), hasCode('INVALID_ARGUMENT'));
    const { rows } = await inner.list({ app: KEY.appName, descending: false }, {});
    assert.deepEqual(
      rows.map(({ key }) => key.sessionId),
      ['s'],
    );
  }
  left = 5;
  assert.equal((await service.fork(NAME)).revision, 4);
});

test('a fork whose caller has given up is not there', async () => {
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

/** Stores that a service may be killed over: what is there stays, and another service finds it. */
const kept = {
  'memory store': () => {
    const store = memoryStore();
    return () => store;
  },
  'persist and restore': () => {
    const records = [];
    return () =>
      callbackStore({
        persist: async (given) => void records.push(...given.map((record) => JSON.stringify(record))),
        restore: () => records.map((text) => JSON.parse(text)),
      });
  },
};
const FORK = { ...KEY, sessionId: 'fork' };
const FORK_NAME = { ...NAME, id: 'fork' };

for (const [place, storage] of Object.entries(kept)) {
  describe(`killed midway, ${place}`, () => {
    /** A session of three events, and services over its storage; `killedAfter` so many commits. */
    async function start() {
      const open = storage();
      const on = (more = {}) => new SessionService({ store: { ...open(), ...more }, retry: { attempts: 1 } });
      const killedAfter = (count) => {
        const store = open();
        let left = count;
        const killed = async () => {
          throw new Error('the process has ended');
        };
        const alive =
          (call) =>
          async (...args) =>
            await (left < 0 ? killed() : call(...args));
        const commit = async (...args) => ((left -= 1) < 0 ? await killed() : await store.commit(...args));
        const calls = { commit, commitMany: undefined, load: alive(store.load), remove: alive(store.remove) };
        return new SessionService({ store: { ...store, ...calls }, retry: { attempts: 1 } });
      };
      const service = on();
      const session = await service.createSession({ ...KEY, state: { n: 0, m: 0, 'user:u': 1 } });
      await service.appendEvent({ session, event: setting({ n: 1, 'app:a': 1 }, { id: 'a' }) });
      await service.appendEvent({ session, event: setting({ m: DELETED, l: append('x') }, { id: 'b' }) });
      await service.appendEvent({ session, event: setting({ n: 3 }, { id: 'c' }) });
      return { service, session, on, killedAfter };
    }
    /** All that is told of a fork but what no two have in common. */
    const told = async (service, { id, sessionId = id }) => {
      const fork = await service.getSession({ ...KEY, sessionId });
      const { id: lastId, invocationId, timestamp, ...last } = fork.events.at(-1);
      assert.ok(lastId !== '' && invocationId !== '' && timestamp > 0);
      const past = [];
      for (let revision = 0; revision <= fork.revision; revision++) past.push(await service.stateAt(fork, revision));
      return JSON.stringify([fork.revision, fork.state, fork.events.slice(0, -1), last, past]);
    };

    for (let count = 0; count <= 4; count++) {
      test(`after ${count} of 5 changes nobody sees it, and it goes on when it is asked for again`, async () => {
        const { service, session, on, killedAfter } = await start();
        const whole = await service.fork(session, { sessionId: 'whole' });
        await assert.rejects(killedAfter(count).fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));

        const other = on();
        assert.equal(await other.getSession(FORK), undefined);
        const { sessions, totalItems } = await other.listSessions(KEY);
        assert.deepEqual([sessions.map(({ id }) => id).sort(), totalItems], [['s', 'whole'], 2]);
        const event = setting({ n: 'late' });
        for (const use of [
          () => other.appendEvent({ session: FORK_NAME, event }),
          () => other.updateState(FORK, () => ({ n: 'late' })),
          () => other.rewind(FORK_NAME, { before: 'i' }),
          () => other.stateAt(FORK_NAME, 0),
          () => other.history(FORK_NAME, 'n'),
          () => other.lease(FORK_NAME),
          () => other.fork(FORK_NAME),
          () => other.watch(FORK, { since: 0 }).next(),
        ]) {
          await assert.rejects(use, hasCode('SESSION_NOT_FOUND'), String(use));
        }
        if (count > 0) {
          await assert.rejects(other.createSession(FORK), hasCode('SESSION_EXISTS'));
        }

        const fork = await other.fork(NAME, { sessionId: 'fork' });
        assert.deepEqual(fork.events.map(({ id }) => id).slice(0, -1), ['a', 'b', 'c']);
        assert.equal(await told(other, fork), await told(service, whole));
        assert.equal(await told(on(), fork), await told(service, whole));
        assert.equal((await other.listSessions(KEY)).totalItems, 3);
        await assert.rejects(other.fork(NAME, { sessionId: 'fork' }), hasCode('SESSION_EXISTS'));
        await other.appendEvent({ session: fork, event: setting({ n: 4 }) });
        assert.equal((await on().getSession(FORK)).revision, 5);
      });
    }

    test('it goes on from the revision that was present when it was begun, unless another one is asked for', async () => {
      const { on, killedAfter } = await start();
      await assert.rejects(killedAfter(2).fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));
      const other = on();
      await other.appendEvent({ session: NAME, event: setting({ n: 4 }, { id: 'd' }) });
      await assert.rejects(other.fork(NAME, { sessionId: 'fork', at: 2 }), hasCode('SESSION_EXISTS'));
      await assert.rejects(other.fork(NAME, { sessionId: 'fork', at: 4 }), hasCode('SESSION_EXISTS'));
      assert.equal(await other.getSession(FORK), undefined);
      const fork = await on().fork(NAME, { sessionId: 'fork' });
      assert.deepEqual([fork.revision, fork.state.n], [4, 3]);
      assert.deepEqual(fork.events.at(-1).customMetadata.statepad.forkedFrom, { sessionId: 's', revision: 3 });
    });

    test('its id is taken for the fork of another session, and free once it is deleted', async () => {
      const { on, killedAfter } = await start();
      await assert.rejects(killedAfter(3).fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));
      const other = on();
      const elsewhere = await other.createSession({ ...KEY, sessionId: 'elsewhere', state: { n: 'other' } });
      await assert.rejects(other.fork(elsewhere, { sessionId: 'fork' }), hasCode('SESSION_EXISTS'));
      await other.deleteSession(FORK);
      assert.equal((await other.fork(elsewhere, { sessionId: 'fork' })).state.n, 'other');
    });

    test('nor does it go on from a session that was made anew', async () => {
      const { on, killedAfter } = await start();
      await assert.rejects(killedAfter(2).fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));
      const other = on();
      await other.deleteSession(KEY);
      await other.createSession(KEY);
      for (const id of ['a', 'b', 'c']) await other.appendEvent({ session: NAME, event: setting({}, { id }) });
      await assert.rejects(other.fork(NAME, { sessionId: 'fork' }), hasCode('SESSION_EXISTS'));
    });

    test('pages of a list leave it out, and nothing else', async () => {
      const { on, killedAfter } = await start();
      const ids = ['s'];
      for (let n = 0; n < 6; n++) {
        const name = `fork ${n}`;
        await assert.rejects(killedAfter(1 + (n % 4)).fork(NAME, { sessionId: name }), hasCode('COMMIT_UNKNOWN'));
        await on().createSession({ ...KEY, sessionId: `session ${n}` });
        ids.push(`session ${n}`);
      }
      for (const limit of [1, 2, 3, 5]) {
        const found = [];
        let cursor;
        do {
          const page = await on().listSessions({ ...KEY, limit, ...(cursor !== undefined && { cursor }) });
          found.push(...page.sessions.map(({ id }) => id));
          ({ cursor } = page);
        } while (cursor !== undefined);
        assert.deepEqual(found.sort(), ids.toSorted(), `limit ${limit}`);
      }
    });
  });
}

test('the first record of a fork says where it comes from', async () => {
  const store = memoryStore();
  const service = new SessionService({ store });
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: setting({ n: 1 }, { id: 'a' }) });
  await service.fork(session, { sessionId: 'fork' });
  const { created } = await store.load(KEY, {}, {});
  const { events } = await store.load(FORK, { events: { from: 0, to: 0 } }, {});
  assert.deepEqual(JSON.parse(events[0].data).forkedFrom, { sessionId: 's', created, revision: 1, last: 'a' });
});

test('two services that make the same fork at once make one, with each event once', async () => {
  const store = memoryStore();
  const services = [1, 2, 3].map(() => new SessionService({ store }));
  const session = await services[0].createSession(KEY);
  for (let n = 0; n < 20; n++) await services[0].appendEvent({ session, event: setting({ n }, { id: `e${n}` }) });
  const forks = await Promise.allSettled(services.map((service) => service.fork(NAME, { sessionId: 'fork' })));
  assert.ok(forks.some(({ status }) => status === 'fulfilled'));
  for (const { reason } of forks) assert.ok(reason === undefined || hasCode('SESSION_EXISTS')(reason));
  const { revision, events } = await services[0].getSession(FORK);
  assert.equal(revision, 21);
  assert.deepEqual(
    events.slice(0, -1).map(({ id }) => id),
    session.events.map(({ id }) => id),
  );
});

test('a fork that was made and cannot be read is COMMIT_UNKNOWN', async () => {
  const inner = memoryStore();
  let isCut = false;
  const load = async (...args) => {
    if (isCut) throw new StoreError('unavailable', 'not now');
    return await inner.load(...args);
  };
  const commit = async (change, context) => {
    const committed = await inner.commit(change, context);
    isCut = change.event.data.includes('forkedFrom') && change.kind === 'append';
    return committed;
  };
  const store = { ...inner, load, commit, commitMany: undefined };
  const service = new SessionService({ store, retry: { attempts: 1 } });
  await service.createSession(KEY);
  await assert.rejects(service.fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));
  isCut = false;
  assert.equal((await service.getSession(FORK)).revision, 1);
});

test('a fork is refused over a store that names creations itself', async () => {
  const service = new SessionService({ store: { ...memoryStore(), lacks: ['created'] } });
  await service.createSession(KEY);
  await assert.rejects(service.fork(NAME), hasCode('INVALID_ARGUMENT'));
});
