// Updates of one process take turns: as many round trips as updates and a few, however slow the store is.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, isStatepadError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { COUNTERS, KEY } from '../../support/fixtures.mjs';

const TARGETS = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const times = (count, task) => Promise.all(Array.from({ length: count }, (_, index) => task(index)));
const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
const upTo = (count) => Array.from({ length: count }, (_, index) => index + 1);

/** A store that is some milliseconds away, and how often it was asked. */
function farStore(away, inner = memoryStore()) {
  const asked = { reads: 0, writes: 0 };
  const far =
    (name, kind) =>
    async (...args) => {
      asked[kind] += 1;
      await sleep(away / 2);
      const answer = await inner[name](...args);
      await sleep(away / 2);
      return answer;
    };
  const store = {
    ...inner,
    watch: undefined,
    commit: far('commit', 'writes'),
    load: far('load', 'reads'),
    list: far('list', 'reads'),
    loadScope: far('loadScope', 'reads'),
    remove: far('remove', 'writes'),
  };
  delete store.commitMany;
  return { store, asked };
}

describe('100 at once, over a store that is far away', () => {
  for (const [target, name] of COUNTERS) {
    for (const waits of [false, true]) {
      test(`${name} through the ${target}${waits ? ', asynchronous' : ''}: 100 round trips and a few, one run each`, async () => {
        const { store, asked } = farStore(2);
        const service = new SessionService({ store });
        await service.createSession(KEY);
        Object.assign(asked, { reads: 0, writes: 0 });
        let runs = 0;
        const add = (state) => {
          runs += 1;
          const delta = { [name]: (state[name] ?? 0) + 1 };
          return waits ? sleep(1).then(() => delta) : delta;
        };
        const tickets = await times(100, async () => (await service.updateState(TARGETS[target], add))[name]);
        assert.deepEqual(sorted(tickets), upTo(100));
        assert.equal((await service.getSession(KEY)).state[name], 100);
        assert.deepEqual([runs, asked.writes], [100, 100]);
        assert.ok(asked.reads <= 4, `${asked.reads} reads`);
      });
    }
  }

  test('through 100 sessions of one user: a few runs each', async () => {
    const { store } = farStore(2);
    const service = new SessionService({ store });
    const keys = upTo(100).map((number) => ({ ...KEY, sessionId: `s${number}` }));
    await Promise.all(keys.map((key) => service.createSession(key)));
    let runs = 0;
    const add = (state) => {
      runs += 1;
      return { 'app:n': (state['app:n'] ?? 0) + 1 };
    };
    const tickets = await Promise.all(keys.map(async (key) => (await service.updateState(key, add))['app:n']));
    assert.deepEqual(sorted(tickets), upTo(100));
    assert.ok(runs <= 300, `${runs} runs`);
  });

  test('by two services over one store: both go on', async () => {
    const inner = memoryStore();
    const services = [1, 2].map(() => new SessionService({ store: farStore(2, inner).store }));
    let runs = 0;
    const add = (state) => {
      runs += 1;
      return { 'user:n': (state['user:n'] ?? 0) + 1 };
    };
    const tickets = await times(
      60,
      async (index) => (await services[index % 2].updateState(TARGETS.user, add))['user:n'],
    );
    assert.deepEqual(sorted(tickets), upTo(60));
    assert.ok(runs <= 60 * 4, `${runs} runs`);
  });
});

test('what the turn before has left was written after a call was made, or it reads the store', async () => {
  const { store, asked } = farStore(2);
  const service = new SessionService({ store });
  const theirs = new SessionService({ store });
  for (const target of [TARGETS.user, TARGETS.app]) {
    const seen = [];
    const look = (state) => void seen.push(state['app:n']);
    await theirs.updateState(target, () => ({ 'app:n': 'before' }));
    const first = service.updateState(target, () => ({ 'app:x': Math.random() }));
    await first;
    await theirs.updateState(target, () => ({ 'app:n': 'theirs' }));
    await service.updateState(target, look);
    assert.deepEqual(seen, ['theirs'], 'nobody waited: it is read');
    asked.reads = 0;
    await Promise.all([
      service.updateState(target, () => ({ 'app:x': Math.random() })),
      service.updateState(target, look),
    ]);
    assert.deepEqual(seen, ['theirs', 'theirs']);
  }
});

test('others have written between two turns: the second one runs again over what is there', async () => {
  const { store } = farStore(2);
  const service = new SessionService({ store });
  const theirs = new SessionService({ store });
  const session = await service.createSession({ ...KEY, state: { n: 0, 'user:n': 0, 'app:n': 0 } });
  const seen = [];
  const [one, two] = await Promise.all([
    service.updateState(KEY, (state) => ({ n: state.n + 1 })),
    service.updateState(KEY, async (state) => {
      seen.push(state.n);
      if (seen.length === 1) await theirs.updateState(KEY, (other) => ({ n: other.n + 10, other: true }));
      return { n: state.n + 1 };
    }),
  ]);
  assert.deepEqual([one.n, two.n, seen], [1, 12, [1, 11]]);
  assert.equal(two.other, true);
  assert.equal(session.revision, 0);
});

