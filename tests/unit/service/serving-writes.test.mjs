// Writes under conditions that their caller names.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService, append, compareAndSet, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { APP, KEY, USER, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { NAME, contentOf, onceOf, prepared, storages } from './serving-requests.mjs';

const TARGETS = { session: [KEY, 'n'], user: [USER, 'user:c'], app: [APP, 'app:c'] };
const places = { memory: () => () => undefined, ...storages };
/** A store that leaves operators to the service. */
const unresolving = (store = memoryStore()) => ({ ...store, resolves: [] });

async function begin(store) {
  const service = await prepared(store);
  return { service, access: await service.serving({}) };
}

for (const [place, storage] of Object.entries(places)) {
  describe(`over ${place}`, () => {
    for (const [scope, [target, key]] of Object.entries(TARGETS)) {
      test(`the values of ${scope === 'app' ? 'an' : 'a'} ${scope} are written only where they are the expected ones`, async () => {
        const { service, access } = await begin(storage()());
        const other = `${key}2`;
        const value = { a: [1, { b: null }] };
        const first = await access.write(target, { delta: { [key]: value }, expected: { unset: [other] } });
        assert.deepEqual(plain(first[key]), value);
        const held = { set: { [key]: value }, unset: [other] };
        await access.write(target, { delta: { [other]: 1 }, expected: held });
        const after = await contentOf(service);
        for (const expected of [
          held,
          { set: { [key]: 1 } },
          { set: { [other]: 1, [key]: { ...value, more: 1 } } },
          { set: { [`${key}3`]: null } },
          { unset: [`${key}3`, other] },
        ]) {
          await assert.rejects(access.write(target, { delta: { [key]: 0 }, expected }), hasCode('STATE_CONFLICT'));
        }
        assert.deepEqual(await contentOf(service), after);
        const last = await access.write(target, { delta: { [key]: DELETED }, expected: { set: { [other]: 1 } } });
        assert.equal(Object.hasOwn(last, key), false);
      });

      test(`operators on ${scope === 'app' ? 'an' : 'a'} ${scope} are written together with values`, async () => {
        const { access } = await begin(storage()());
        const prefix = key.slice(0, -1);
        const delta = { [`${prefix}count`]: increment(2), [`${prefix}list`]: append('x'), [`${prefix}plain`]: 1 };
        await access.write(target, { delta });
        const written = await access.write(target, { delta });
        assert.equal(written[`${prefix}count`], 4);
        assert.deepEqual(plain(written[`${prefix}list`]), ['x', 'x']);
        const misfit = { delta: { [`${prefix}list`]: increment(1) } };
        await assert.rejects(access.write(target, misfit), { code: 'INVALID_ARGUMENT', key: `${prefix}list` });
        const swap = { delta: { [`${prefix}count`]: compareAndSet(3, 5) } };
        await assert.rejects(access.write(target, swap), { code: 'STATE_CONFLICT', key: `${prefix}count` });
      });
    }

    test('the event of a write has the author and the invocation that it names, and the digest of its request', async () => {
      const { service, access } = await begin(storage()());
      const write = { delta: { n: 7, 'user:c': DELETED }, author: 'editor', invocationId: 'i9' };
      await access.write(KEY, write, onceOf('r'));
      await access.write(KEY, { delta: { n: 8 } });
      const { events } = await service.getSession(KEY);
      const [first, second] = events.slice(-2);
      assert.deepEqual([first.id, first.author, first.invocationId], ['r', 'editor', 'i9']);
      assert.deepEqual(first.customMetadata, { statepad: { request: 'digest of r', deleted: ['user:c'] } });
      assert.deepEqual([second.author, second.customMetadata], ['system', undefined]);
    });

    test('nothing to write is no event, but has its conditions', async () => {
      const { service, access } = await begin(storage()());
      const before = await contentOf(service);
      assert.equal((await access.write(KEY, { delta: {} })).n, 2);
      assert.equal((await access.write(KEY, { delta: {}, expected: { set: { n: 2 } } }, onceOf('r'))).n, 2);
      await assert.rejects(access.write(KEY, { delta: {}, expected: { unset: ['n'] } }), hasCode('STATE_CONFLICT'));
      assert.deepEqual(await contentOf(service), before);
    });

    test('a wrong write is refused by name before anything is sent, and is no refusal of its key', async () => {
      const { service, access } = await begin(storage()());
      const before = await contentOf(service);
      const once = onceOf('r');
      const wrong = [
        [USER, { delta: { n: 1 } }, /delta cannot have the key "n": the target has no session/],
        [APP, { delta: { 'user:n': 1 } }, /delta cannot have the key "user:n": the target has no user/],
        [KEY, { delta: { 'temp:n': 1 } }, /"temp:n", which lives for one invocation/],
        [APP, { delta: {}, expected: { set: { n: 1 } } }, /expected.set cannot have the key "n"/],
        [APP, { delta: {}, expected: { unset: ['user:n'] } }, /expected.unset cannot have the key "user:n"/],
        [KEY, { delta: {}, expected: { set: { n: increment(1) } } }, /expected.set must have values/],
        [KEY, { delta: {}, expected: { set: { n: DELETED } } }, /expected.set must have values/],
        [KEY, { delta: {}, expected: { unset: 'n' } }, /expected.unset must be a list of keys/],
        [KEY, { delta: {}, expected: { unset: [1] } }, /expected.unset must be a string/],
        [KEY, { delta: {}, expected: 1 }, /expected must be an object/],
        [KEY, { delta: 1 }, /delta must be a plain object/],
        [KEY, undefined, /write is missing/],
        [{ appName: 'a', sessionId: 's' }, { delta: {} }, /userId is missing/],
        [KEY, { delta: {}, author: 1 }, /author must be a string/],
      ];
      for (const [target, write, message] of wrong) {
        await assert.rejects(access.write(target, write, once), { code: 'INVALID_ARGUMENT', message });
      }
      await assert.rejects(access.write(KEY, { delta: { n: Infinity } }, once), hasCode('VALUE_NOT_JSON'));
      assert.deepEqual(await contentOf(service), before);
      await access.write(KEY, { delta: { n: 1 } }, once);
    });

    test('a session that is missing is not found, and not written to when it comes', async () => {
      const { service, access } = await begin(storage()());
      const missing = { ...USER, sessionId: 'none' };
      const once = onceOf('r');
      await assert.rejects(access.write(missing, { delta: { n: 1 } }, once), hasCode('SESSION_NOT_FOUND'));
      await service.createSession(missing);
      await assert.rejects(access.write(missing, { delta: { n: 1 } }, once), hasCode('STATE_CONFLICT'));
      assert.equal((await service.getSession(missing)).revision, 0);
    });

    test('counters by operators are exact, however many write them at once', async () => {
      const storeOf = storage();
      const { service } = await begin(storeOf());
      const accesses = await Promise.all(
        [1, 2].map(async () =>
          place === 'memory' ? await service.serving({}) : await new SessionService({ store: storeOf() }).serving({}),
        ),
      );
      const write = (access, target, key, id) => access.write(target, { delta: { [key]: increment(1) } }, onceOf(id));
      await Promise.all(
        Object.entries(TARGETS).flatMap(([scope, [target, key]]) =>
          Array.from({ length: 20 }, async (_, index) => {
            await service.updateState(target, () => ({}));
            await write(accesses[index % 2], target, key, `${scope}${index >> 1}`);
          }),
        ),
      );
      const { state } = await service.getSession(KEY);
      assert.deepEqual([state.n - 2, state['user:c'], state['app:c']], [10, 10, 10]);
    });
  });
}

