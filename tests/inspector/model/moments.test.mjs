// The past that the inspector computes is the past that the service tells.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, append, increment, setOnce } from 'statepad';
import { modelOf } from './bundle.mjs';

const { Log, Moments } = await modelOf('log', 'moments');

const NAMES = ['a', 'b', '__proto__', 'constructor', 'toString', '7', 'temp', ''];
const SCOPES = ['', 'app:', 'user:'];
const KEYS = SCOPES.flatMap((scope) => NAMES.map((name) => `${scope}${name}`));

const value = fc.oneof(
  fc.constantFrom(null, 0, '', 'x', [], {}, [1, { a: 1 }], false),
  fc.constantFrom(JSON.parse('{"__proto__": {"a": 1}}'), { constructor: 1 }),
  fc.integer({ min: 0, max: 3 }),
);
const write = fc.oneof(
  { weight: 4, arbitrary: value },
  { weight: 2, arbitrary: fc.constant(DELETED) },
  { weight: 1, arbitrary: fc.constant(setOnce('once')) },
);
const entries = (written) => fc.array(fc.tuple(fc.constantFrom(...KEYS), written), { maxLength: 4 });
const record = (pairs) => Object.fromEntries([...pairs, ['temp:seen', 1]]);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append'), turn: fc.nat(3), delta: entries(write) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('count'), turn: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('other'), delta: entries(write) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewind'), turn: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('redo') }) },
);

const ids = { appName: 'app', userId: 'ana' };

/** Does a step. A step that the service refuses changes nothing: a rewind before a turn that has no event. */
async function take(service, session, other, { kind, turn, delta = [] }) {
  const event = { author: 'agent', invocationId: `turn ${turn}`, actions: { stateDelta: record(delta) } };
  const steps = {
    append: () => service.appendEvent({ session, event }),
    count: () =>
      service.appendEvent({
        session,
        event: { ...event, actions: { stateDelta: { n: increment(), 'app:n': increment(2), list: append('x') } } },
      }),
    other: () => service.appendEvent({ session: other, event: { actions: { stateDelta: record(delta) } } }),
    rewind: () => service.rewind(session, { before: `turn ${turn}` }),
    redo: () => service.redo(session),
  };
  await steps[kind]().catch((error) => assert.equal(error.code, 'INVALID_ARGUMENT'));
}

/** The moments of a session, as an inspection has them, and its log. */
async function momentsOf(service, key) {
  const session = await service.getSession(key);
  const log = new Log();
  log.update(session.events);
  return { session, log, moments: new Moments(service, () => session, log) };
}

const stateIn = (rows, suits = () => true) =>
  rows.filter((row) => row.value !== undefined && suits(row)).map(({ key, value }) => [key, value]);
const isOwn = (key) => !key.startsWith('app:') && !key.startsWith('user:');
const never = new AbortController().signal;

/** The rows of a revision say what the turn has done, by the states that the service tells. */
function checkChanges(rows, after, before) {
  for (const { key, value, change, before: was } of rows) {
    const [from, to] = [before, after].map((state) => (Object.hasOwn(state, key) ? state[key] : undefined));
    assert.deepEqual(value, to);
    if (change !== undefined) {
      assert.deepEqual(was, from);
      assert.equal(change, from === undefined ? 'added' : to === undefined ? 'deleted' : 'changed');
    } else if (isOwn(key)) {
      assert.deepEqual(from, to);
    }
  }
}

