// updateState: a read-modify-write that loses nothing.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { storedWith } from '../../support/store.mjs';
import { COUNTERS, KEY, hasCode } from '../../support/fixtures.mjs';

const targets = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };
const soon = () => new Promise((done) => setTimeout(done, Math.random() * 2));

async function open(state = {}, options = {}) {
  const service = new SessionService(options);
  return { service, session: await service.createSession({ ...KEY, state }) };
}

describe('100 parallel increments of one key end at 100', () => {
  for (const stored of [false, true]) {
    for (const waits of [false, true]) {
      for (const [target, name] of COUNTERS) {
        test(`${name} through the ${target}, ${waits ? 'asynchronous' : 'synchronous'}${stored ? ', with a store' : ''}`, async () => {
          const { service } = await open({}, stored ? storedWith(soon) : {});
          const add = (state) => ({ [name]: (state[name] ?? 0) + 1 });
          const addLater = async (state) => {
            await soon();
            return add(state);
          };
          const updates = Array.from({ length: 100 }, () =>
            service.updateState(targets[target], waits ? addLater : add, { attempts: 1000 }),
          );
          await Promise.all(updates);
          assert.equal((await service.getSession(KEY)).state[name], 100);
        });
      }
    }
  }
});

test('one key is counted through sessions, users and the app at once', async () => {
  const { service } = await open();
  const keys = Array.from({ length: 5 }, (_, index) => ({ ...KEY, sessionId: `s${index}` }));
  await Promise.all(keys.map((each) => service.createSession(each)));
  const add = async (state) => {
    await soon();
    return { 'app:n': (state['app:n'] ?? 0) + 1 };
  };
  const all = [...keys, ...keys, targets.user, targets.user, targets.app, targets.app].flatMap((target) => [
    target,
    target,
  ]);
  await Promise.all(all.map((target) => service.updateState(target, add, { attempts: 1000 })));
  assert.deepEqual(plain(await service.getAppState(KEY)), { n: all.length });
});

test('the function sees the keys of its target, frozen', async () => {
  const { service } = await open({ x: 1, 'user:x': { a: [1] }, 'app:x': 3 });
  const seen = {};
  for (const [name, target] of Object.entries(targets)) {
    await service.updateState(target, (state) => {
      seen[name] = plain(state);
      assert.throws(() => (state.y = 1), TypeError);
      assert.ok(name === 'app' || Object.isFrozen(state['user:x'].a));
    });
  }
  const shared = { 'app:x': 3, 'user:x': { a: [1] } };
  assert.deepEqual(seen, { session: { x: 1, ...shared }, user: shared, app: { 'app:x': 3 } });
});

test('the answer is the state after the update', async () => {
  const { service } = await open({ x: 1 });
  assert.deepEqual(plain(await service.updateState(KEY, () => ({ y: 2, x: DELETED, 'user:z': 3 }))), {
    y: 2,
    'user:z': 3,
  });
  assert.deepEqual(plain(await service.updateState(targets.user, () => ({ 'user:z': DELETED, 'app:w': null }))), {
    'app:w': null,
  });
  assert.deepEqual(plain(await service.updateState(targets.app, () => undefined)), { 'app:w': null });
  assert.deepEqual(plain((await service.getSession(KEY)).state), { y: 2, 'app:w': null });
});

test("a session's update becomes an event of it, and nothing to write none", async () => {
  const { service, session } = await open();
  await service.updateState(KEY, () => ({}));
  await service.updateState(KEY, () => undefined);
  await service.updateState(KEY, async () => {});
  assert.equal((await service.getSession(KEY)).revision, 0);
  await service.updateState(KEY, () => ({ x: 1 }), { author: 'job', invocationId: 'i' });
  const { events, revision } = await service.getSession(KEY);
  assert.deepEqual(
    [revision, events[0].author, events[0].invocationId, plain(events[0].actions.stateDelta)],
    [1, 'job', 'i', { x: 1 }],
  );
  assert.equal(session.revision, 0);
});