describe('a store that leaves operators to the service', () => {
  for (const [scope, [target, key]] of Object.entries(TARGETS)) {
    const write = { delta: { [key]: increment(1) } };
    const valueIn = async (service) => (await service.getSession(KEY)).state[key];

    test(`counts exactly in ${scope === 'app' ? 'an' : 'a'} ${scope}, each request once`, async () => {
      const store = unresolving();
      const { service } = await begin(store);
      const before = await valueIn(service);
      await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const access = await new SessionService({ store: unresolving(store) }).serving({});
          await access.write(target, write, onceOf(`r${index}`));
          await access.write(target, write, onceOf(`r${index}`));
        }),
      );
      assert.equal(await valueIn(service), before + 8);
    });

    test(`answers a repeated request of ${scope === 'app' ? 'an' : 'a'} ${scope} with its own result where that is certain`, async () => {
      const store = { ...unresolving(memoryStore({ log: false })) };
      const { service, access } = await begin(store);
      const once = onceOf('r');
      const mixed = { delta: { ...write.delta, [`${key}x`]: 1, [`${key}y`]: DELETED } };
      await service.updateState(target, () => ({ [`${key}y`]: 1 }));
      const first = plain(await access.write(target, mixed, once));
      const again = async () => {
        const restarted = await new SessionService({ store }).serving({});
        return plain(await restarted.write(target, mixed, once));
      };
      assert.deepEqual(await again(), first);
      await service.updateState(target, () => ({ [key]: 100, [`${key}x`]: 2, [`${key}y`]: 2 }));
      const later = await again();
      assert.deepEqual([later[`${key}x`], later[`${key}y`]], [1, undefined]);
      assert.equal(later[key], scope === 'session' ? first[key] : 100, 'the event of a session has its result');
      assert.deepEqual(once.repeated, [scope === 'app', false], 'nothing tells that the app has not moved');
    });

    test(`remembers a refused request of ${scope === 'app' ? 'an' : 'a'} ${scope}`, async () => {
      const { service, access } = await begin(unresolving());
      const before = await valueIn(service);
      const conditional = { ...write, expected: { unset: [key] } };
      await assert.rejects(access.write(target, conditional, onceOf('r')), { code: 'STATE_CONFLICT', key });
      await service.updateState(target, () => ({ [key]: DELETED }));
      await assert.rejects(access.write(target, conditional, onceOf('r')), hasCode('STATE_CONFLICT'));
      await assert.rejects(access.write(target, conditional, onceOf('r', 'other')), hasCode('KEY_REUSED'));
      assert.equal(await valueIn(service), undefined);
      await service.updateState(target, () => ({ [key]: before }));
      const misfit = { delta: { [key]: append(1) } };
      await assert.rejects(access.write(target, misfit, onceOf('s')), { code: 'INVALID_ARGUMENT', key });
      await service.updateState(target, () => ({ [key]: [] }));
      await assert.rejects(access.write(target, misfit, onceOf('s')), hasCode('STATE_CONFLICT'));
      assert.deepEqual(plain(await valueIn(service)), []);
    });
  }
});

