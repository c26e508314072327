// The past of app and user values: exact across sessions where a log of them is kept.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { APP, KEY, USER, runs, setting } from '../../support/fixtures.mjs';
import { step, tellsThePast } from '../../support/past.mjs';

const places = {
  memory: () => [new SessionService()],
  'a store': () => {
    const store = memoryStore();
    return [new SessionService({ store }), new SessionService({ store, cachedEvents: 0 })];
  },
};
const withoutLog = {
  memory: () => new SessionService({ log: false }),
  'a store': () => new SessionService({ store: memoryStore({ log: false }) }),
};

for (const [where, open] of Object.entries(places)) {
  describe(`over ${where}`, () => {
    test('any session at any revision has what all sessions had written by then, and each key all its writes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const services = open();
          await tellsThePast(services, steps);
          await Promise.all(services.map((service) => service.close()));
        }),
        { numRuns: runs(100) },
      );
    });

    test('what is trimmed is not exact any more, and what came after it is', async () => {
      const [service] = open();
      const session = await service.createSession({ ...KEY, state: { 'app:n': 0, n: 0 } });
      for (let n = 1; n <= 5; n++) {
        await service.appendEvent({ session, event: setting({ 'app:n': n }, { timestamp: n * 100 }) });
        await service.updateState(APP, () => ({ 'app:m': n }));
      }
      assert.equal((await service.history({ ...APP, key: 'app:n' })).steps.length, 6);
      assert.equal(await service.trimHistory(APP, { upTo: 4 }), 4);
      const { exact, steps } = await service.history({ ...APP, key: 'app:n' });
      assert.deepEqual(
        [exact, steps.map(({ from, to }) => [from, to])],
        [
          false,
          [
            [2, 3],
            [3, 4],
            [4, 5],
          ].slice(-steps.length),
        ],
      );
      assert.deepEqual(plain(await service.stateAt(session, 3, { detailed: true })), {
        exact: true,
        state: { n: 0, 'app:n': 3, 'app:m': 2 },
      });
      assert.equal((await service.stateAt(session, 0, { detailed: true })).exact, false);
      assert.equal(await service.trimHistory(APP, { upTo: 3 }), 0, 'that is gone already');
      assert.equal(await service.trimHistory({ ...APP, userId: 'nobody' }, { upTo: 9 }), 0);
      assert.ok((await service.trimHistory(APP, { before: Date.now() + 60_000 })) > 0);
      assert.deepEqual(await service.history({ ...APP, key: 'app:n' }), { exact: false, steps: [] });
      assert.deepEqual(await service.getAppState(APP), { n: 5, m: 5 });
      await service.appendEvent({ session, event: setting({ 'app:n': 6 }) });
      assert.deepEqual(
        (await service.history({ ...APP, key: 'app:n' })).steps.map(({ from, to }) => [from, to]),
        [[5, 6]],
      );
      assert.deepEqual(plain(await service.stateAt(session, 6, { detailed: true })), {
        exact: true,
        state: { n: 0, 'app:n': 6, 'app:m': 5 },
      });
      await service.close();
    });

    test('only some of the steps, frozen, are told when that is asked for', async () => {
      const [service] = open();
      for (let n = 1; n <= 4; n++) {
        await service.updateState(USER, () => ({ 'user:list': [n] }));
      }
      const told = async (options) =>
        (await service.history({ ...USER, key: 'user:list' }, options)).steps.map(({ position }) => position);
      assert.deepEqual(await told({ until: 3 }), [1, 2, 3]);
      assert.deepEqual(await told({ last: 2 }), [3, 4]);
      assert.deepEqual(await told({ until: 3, last: 1 }), [3]);
      assert.deepEqual(await told({ last: 0 }), []);
      const { steps } = await service.history({ ...USER, key: 'user:list' });
      assert.ok(Object.isFrozen(steps) && Object.isFrozen(steps[0]) && Object.isFrozen(steps[0].to));
      assert.equal(steps[0].by, undefined);
      await service.close();
    });
  });
}

