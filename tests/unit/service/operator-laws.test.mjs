// Laws of operators: whoever writes at the same time, and whatever becomes of answers, each is resolved once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, append, compareAndSet, increment, isStatepadError, setOnce } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { faults, faultyStore, planOf } from '../../faults/faulty.mjs';
import { KEY, runs } from '../../support/fixtures.mjs';

const unresolved = () => ({ ...memoryStore(), resolves: undefined });
const PLACES = {
  'in memory': () => undefined,
  'over a store that resolves them': memoryStore,
  'over a store that resolves none': unresolved,
  'over a store that resolves none, one change at a time': () => ({ ...unresolved(), commitMany: undefined }),
  'over an encrypted store': () =>
    encryptedStore(memoryStore(), { keys: [{ id: '1', key: new Uint8Array(32).fill(7) }] }),
};

/** Services that share a store; in memory it is one. */
function servicesOver(store, count, options = {}) {
  const made = Array.from({ length: store === undefined ? 1 : count }, () => {
    return new SessionService(store === undefined ? {} : { store, ...options });
  });
  return Array.from({ length: count }, (_, index) => made[index % made.length]);
}

const event = (stateDelta, id) => ({ ...(id && { id }), author: 'agent', timestamp: 1, actions: { stateDelta } });
const outcome = async (promise) =>
  await promise.then(
    () => 'done',
    (error) => {
      assert.ok(isStatepadError(error), error?.stack);
      return error.code;
    },
  );