describe('moments', () => {
  it('are those of the service at every revision: own keys at once and in their order, all others once settled', async () => {
    await fc.assert(
      fc.asyncProperty(entries(value), fc.array(step, { maxLength: 20 }), async (creation, steps) => {
        const service = new SessionService();
        const other = await service.createSession({ ...ids, sessionId: 'other', state: { 'app:a': 'before' } });
        const session = await service.createSession({ ...ids, sessionId: 'own', state: record(creation) });
        for (const one of steps) await take(service, session, other, one);
        const { moments, log, session: current } = await momentsOf(service, { ...ids, sessionId: 'own' });
        // The creation, without which nothing is known of the keys that events have written since.
        await moments.settle(0, never);
        const states = await Promise.all(
          Array.from({ length: current.revision + 1 }, (_, revision) =>
            // Now is not the moment just after the last event: others have written since.
            revision === current.revision ? current.state : service.stateAt(current, revision),
          ),
        );
        const order = states.map((_, index) => (index * 7) % states.length);
        for (const revision of new Set([...order, ...states.keys()])) {
          const state = states[revision];
          const own = Object.entries(state).filter(([key]) => isOwn(key));
          assert.deepEqual(
            Object.fromEntries(stateIn(moments.rows({ revision }), ({ key }) => isOwn(key))),
            Object.fromEntries(own),
          );
          const names = own.map(([key]) => key).filter((key) => key !== '7');
          const shown = moments.rows({ revision }).filter(({ key, value }) => value !== undefined && isOwn(key));
          assert.deepEqual(
            shown.map(({ key }) => key).filter((key) => key !== '7'),
            names,
          );

          await moments.settle(revision, never);
          assert.ok(moments.isExact(revision));
          assert.ok(moments.isSettled(revision));
          const rows = moments.rows({ revision });
          assert.deepEqual(Object.fromEntries(stateIn(rows)), { ...state });
          checkChanges(rows, state, states[(log.turns[revision - 1] ?? 1) - 1]);
        }
        await service.close();
      }),
      { numRuns: 150, includeErrorInReport: true },
    );
  });

  it('name the event that wrote a value, the creation, or another session', async () => {
    const service = new SessionService();
    const state = { kept: 1, 'app:made': 1, 'app:theirs': 1 };
    const session = await service.createSession({ ...ids, sessionId: 'own', state });
    const other = await service.createSession({ ...ids, sessionId: 'other', state: { 'user:theirs': 1 } });
    await service.appendEvent({ session, event: { actions: { stateDelta: { own: 1, 'user:mine': 1 } } } });
    await service.appendEvent({ session: other, event: { actions: { stateDelta: { 'app:theirs': 2 } } } });
    const { moments } = await momentsOf(service, { ...ids, sessionId: 'own' });
    await moments.settle(1, never);
    const told = moments.rows({ revision: 1 }).map(({ key, source, writer }) => [key, source, writer?.revision]);
    assert.deepEqual(told, [
      ['kept', 'creation', 0],
      ['own', 'event', 1],
      ['app:made', 'creation', 0],
      ['app:theirs', 'elsewhere', 0],
      ['user:theirs', 'elsewhere', undefined],
      ['user:mine', 'event', 1],
    ]);
  });

  it('are made of the rows of other moments, where nothing has changed', async () => {
    const service = new SessionService();
    const session = await service.createSession({
      ...ids,
      sessionId: 'own',
      state: { kept: { deep: [] }, 'app:kept': [] },
    });
    for (const n of [1, 2, 3]) await service.appendEvent({ session, event: { actions: { stateDelta: { n } } } });
    const { moments } = await momentsOf(service, { ...ids, sessionId: 'own' });
    await moments.settle(2, never);
    await moments.settle(3, never);
    const one = moments.rows({ revision: 2 });
    const two = moments.rows({ revision: 3, previous: one });
    const changed = two.filter((row) => !one.includes(row)).map(({ key }) => key);
    assert.deepEqual(changed, ['n']);
    assert.deepEqual(moments.rows({ revision: 2, previous: two }), one);
  });

  it('are not exact where the log of the shared keys does not reach back', async () => {
    const service = new SessionService({ log: false });
    const session = await service.createSession({ ...ids, sessionId: 'own', state: { 'app:a': 1 } });
    for (const n of [1, 2])
      await service.appendEvent({ session, event: { actions: { stateDelta: { n, 'app:a': n } } } });
    const { moments } = await momentsOf(service, { ...ids, sessionId: 'own' });
    await moments.settle(1, never);
    assert.deepEqual([moments.isSettled(1), moments.isExact(1), moments.isExact(2)], [true, false, true]);
    assert.deepEqual(stateIn(moments.rows({ revision: 1 })), [
      ['n', 1],
      ['app:a', 1],
    ]);
  });
});