for (const [where, open] of Object.entries(withoutLog)) {
  test(`without a log it is told as this session's own log has it, and said so, over ${where}`, async () => {
    const service = open();
    const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
    await service.updateState(APP, () => ({ 'app:n': 1 }));
    await service.appendEvent({ session, event: setting({ 'app:n': 2 }) });
    await service.updateState(APP, () => ({ 'app:n': 3 }));
    await service.appendEvent({ session, event: setting({ n: 1 }) });
    assert.deepEqual(plain(await service.stateAt(session, 1, { detailed: true })), {
      exact: false,
      state: { 'app:n': 2 },
    });
    const { exact, steps } = await service.history(session, 'app:n', { detailed: true });
    assert.deepEqual([exact, steps.map(({ from }) => from)], [false, [undefined, 0]]);
    assert.equal((await service.history(session, 'n', { detailed: true })).exact, true);
    assert.deepEqual(await service.history({ ...APP, key: 'app:n' }), { exact: false, steps: [] });
    await assert.rejects(service.trimHistory(APP, { upTo: 1 }), { code: 'INVALID_ARGUMENT' });
    await service.close();
  });
}

test('junk in the place of a key, of options and of what is trimmed is refused by name', async () => {
  const service = new SessionService();
  const session = await service.createSession(KEY);
  for (const [ask, path] of [
    [() => service.history({ ...APP, key: 'n' }), 'key'],
    [() => service.history({ ...APP, key: 5 }), 'key'],
    [() => service.history({ ...APP, key: 'temp:n' }), 'key'],
    [() => service.history({ ...APP, key: 'user:n' }), 'userId'],
    [() => service.history({ key: 'app:n' }), 'appName'],
    [() => service.history({ ...APP, userID: 'u', key: 'app:n' }), 'userID'],
    [() => service.history({ ...APP, key: 'app:n' }, { until: -1 }), 'until'],
    [() => service.history({ ...APP, key: 'app:n' }, { last: 0.5 }), 'last'],
    [() => service.history({ ...APP, key: 'app:n' }, { detailed: true }), 'detailed'],
    [() => service.history(session, 'n', { detailed: 1 }), 'detailed'],
    [() => service.stateAt(session, 0, { detailed: 1 }), 'detailed'],
    [() => service.stateAt(session, 0, { detailled: true }), 'detailled'],
    [() => service.trimHistory(undefined, { upTo: 1 }), 'target'],
    [() => service.trimHistory(APP), 'options'],
    [() => service.trimHistory(APP, {}), 'options'],
    [() => service.trimHistory(APP, { upTo: 1, before: 1 }), 'options'],
    [() => service.trimHistory(APP, { upTo: -1 }), 'upTo'],
    [() => service.trimHistory(APP, { before: NaN }), 'before'],
    [() => service.trimHistory(APP, { since: 1 }), 'since'],
  ]) {
    await assert.rejects(async () => ask(), { code: 'INVALID_ARGUMENT', path }, path);
  }
});

describe('in memory', () => {
  const count = async (service, most) => {
    for (let n = 1; n <= most; n++) {
      await service.updateState(APP, () => ({ 'app:n': n, [`app:${n % 3}`]: n % 2 ? DELETED : n }));
    }
  };

  test('at least the last thousand changes are kept, and all of them when that is asked for', async () => {
    for (const [log, kept] of [
      [undefined, (steps) => steps >= 1000 && steps < 2000],
      [true, (steps) => steps === 3200],
    ]) {
      const service = new SessionService(log === undefined ? {} : { log });
      const session = await service.createSession({ ...KEY, state: { 'user:a': 1 } });
      await count(service, 2500);
      await service.appendEvent({ session, event: setting({ n: 1 }) });
      await count(service, 700);
      const { exact, steps } = await service.history({ ...APP, key: 'app:n' });
      assert.equal(exact, log === true);
      assert.equal(steps.at(-1).position, 3200);
      assert.ok(kept(steps.length), `${steps.length} steps`);
      const at = await service.stateAt(session, 1, { detailed: true });
      assert.deepEqual(plain(at), {
        state: { n: 1, 'app:n': 2500, 'app:2': 2498, 'app:1': 2500, 'user:a': 1 },
        exact: true,
      });
      assert.equal((await service.stateAt(session, 0, { detailed: true })).exact, log === true);
      await service.close();
    }
  });
});