for (const [place, open] of Object.entries(PLACES)) {
  describe(place, () => {
    test('increments of many sessions, services and updates add up, and lists keep every item once', async () => {
      const services = servicesOver(open(), 3);
      const sessions = await Promise.all(
        services.map(async (service, index) => await service.createSession({ ...KEY, sessionId: `s${index}` })),
      );
      const shared = await Promise.all(
        services.map(async (service) => await service.getSession({ ...KEY, sessionId: 's0' })),
      );
      const write = async (writer) => {
        const service = services[writer % 3];
        for (let step = 0; step < 8; step++) {
          const delta = {
            'app:n': increment(),
            'user:l': append([writer, step]),
            n: increment(2),
          };
          const session = writer < 3 ? sessions[writer] : shared[writer % 3];
          if (writer < 6) {
            await service.appendEvent({ session, event: event(delta) });
          } else {
            const { 'app:n': n, 'user:l': l } = delta;
            await service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'app:n': n, 'user:l': l }));
          }
        }
      };
      await Promise.all(Array.from({ length: 9 }, (_, writer) => write(writer)));
      const [last] = services;
      assert.deepEqual(plain(await last.getAppState({ appName: 'app' })), { n: 72 });
      const { l } = await last.getUserState({ appName: 'app', userId: 'u' });
      for (let writer = 0; writer < 9; writer++) {
        const own = l.filter(([by]) => by === writer).map(([, step]) => step);
        assert.deepEqual(own, [0, 1, 2, 3, 4, 5, 6, 7], `writer ${writer}`);
      }
      assert.equal(l.length, 72);
      for (const [index, count] of [
        [0, 32],
        [1, 8],
        [2, 8],
      ]) {
        const read = await last.getSession({ ...KEY, sessionId: `s${index}` });
        assert.equal(read.state.n, 2 * count);
        // Each event tells what it came to: a step more than the one before it.
        assert.deepEqual(
          read.events.map(({ actions }) => actions.stateDelta.n),
          Array.from({ length: count }, (_, step) => 2 * (step + 1)),
        );
      }
    });

    test('of those that compare with the same value one comes through, in every round', async () => {
      const services = servicesOver(open(), 3);
      const sessions = [];
      for (const [index, service] of services.entries()) {
        sessions.push(await service.createSession({ ...KEY, sessionId: `s${index}` }));
      }
      let before;
      for (let round = 0; round < 5; round++) {
        const outcomes = await Promise.all(
          sessions.flatMap((session, index) =>
            [0, 1].map(async (step) => {
              const delta = { 'app:owner': compareAndSet(before, [round, index, step]), won: append(round) };
              return await outcome(services[index].appendEvent({ session, event: event(delta) }));
            }),
          ),
        );
        assert.deepEqual(outcomes.sort(), [
          'STATE_CONFLICT',
          'STATE_CONFLICT',
          'STATE_CONFLICT',
          'STATE_CONFLICT',
          'STATE_CONFLICT',
          'done',
        ]);
        before = (await services[0].getAppState({ appName: 'app' })).owner;
        assert.equal(before[0], round);
      }
      const read = await Promise.all(
        sessions.map(async ({ id }) => await services[0].getSession({ ...KEY, sessionId: id })),
      );
      assert.deepEqual(read.flatMap(({ state }) => state.won ?? []).sort(), [0, 1, 2, 3, 4]);
    });

    test('random histories come out as a plain model says, and the events that readers get replay to the state', async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const services = servicesOver(open(), 2);
        await services[0].createSession({ ...KEY, state: { s: 'text', n: 1 } });
        const sessions = await Promise.all(services.map(async (service) => await service.getSession(KEY)));
        const model = new Map(Object.entries({ s: 'text', n: 1 }));
        for (const { by, how, delta } of steps) {
          const expected = applied(model, delta);
          const given = Object.fromEntries(delta.map(([key, write]) => [key, made(write)]));
          const done = await outcome(
            how === 'append'
              ? services[by].appendEvent({ session: sessions[by], event: event(given) })
              : services[by].updateState(KEY, () => given),
          );
          assert.ok(expected.has(done), `${done}, not ${[...expected]}`);
        }
        for (const service of services) {
          const read = await service.getSession(KEY);
          assert.deepEqual(plain(read.state), Object.fromEntries(model));
          const replayed = new Map(Object.entries({ s: 'text', n: 1 }));
          for (const { actions, customMetadata } of read.events) {
            const { deleted = [] } = customMetadata?.statepad ?? {};
            for (const [key, value] of Object.entries(actions.stateDelta)) {
              if (deleted.includes(key)) replayed.delete(key);
              else replayed.set(key, plain(value));
            }
          }
          assert.deepEqual(Object.fromEntries(replayed), Object.fromEntries(model));
          const at = fc.sample(fc.nat(read.revision), 1)[0];
          assert.deepEqual(plain(await service.stateAt(read, read.revision)), Object.fromEntries(model));
          assert.ok(await service.stateAt(read, at));
        }
      });
      await fc.assert(property, { numRuns: runs(place === 'over an encrypted store' ? 20 : 100) });
    });
  });
}

const keys = fc.constantFrom('n', 's', 'l', 'app:n', 'app:l', 'user:n', 'user:l');
const value = fc.constantFrom(0, 1, 2.5, 'text', null, [1], { a: [1] });
const write = fc.oneof(
  fc.record({ op: fc.constant('increment'), by: fc.constantFrom(1, -2, 0.1, 1e308) }),
  fc.record({ op: fc.constant('append'), items: fc.array(value, { maxLength: 2 }) }),
  fc.record({ op: fc.constant('setOnce'), value }),
  fc.record({ op: fc.constant('compareAndSet'), expected: fc.option(value, { nil: undefined }), value }),
  fc.record({ op: fc.constant('set'), value }),
  fc.record({ op: fc.constant('delete') }),
);
const step = fc.record({
  by: fc.nat(1),
  how: fc.constantFrom('append', 'append', 'update'),
  delta: fc.uniqueArray(fc.tuple(keys, write), { selector: ([key]) => key, maxLength: 4 }),
});

function made({ op, by, items, expected, value: to }) {
  switch (op) {
    case 'increment':
      return increment(by);
    case 'append':
      return append(...items);
    case 'setOnce':
      return setOnce(to);
    case 'compareAndSet':
      return compareAndSet(expected, to);
    case 'delete':
      return DELETED;
    default:
      return to;
  }
}

