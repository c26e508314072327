// The answers to repeated requests: after others have written, after deletions, and whether their values are certain.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, append, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { APP, KEY, USER, hasCode, setting } from '../../support/fixtures.mjs';
import { NAME, contentOf, onceOf, prepared, requests, storages } from './serving-requests.mjs';

/** A service over a new store of a place, and one that is started when it is needed. */
async function begin(storeOf) {
  const service = await prepared(storeOf());
  const restarted = async () => await new SessionService({ store: storeOf() }).serving({});
  return { service, access: await service.serving({}), restarted };
}

const withoutLog = () => {
  const store = memoryStore({ log: false });
  return () => store;
};

for (const [place, storage] of Object.entries(storages)) {
  describe(`over ${place}`, () => {
    test('a creation is answered as it was, and does not come back when its session is deleted', async () => {
      const { service, access, restarted } = await begin(storage());
      const once = onceOf('r');
      const create = (by) => by.create({ ...USER, state: { a: 1 } }, once);
      const session = await create(access);
      await service.appendEvent({ session, event: setting({ a: 2 }) });
      const again = await create(await restarted());
      assert.deepEqual([again.id, again.revision, again.state.a], [session.id, 0, 1]);
      await service.deleteSession(session);
      const late = await create(await restarted());
      assert.deepEqual([late.id, late.revision, late.state.a], [session.id, 0, 1]);
      assert.equal(await service.getSession(session), undefined);
      const { appName, userId, id: sessionId } = session;
      await service.createSession({ appName, userId, sessionId, state: { a: 'other' } });
      assert.equal((await create(await restarted())).state.a, 1);
      assert.equal((await service.getSession(session)).state.a, 'other');
    });

    test('a write to a session is answered with the values right after it, whatever came since', async () => {
      const { service, access, restarted } = await begin(storage());
      const once = onceOf('r');
      const write = (by) => by.write(KEY, { delta: { n: increment(1), 'user:c': append('x') } }, once);
      await service.updateState(KEY, () => ({ 'user:c': [] }));
      const first = plain(await write(access));
      assert.deepEqual([first.n, first['user:c']], [3, ['x']]);
      await service.updateState(KEY, () => ({ n: 100, 'user:c': ['y'], more: 1 }));
      assert.deepEqual(plain(await write(await restarted())), first);
      assert.deepEqual(once.repeated, [true]);
    });

    test('a write to a user is answered with what it wrote, and says that the rest is not certain', async () => {
      const { service, access, restarted } = await begin(storage());
      const once = onceOf('r');
      const write = (by) => by.write(USER, { delta: { 'user:c': increment(5), 'app:x': 1 } }, once);
      const first = plain(await write(access));
      assert.deepEqual(plain(await write(await restarted())), first);
      await service.updateState(USER, () => ({ 'user:c': 100, 'app:x': 2 }));
      const again = await write(await restarted());
      assert.deepEqual([again['user:c'], again['app:x']], [5, 1]);
      assert.deepEqual(once.repeated, [true, false]);
    });

    test('a write to a session that was deleted since finds none, and writes nothing', async () => {
      const { service, access } = await begin(storage());
      const once = onceOf('r');
      const write = { delta: { 'user:c': increment(1) } };
      await access.write(KEY, write, once);
      await service.deleteSession(KEY);
      await assert.rejects(access.write(KEY, write, once), hasCode('SESSION_NOT_FOUND'));
      assert.equal((await service.getUserState(USER)).c, 1);
    });

    test('a rewind is answered with its marker, also after further events and rewinds', async () => {
      const { service, access, restarted } = await begin(storage());
      await service.appendEvent({ session: NAME, event: setting({ 'app:s': 1, n: 3 }, { invocationId: 'i3' }) });
      const once = onceOf('r');
      const first = await access.rewind(NAME, { before: 'i3' }, once);
      assert.deepEqual([first.revision, first.shared], [4, ['app:s']]);
      await service.appendEvent({ session: NAME, event: setting({ n: 4 }, { invocationId: 'i4' }) });
      await service.rewind(NAME, { before: 'i1' });
      const again = await (await restarted()).rewind(NAME, { before: 'i3' }, once);
      assert.deepEqual(plain(again), plain(first));
      assert.deepEqual(once.repeated, [true]);
      await service.deleteSession(KEY);
      await assert.rejects(access.rewind(NAME, { before: 'i3' }, once), hasCode('SESSION_NOT_FOUND'));
    });

    test('a fork branches off where its first attempt wanted to, although the source has moved on', async () => {
      const { service, access, restarted } = await begin(storage());
      const once = onceOf('r');
      const fork = await access.fork(NAME, {}, once);
      assert.equal(fork.events.at(-1).customMetadata.statepad.forkedFrom.revision, 2);
      await service.appendEvent({ session: NAME, event: setting({ n: 3 }) });
      await service.appendEvent({ session: fork, event: setting({ n: 'fork' }) });
      const again = await (await restarted()).fork(NAME, {}, once);
      assert.deepEqual([again.id, again.revision, again.state.n], [fork.id, 4, 'fork']);
      assert.deepEqual(once.repeated, [false]);
      await service.deleteSession(KEY);
      assert.equal((await (await restarted()).fork(NAME, {}, once)).id, fork.id);
      assert.equal((await service.listSessions(APP)).totalItems, 1);
    });

    test('a fork that was deleted does not come back', async () => {
      for (const options of [{}, { at: 1, sessionId: 'fork' }]) {
        const { service, access, restarted } = await begin(storage());
        const once = onceOf('r');
        const fork = await access.fork(NAME, options, once);
        await service.appendEvent({ session: NAME, event: setting({ n: 3 }) });
        await service.deleteSession(fork);
        const after = await contentOf(service);
        await assert.rejects((await restarted()).fork(NAME, options, once), hasCode('SESSION_NOT_FOUND'));
        assert.deepEqual(await contentOf(service), after);
      }
    });

    test('a fork that was left unfinished is completed by the next attempt, at its revision', async () => {
      const storeOf = storage();
      const { service, restarted } = await begin(storeOf);
      const once = onceOf('r');
      const store = { ...storeOf(), commitMany: undefined };
      const { commit } = store;
      let commits = 0;
      store.commit = async (change, context) => {
        commits += 1;
        if (commits > 3) throw new Error('the process ended');
        return await commit(change, context);
      };
      const dying = await new SessionService({ store, retry: { attempts: 1 } }).serving({});
      await assert.rejects(dying.fork(NAME, {}, once), hasCode('COMMIT_UNKNOWN'));
      assert.equal((await service.listSessions(APP)).totalItems, 1);
      await service.appendEvent({ session: NAME, event: setting({ n: 3 }) });
      const fork = await (await restarted()).fork(NAME, {}, once);
      assert.deepEqual([fork.revision, fork.state.n], [3, 2]);
      assert.deepEqual(once.repeated, []);
      assert.equal((await (await restarted()).fork(NAME, {}, once)).id, fork.id);
      assert.equal((await service.listSessions(APP)).totalItems, 2);
    });

    test('of one key are one creation and one fork, whichever names its session', async () => {
      const { access, service } = await begin(storage());
      const named = (sessionId) => (by, once) => by.create({ ...USER, sessionId }, once);
      const forked = (options) => (by, once) => by.fork(NAME, options, once);
      const pairs = [
        [named(undefined), named('a')],
        [named('a'), named('b')],
        [named('c'), named(undefined)],
        [forked({}), forked({ sessionId: 'd' })],
        [forked({ sessionId: 'd' }), forked({ sessionId: 'e' })],
        [forked({ at: 1 }), forked({ at: 2 })],
      ];
      for (const [index, [first, second]] of pairs.entries()) {
        await first(access, onceOf(`r${index}`, 'one'));
        await assert.rejects(second(access, onceOf(`r${index}`, 'two')), hasCode('KEY_REUSED'));
      }
      assert.equal((await service.listSessions(APP)).totalItems, 1 + pairs.length);
    });

    test('requests under different keys are different ones', async () => {
      for (const [kind, { prepare, run, code }] of Object.entries(requests)) {
        const { access, service } = await begin(storage());
        await prepare?.(service);
        await run(access, onceOf('r'));
        const after = await contentOf(service);
        const second = await run(access, onceOf('s', 'digest of r')).then(
          () => undefined,
          (error) => error.code,
        );
        const isTaken = ['SESSION_EXISTS', 'INVALID_ARGUMENT'].includes(code);
        assert.equal(second, isTaken ? code : undefined, kind);
        assert.equal(JSON.stringify(await contentOf(service)) === JSON.stringify(after), isTaken, kind);
      }
    });
  });
}

