// The past of app and user values: exact across sessions where a log of them is kept.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../contract/read.mjs';
import { APP, KEY, USER, runs, setting } from '../support/fixtures.mjs';

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

const keyOf = (sessionId) => ({ ...USER, sessionId });
const name = (sessionId) => ({ ...USER, id: sessionId });

/** What a step does, to a model of all that was written. */
class Model {
  scopes = { app: new Map(), user: new Map() };
  positions = { app: 0, user: 0 };
  writes = { app: [], user: [] };
  sessions = new Map();

  write(delta, by) {
    for (const scope of ['app', 'user']) {
      const own = Object.entries(delta).filter(([key]) => key.startsWith(`${scope}:`));
      if (own.length > 0) {
        this.positions[scope] += 1;
        // What is deleted comes first.
        for (const [key, value] of own.sort(([, a], [, b]) => (b === DELETED) - (a === DELETED))) {
          const from = this.scopes[scope].get(key);
          const to = value === DELETED ? undefined : value;
          if (from !== undefined || to !== undefined) {
            this.writes[scope].push({ position: this.positions[scope], key, by, from, to });
          }
          if (to === undefined) {
            this.scopes[scope].delete(key);
          } else {
            this.scopes[scope].set(key, to);
          }
        }
      }
    }
    if (by !== undefined) {
      const session = this.sessions.get(by.sessionId) ?? { own: {}, states: [], deltas: [] };
      this.sessions.set(by.sessionId, session);
      for (const [key, value] of Object.entries(delta)) {
        if (!key.includes(':')) {
          session.own[key] = value;
        }
      }
      session.states.push({ ...session.own, ...Object.fromEntries([...this.scopes.app, ...this.scopes.user]) });
    }
  }
}

const key = fc.constantFrom('app:a', 'app:__proto__', 'user:a', 'user:', 'n');
const delta = fc.dictionary(key, fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(DELETED)), { maxKeys: 4 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append'),
      session: fc.constantFrom('s', 't'),
      delta,
      counts: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('update'), delta }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove'), session: fc.constantFrom('s', 't') }) },
);

/** Runs steps over services in turn, and over the model. */
async function run(services, steps) {
  const model = new Model();
  let count = 0;
  for (const { do: what, session, delta: written, counts } of steps) {
    const service = services[(count += 1) % services.length];
    if (what === 'update') {
      const own = Object.fromEntries(Object.entries(written).filter(([name]) => name.includes(':')));
      await service.updateState(USER, () => own);
      model.write(own);
    } else if (what === 'remove') {
      await service.deleteSession(keyOf(session));
      model.sessions.delete(session);
    } else if (model.sessions.has(session)) {
      const set = Object.fromEntries(
        Object.entries(written).filter(([name, value]) => name !== 'n' || value !== DELETED),
      );
      const counted = counts ? { 'user:count': increment(2) } : {};
      const event = setting({ ...set, ...counted }, { id: `e${count}` });
      await service.appendEvent({ session: name(session), event });
      const afterwards = (model.scopes.user.get('user:count') ?? 0) + 2;
      model.write(
        { ...set, ...(counts ? { 'user:count': afterwards } : {}) },
        { userId: USER.userId, sessionId: session, eventId: `e${count}` },
      );
    } else {
      const state = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== DELETED));
      await service.createSession({ ...keyOf(session), state });
      model.write(state, { userId: USER.userId, sessionId: session });
    }
  }
  return model;
}

for (const [where, open] of Object.entries(places)) {
  describe(`over ${where}`, () => {
    test('any session at any revision has what all sessions had written by then, and each key all its writes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const services = open();
          const model = await run(services, steps);
          for (const service of services) {
            for (const [session, { states }] of model.sessions) {
              for (const [revision, state] of states.entries()) {
                const told = await service.stateAt(name(session), revision, { detailed: true });
                assert.deepEqual(plain(told), plain({ state, exact: true }));
              }
            }
            for (const [scope, writes] of Object.entries(model.writes)) {
              for (const key of [`${scope}:a`, `${scope}:count`, scope === 'app' ? 'app:__proto__' : 'user:']) {
                const { exact, steps: told } = await service.history({ ...USER, key });
                const expected = writes.filter((each) => each.key === key);
                assert.ok(exact);
                assert.deepEqual(
                  told.map(({ position, by, from, to }) => plain({ position, by, from, to })),
                  expected.map(({ position, by, from, to }) => plain({ position, by, from, to })),
                );
                for (const [session] of model.sessions) {
                  const own = await service.history(name(session), key, { detailed: true });
                  assert.ok(own.exact);
                  for (const { event, from, to } of own.steps) {
                    // Of a session that was made anew only the last one's writes are its own.
                    const wrote = expected.filter(({ by }) => by?.sessionId === session && by.eventId === event?.id);
                    assert.deepEqual(
                      plain([from ?? null, to ?? null]),
                      plain([wrote.at(-1)?.from ?? null, wrote.at(-1)?.to ?? null]),
                    );
                  }
                }
              }
            }
          }
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