test('keys that do not belong to the target are refused, and nothing is written', async () => {
  const { service } = await open();
  for (const [target, delta] of [
    [targets.app, { 'app:x': 1, 'user:x': 1 }],
    [targets.app, { x: 1 }],
    [targets.user, { 'user:x': 1, x: 1 }],
    [targets.user, { 'temp:x': 1 }],
    [KEY, { x: 1, 'temp:x': 1 }],
    [{ appName: 'app', sessionId: 's' }, { x: 1 }],
  ]) {
    await assert.rejects(
      service.updateState(target, () => delta),
      hasCode('INVALID_ARGUMENT'),
    );
  }
  const { state, revision } = await service.getSession(KEY);
  assert.deepEqual([plain(state), revision], [{}, 0]);
});

test('what is no JSON is refused, with its place', async () => {
  const { service } = await open();
  for (const target of Object.values(targets)) {
    await assert.rejects(
      service.updateState(target, () => ({ 'app:x': { y: 1n } })),
      (error) => hasCode('VALUE_NOT_JSON')(error) && error.path.endsWith('["app:x"].y'),
    );
  }
});

test('what the function throws comes through, and nothing is written', async () => {
  const { service } = await open();
  await assert.rejects(
    service.updateState(KEY, () => {
      throw new RangeError('no');
    }),
    RangeError,
  );
  await assert.rejects(
    service.updateState(targets.app, async () => {
      throw new RangeError('no');
    }),
    RangeError,
  );
  assert.equal((await service.getSession(KEY)).revision, 0);
});

test('a function that is always overtaken ends in STATE_CONFLICT after its attempts', async () => {
  for (const target of Object.values(targets)) {
    const { service } = await open();
    let runs = 0;
    const overtaken = async (state) => {
      runs += 1;
      await service.updateState(target, () => ({ 'app:n': runs }));
      return { 'app:mine': state['app:n'] ?? 0 };
    };
    await assert.rejects(service.updateState(target, overtaken, { attempts: 3 }), hasCode('STATE_CONFLICT'));
    assert.equal(runs, 3);
    assert.deepEqual(plain(await service.getAppState(KEY)), { n: 3 });
  }
});

test('attempts must be a whole number from 1', async () => {
  const { service } = await open();
  for (const attempts of [0, -1, 1.5, NaN, Infinity, '3', null]) {
    await assert.rejects(
      service.updateState(KEY, () => ({ x: 1 }), { attempts }),
      hasCode('INVALID_ARGUMENT'),
    );
  }
  await service.updateState(KEY, () => ({ x: 1 }), { attempts: 1 });
});

test('a session that is not there, or goes while the function runs, is not found', async () => {
  const { service } = await open();
  await assert.rejects(
    service.updateState({ ...KEY, sessionId: 'no' }, () => ({ x: 1 })),
    hasCode('SESSION_NOT_FOUND'),
  );
  const deletes = async () => {
    await service.deleteSession(KEY);
    return { x: 1 };
  };
  await assert.rejects(service.updateState(KEY, deletes), hasCode('SESSION_NOT_FOUND'));
  assert.equal(await service.getSession(KEY), undefined);
});

test('a session that is created anew while the function runs is read anew', async () => {
  for (const options of [{}, storedWith(soon)]) {
    const { service } = await open({ n: 1 }, options);
    const seen = [];
    const update = async (state) => {
      seen.push(state.n);
      if (seen.length === 1) {
        await service.deleteSession(KEY);
        await service.createSession({ ...KEY, state: { n: 100 } });
      }
      return { n: state.n + 1 };
    };
    const { n } = await service.updateState(KEY, update);
    assert.deepEqual([n, seen], [101, [1, 100]]);
    assert.equal((await service.getSession(KEY)).state.n, 101);
  }
});