describe('a function that updates what it is updating does not wait for itself', () => {
  for (const [name, target] of Object.entries(TARGETS)) {
    for (const stored of [false, true]) {
      test(`${name}${stored ? ', over a store' : ''}: at once, and after it has waited`, async () => {
        const service = new SessionService(stored ? { store: memoryStore() } : {});
        await service.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0 } });
        for (const before of [async () => undefined, () => sleep(1)]) {
          const runs = { outer: 0, inner: 0 };
          const inner = async () => {
            await before();
            if ((runs.inner += 1) === 1) await service.updateState(target, () => ({ 'app:inmost': 1 }));
            return { 'app:inner': 1 };
          };
          const result = await service.updateState(target, async (state) => {
            await before();
            if ((runs.outer += 1) === 1) await service.updateState(target, inner);
            return { 'app:n': (state['app:n'] ?? 0) + 1 };
          });
          assert.equal(result['app:inmost'], 1);
          assert.equal(result['app:inner'], 1);
        }
        assert.equal((await service.getAppState(KEY)).n, 2);
      });
    }
  }

  test('nor do two that update each other', async () => {
    const service = new SessionService({ store: memoryStore() });
    const [one, other] = ['one', 'other'].map((sessionId) => ({ ...KEY, sessionId }));
    await Promise.all([one, other].map((key) => service.createSession(key)));
    const both = (key, second) =>
      service.updateState(key, async () => {
        await sleep(5);
        await service.updateState(second, () => ({ inner: 1 }));
        return { outer: 1 };
      });
    const results = await Promise.all([both(one, other), both(other, one)]);
    assert.deepEqual(
      results.map(({ outer }) => outer),
      [1, 1],
    );
    assert.equal((await service.getSession(one)).state.inner, 1);
  });

  test('what came before a function was called stays in the queue, however long it takes', async () => {
    const service = new SessionService({ store: memoryStore() });
    const order = [];
    const update = (name, time) =>
      service.updateState(TARGETS.app, async () => {
        order.push(`${name} begins`);
        await sleep(time);
        order.push(`${name} ends`);
        return { 'app:x': name };
      });
    await Promise.all([update('slow', 700), update('second', 1), update('third', 1)]);
    assert.deepEqual(order, [
      'slow begins',
      'slow ends',
      'second begins',
      'second ends',
      'third begins',
      'third ends',
    ]);
  });
});

test('a call that is given up while it waits leaves the queue at once, and its function is never called', async () => {
  const service = new SessionService({ store: memoryStore() });
  const reason = new Error('enough');
  const controller = new AbortController();
  let go;
  const held = new Promise((resolve) => (go = resolve));
  const first = service.updateState(TARGETS.app, async () => {
    await held;
    return { 'app:x': 1 };
  });
  const second = service.updateState(TARGETS.app, () => assert.fail('never called'), { signal: controller.signal });
  const third = service.updateState(TARGETS.app, () => ({ 'app:y': 1 }));
  await sleep(1);
  controller.abort(reason);
  await assert.rejects(second, (error) => error === reason);
  go();
  await Promise.all([first, third]);
  assert.deepEqual({ ...(await service.getAppState(KEY)) }, { x: 1, y: 1 });
});

test('a call that is given up between its function and its write writes nothing', async () => {
  for (const options of [{}, { store: memoryStore() }]) {
    for (const target of Object.values(TARGETS)) {
      const service = new SessionService(options);
      await service.getOrCreateSession(KEY);
      const reason = new Error('enough');
      const controller = new AbortController();
      const update = service.updateState(
        target,
        () => {
          controller.abort(reason);
          return { 'app:never': 1 };
        },
        { signal: controller.signal },
      );
      await assert.rejects(update, (error) => error === reason);
      assert.equal((await service.getAppState(KEY)).never, undefined);
    }
  }
});

test('a queue goes on behind one that fails', async () => {
  const service = new SessionService({ store: memoryStore() });
  const outcomes = await Promise.allSettled([
    service.updateState(TARGETS.app, () => {
      throw new RangeError('no');
    }),
    service.updateState(TARGETS.app, () => ({ nonsense: 1 })),
    service.updateState(TARGETS.app, () => ({ 'app:x': 1 })),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  );
  assert.ok(outcomes[0].reason instanceof RangeError && isStatepadError(outcomes[1].reason));
});