describe('the values of a repeated answer', () => {
  const nothing = () => undefined;
  const others = (service) => service.updateState(USER, () => ({ 'app:others': 1, 'user:others': 1 }));
  /** Their certainty: with a log and without one, when nothing came since, and when others have written. */
  const certain = {
    'a creation': { log: [true, false], none: [false, false] },
    'a creation under an id': { log: [true, false], none: [false, false] },
    'a write to a session': { log: [true, true], none: [false, false] },
    'a write to a user': { log: [true, false], none: [true, false] },
    'a write to an app': { log: [true, false], none: [true, false] },
    'a rewind': { log: [true, true], none: [true, true] },
    'a redo': { log: [true, true], none: [true, true] },
    'a fork': { log: [true, false], none: [false, false] },
    'a fork under an id': { log: [true, false], none: [false, false] },
  };

  test('are said to be certain or not for every kind of request', () => {
    assert.deepEqual(Object.keys(certain), Object.keys(requests));
  });

  for (const [kind, { prepare, run, seen }] of Object.entries(requests)) {
    for (const [log, storage] of [
      ['log', storages['memory store']],
      ['none', withoutLog],
    ]) {
      for (const [index, meanwhile] of [nothing, others].entries()) {
        const isCertain = certain[kind][log][index];
        const when = `${log === 'log' ? 'with' : 'without'} a log, when ${index === 0 ? 'nothing came' : 'others wrote'}`;
        test(`of ${kind} are ${isCertain ? 'certain' : 'not certain'} ${when} since`, async () => {
          const { access, service, restarted } = await begin(storage());
          await prepare?.(service);
          const once = onceOf('r');
          const first = seen(await run(access, once));
          await meanwhile(service);
          const again = seen(await run(await restarted(), once));
          assert.deepEqual(once.repeated, [isCertain]);
          if (isCertain) assert.deepEqual(again, first);
        });
      }
    }
  }

  test('of a creation in an app and a user that nothing was written to are certain without a log', async () => {
    const store = memoryStore({ log: false });
    const once = onceOf('r');
    for (const request of [1, 2]) {
      const access = await new SessionService({ store }).serving({});
      assert.deepEqual(plain((await access.create({ ...KEY, state: { a: request && 1 } }, once)).state), { a: 1 });
    }
    assert.deepEqual(once.repeated, [true]);
  });
});