/** Applies a delta by the plainest rules: all of it or nothing. Answers with the outcomes that it may have. */
function applied(model, delta) {
  const next = new Map(model);
  const codes = new Set();
  const inOrder = [
    ...delta.filter(([, { op }]) => op === 'set' || op === 'delete'),
    ...delta.filter(([, { op }]) => op !== 'set' && op !== 'delete'),
  ];
  for (const [key, { op, by, items, expected, value: to }] of inOrder) {
    const now = model.get(key);
    if (op === 'delete') next.delete(key);
    else if (op === 'set') next.set(key, to);
    else if (op === 'setOnce') next.set(key, model.has(key) ? now : to);
    else if (op === 'compareAndSet') {
      if (JSON.stringify(now) !== JSON.stringify(expected)) codes.add('STATE_CONFLICT');
      next.set(key, to);
    } else if (op === 'append') {
      if (model.has(key) && !Array.isArray(now)) codes.add('INVALID_ARGUMENT');
      else next.set(key, [...(now ?? []), ...items]);
    } else {
      const sum = (model.has(key) ? now : 0) + by;
      if ((model.has(key) && typeof now !== 'number') || !Number.isFinite(sum)) codes.add('INVALID_ARGUMENT');
      else next.set(key, sum);
    }
  }
  if (codes.size === 0) {
    codes.add('done');
    model.clear();
    next.forEach((to, key) => model.set(key, to));
  }
  return codes;
}

describe('whatever becomes of an answer, each is resolved once', () => {
  /** The time that a service waits here for an answer, in milliseconds. */
  const timeout = 40;
  const stores = {
    'a store that resolves them': memoryStore,
    'a store that resolves none': unresolved,
  };
  for (const [name, make] of Object.entries(stores)) {
    test(`over ${name}`, async () => {
      const fault = fc.option(fc.constantFrom(...faults), { nil: undefined });
      const property = fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (next) => {
        const inner = make();
        const plan = planOf(timeout + 20);
        const store = { ...faultyStore(inner, plan), watch: undefined };
        const services = servicesOver(store, 2, { timeout, retry: { attempts: 2, pause: 1 } });
        const sessions = [];
        for (const [index, service] of services.entries()) {
          sessions.push(await service.createSession({ ...KEY, sessionId: `s${index}` }));
        }
        plan.next.push(...next);
        const write = async (writer) => {
          const index = writer % 2;
          for (let count = 0; count < 3; count++) {
            const delta = { 'app:n': increment(), n: increment(), 'app:l': append(`${writer}.${count}`) };
            let done;
            // An event is given again until it is known what became of it.
            for (let tries = 0; done !== 'done'; tries++) {
              const given = event({ ...delta }, `${writer}.${count}`);
              done = await outcome(services[index].appendEvent({ session: sessions[index], event: given }));
              assert.ok(['done', 'COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'].includes(done), done);
              assert.ok(tries < 30);
            }
          }
        };
        await Promise.all([0, 1, 2, 3].map(write));
        await plan.settled();
        const { n, l } = await new SessionService({ store: inner }).getAppState({ appName: 'app' });
        assert.deepEqual([n, [...l].sort()], [12, [0, 1, 2, 3].flatMap((by) => [0, 1, 2].map((at) => `${by}.${at}`))]);
        for (const index of [0, 1]) {
          const read = await new SessionService({ store: inner }).getSession({ ...KEY, sessionId: `s${index}` });
          assert.deepEqual([read.state.n, read.events.length], [6, 6]);
          await services[index].appendEvent({ session: sessions[index], event: event({ n: increment() }) });
          assert.equal(sessions[index].state.n, 7);
        }
      });
      await fc.assert(property, { numRuns: runs(40), interruptAfterTimeLimit: 60_000 });
    });
  }
});