describe('a store that remembers less', () => {
  /** The words of a store without these features about itself, and its behaviour. */
  function lacking(...features) {
    const store = memoryStore();
    const strip = ({ digest, attempt, ...change }) => ({
      ...change,
      ...(!features.includes('digests') && { digest }),
      ...(!features.includes('calls') && { attempt }),
    });
    const commit = async (change, context) => {
      if (features.includes('calls')) assert.equal(change.attempt, undefined);
      const committed = await store.commit(strip(change), context);
      return committed;
    };
    return { ...store, commitMany: undefined, commit, keeps: store.keeps.filter((one) => !features.includes(one)) };
  }

  test('carries out each request once by its id, but cannot tell another request under it', async () => {
    for (const features of [['digests'], ['digests', 'calls']]) {
      const store = lacking(...features);
      const { service, access } = await begin(store);
      const restarted = await new SessionService({ store }).serving({});
      for (const by of [access, restarted]) {
        await by.create(USER, onceOf('create'));
        await by.write(KEY, { delta: { n: increment(1) } }, onceOf('session'));
        await by.write(USER, { delta: { 'user:c': increment(1) } }, onceOf('user'));
        await by.rewind(NAME, { before: 'i2' }, onceOf('rewind'));
        await by.redo(NAME, {}, onceOf('redo'));
        await by.fork(NAME, {}, onceOf('fork'));
      }
      const { state, revision } = await service.getSession(KEY);
      assert.deepEqual([state.n, state['user:c'], revision], [3, 1, 5]);
      assert.equal((await service.listSessions(APP)).totalItems, 3);
      await access.write(USER, { delta: { 'user:c': increment(1) } }, onceOf('user', 'another'));
      assert.equal((await service.getUserState(USER)).c, 1);
      await assert.rejects(
        access.write(KEY, { delta: { n: increment(1) } }, onceOf('session', 'another')),
        hasCode('KEY_REUSED'),
        'events have their digests',
      );
    }
  });

  test('that names creations itself has a creation without an id once, by the id of its session', async () => {
    const inner = memoryStore();
    let made = 0;
    const commit = async (change, context) =>
      await inner.commit(change.kind === 'create' ? { ...change, id: `own-${(made += 1)}` } : change, context);
    const store = { ...inner, commitMany: undefined, commit, keeps: ['marks'], lacks: ['created'] };
    const service = new SessionService({ store });
    const access = await service.serving({});
    const once = onceOf('r');
    const { id } = await access.create({ ...USER, state: { a: 1 } }, once);
    assert.equal((await access.create({ ...USER, state: { a: 1 } }, once)).id, id);
    assert.deepEqual(once.repeated, [false]);
    await access.create(KEY, onceOf('named'));
    await assert.rejects(access.create(KEY, onceOf('named')), hasCode('SESSION_EXISTS'));
    assert.equal((await service.listSessions(APP)).totalItems, 2);
  });

  test('remembers no refusal without calls', async () => {
    const { access, service } = await begin(lacking('digests', 'calls'));
    const write = { delta: { n: 9 }, expected: { set: { n: 5 } } };
    await assert.rejects(access.write(KEY, write, onceOf('r')), hasCode('STATE_CONFLICT'));
    await service.updateState(KEY, () => ({ n: 5 }));
    assert.equal((await access.write(KEY, write, onceOf('r'))).n, 9);
  });

  test('that compares nothing refuses conditions by name', async () => {
    const store = { ...memoryStore(), guards: 'none', keeps: [] };
    const service = new SessionService({ store });
    await service.createSession(KEY);
    const access = await service.serving({});
    await access.write(KEY, { delta: { n: 1 } }, onceOf('r'));
    await access.write(KEY, { delta: { n: 1 } }, onceOf('r'));
    assert.equal((await service.getSession(KEY)).revision, 1);
    const write = access.write(KEY, { delta: { n: 1 }, expected: { set: { n: 1 } } });
    await assert.rejects(write, { code: 'INVALID_ARGUMENT', message: /compares neither values nor revisions/ });
  });
});

describe('a write over a store that fails', () => {
  test('is made once when the answers to all of its attempts are lost but the last', async () => {
    const inner = memoryStore();
    const attempts = [];
    let lost = 2;
    const commit = async (change, context) => {
      if (change.id !== 'r') return await inner.commit(change, context);
      attempts.push(change.attempt);
      const committed = await inner.commit(change, context);
      if (lost-- > 0) throw connectionLost();
      return committed;
    };
    const store = { ...inner, commitMany: undefined, commit };
    const service = new SessionService({ store, retry: { attempts: 3, pause: 1 } });
    await service.createSession({ ...KEY, state: { n: 0 } });
    await service.appendEvent({ session: NAME, event: setting({ n: 1 }) });
    const access = await service.serving({});
    assert.equal((await access.write(KEY, { delta: { n: increment(1) } }, onceOf('r'))).n, 2);
    assert.deepEqual(attempts, [2, 3, 4]);
    assert.equal((await service.getSession(KEY)).state.n, 2);
  });
});
