// Operators that wait in an invocation: what is read of them, what one makes of another, and what an event carries.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DELETED,
  SessionService,
  State,
  append,
  compareAndSet,
  createEventActions,
  increment,
  setOnce,
} from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { storedWith } from '../../support/store.mjs';
import { KEY, hasCode } from '../../support/fixtures.mjs';

const operatorsOf = ({ customMetadata }) => plain(customMetadata?.statepad.operators);

async function begin(state = {}, options = {}) {
  const service = new SessionService(options);
  const session = await service.createSession({ ...KEY, state });
  return { service, session, context: service.invocation(session, { invocationId: 'i', author: 'a' }) };
}

const unresolved = () => ({ store: { ...memoryStore(), resolves: undefined } });
const PLACES = {
  'in memory': () => ({}),
  'over a store': () => ({ store: memoryStore() }),
  'resolved here': unresolved,
};

for (const [place, options] of Object.entries(PLACES)) {
  describe(place, () => {
    test('pending operators are read as if they were resolved now, and resolved when the event is stored', async () => {
      const { service, session, context } = await begin({ n: 1, l: ['x'], 'app:n': 5 }, options());
      const { state } = context;
      state.increment('n');
      state.increment('n', 2);
      state.append('l', 'y', { z: 1 });
      state.append('l');
      state.setOnce('n2', 7);
      state.setOnce('n2', 8);
      state.compareAndSet('app:n', 5, 6);
      state.increment('temp:n', 4);
      const seen = { n: 4, l: ['x', 'y', { z: 1 }], 'app:n': 6, n2: 7, 'temp:n': 4 };
      assert.deepEqual(plain(state.toRecord()), seen);
      assert.deepEqual([state.get('n'), state.get('n2'), state.get('n3', 0)], [4, 7, 0]);
      assert.ok(Object.isFrozen(state.get('l')) && Object.isFrozen(state.get('l')[2]));
      assert.ok(state.has('n2') && state.hasDelta() && !state.has('n3'));
      assert.deepEqual(plain(session.state), { n: 1, l: ['x'], 'app:n': 5 });
      assert.equal(context.render('{n} {app:n} {l} {temp:n} {n2}'), '4 6 ["x","y",{"z":1}] 4 7');
      assert.equal(context.readonly.state.get('n'), 4);
      // Another writer comes first: what is read follows once the handle has moved.
      await service.updateState(KEY, () => ({ n: increment(10) }));
      const event = await context.append({});
      assert.deepEqual(operatorsOf(event), {
        n: { increment: 3 },
        l: { append: ['y', { z: 1 }] },
        n2: { setOnce: 7 },
        'app:n': { compareAndSet: { expected: 5, value: 6 } },
      });
      assert.deepEqual(plain(session.state), { ...seen, n: 14 });
      assert.deepEqual(plain(state.toRecord()), plain(session.state));
      assert.ok(!state.hasDelta());
      context.end();
    });

    test('what is stored is pending no more at the very moment when the handle shows it', async () => {
      const { session, context } = await begin({}, options());
      const seen = new Set();
      let isDone = false;
      const look = async () => {
        while (!isDone) {
          seen.add(context.state.get('n', 0) - session.state.n || 0);
          await Promise.resolve();
        }
      };
      for (let step = 0; step < 3; step++) {
        context.state.increment('n');
        const looking = look();
        await context.append({});
        isDone = true;
        await looking;
        isDone = false;
      }
      assert.ok(![...seen].some((difference) => difference > 1 || difference < 0), [...seen].join());
      assert.equal(context.state.get('n'), 3);
    });

    test('contexts of one invocation add to what the others have pending', async () => {
      const { session, context: a } = await begin({ n: 1 }, options());
      const b = a.child('b');
      a.state.increment('n');
      b.state.increment('n', 2);
      a.state.increment('n', 4);
      assert.deepEqual([a.state.get('n'), b.state.get('n')], [8, 8]);
      // The latest write is that of a: its event carries all of them.
      assert.equal(operatorsOf(await b.append({})), undefined);
      assert.deepEqual(operatorsOf(await a.append({})), { n: { increment: 7 } });
      assert.equal(session.state.n, 8);

      a.state.append('l', 1);
      b.state.append('l', 2);
      b.discard();
      assert.deepEqual(plain(a.state.get('l')), [1]);
      b.state.append('l', 3);
      a.discard();
      assert.deepEqual(plain(b.state.get('l')), [3]);
      assert.deepEqual(operatorsOf(await b.append({})), { l: { append: [3] } });
      assert.equal(operatorsOf(await a.append({})), undefined);
    });

    test('operators of parallel branches all count, in whatever order their events are appended', async () => {
      const { session, context } = await begin({}, options());
      const branches = Array.from({ length: 6 }, (_, index) => context.child(`b${index}`));
      await Promise.all(
        branches.map(async (branch, index) => {
          for (let step = 0; step < 4; step++) {
            branch.state.increment('n');
            branch.state.append('app:l', `${index}.${step}`);
            await branch.append(step % 2 === 0 ? {} : { actions: { stateDelta: { n: increment() } } });
          }
        }),
      );
      assert.equal(session.state.n, 6 * 4 + 6 * 2);
      assert.equal(new Set(session.state['app:l']).size, 24);
      assert.equal(session.state['app:l'].length, 24);
      context.end();
    });

    test('an operator over a pending value or deletion is resolved at once', async () => {
      const { session, context } = await begin({ n: 1, t: 'x' }, options());
      const { state } = context;
      state.set('n', 5);
      state.increment('n', 2);
      state.delete('t');
      state.setOnce('t', 'y');
      state.set('l', [1]);
      state.set('l', append(2));
      state.set('c', 1);
      state.compareAndSet('c', 1, 2);
      assert.throws(() => state.compareAndSet('c', 1, 3), hasCode('STATE_CONFLICT'));
      assert.throws(() => state.append('c', 3), hasCode('INVALID_ARGUMENT'));
      const event = await context.append({ actions: { stateDelta: { n: increment(), t: setOnce('z') } } });
      assert.deepEqual(plain(event.actions.stateDelta), { l: [1, 2], c: 2, n: 8, t: 'y' });
      assert.equal(operatorsOf(event), undefined);
      assert.deepEqual(plain(session.state), { n: 8, t: 'y', l: [1, 2], c: 2 });
    });

    test('a later value or deletion takes the place of pending operators', async () => {
      const { session, context } = await begin({ n: 1, m: 1 }, options());
      const b = context.child('b');
      context.state.increment('n');
      context.state.increment('m');
      b.state.set('n', 9);
      assert.ok(b.state.delete('m'));
      await b.append({});
      await context.append({});
      assert.deepEqual(plain(session.state), { n: 9 });
      context.end();
    });
  });
}

test('operators that do not go together ask for an event between them, and change nothing', async () => {
  const { context } = await begin({ n: 1 });
  const { state } = context;
  const told = (message) => (error) => {
    assert.deepEqual([error.code, error.key, error.message], ['INVALID_ARGUMENT', 'n', message]);
    return true;
  };
  state.increment('n');
  assert.throws(
    () => state.append('n', 1),
    told('append of "n" cannot follow a pending increment: append the event first'),
  );
  assert.throws(() => state.setOnce('n', 1), hasCode('INVALID_ARGUMENT'));
  assert.throws(() => state.compareAndSet('n', 1, 2), hasCode('INVALID_ARGUMENT'));
  assert.throws(() => state.update({ z: 1, n: append(1) }), hasCode('INVALID_ARGUMENT'));
  assert.ok(!state.has('z'));
  await assert.rejects(context.append({ actions: { stateDelta: { n: append(1) } } }), hasCode('INVALID_ARGUMENT'));
  state.compareAndSet('c', undefined, 1);
  assert.throws(() => state.compareAndSet('c', 1, 2), hasCode('INVALID_ARGUMENT'));
  state.increment('big', 1e308);
  assert.throws(() => state.increment('big', 1e308), hasCode('INVALID_ARGUMENT'));
  assert.throws(() => state.increment('n', NaN), hasCode('INVALID_ARGUMENT'));
  assert.throws(() => state.append('n', undefined), hasCode('VALUE_NOT_JSON'));
  assert.deepEqual(plain(state.toRecord()), { n: 2, c: 1, big: 1e308 });
  await context.append({});
  state.append('l', 1);
  await context.append({});
  context.end();
});

test('operators that do not fit what is stored read as if they were not there, and the event is refused', async () => {
  const { context } = await begin({ t: 'x' });
  context.state.increment('t');
  context.state.compareAndSet('c', 1, 2);
  assert.deepEqual([context.state.get('t'), context.state.has('c')], ['x', false]);
  assert.deepEqual(plain(context.state.toRecord()), { t: 'x' });
  await assert.rejects(context.append({}), hasCode('INVALID_ARGUMENT'));
  assert.throws(() => context.end(), /"t", "c"/);
  context.discard();
  context.end();
});

describe('an event that fails', () => {
  const failing = async (state) => {
    const plan = [];
    const before = async () => {
      const next = plan.shift();
      if (next !== undefined) await next();
    };
    return { plan, ...(await begin(state, storedWith(before))) };
  };
  const fail = () => {
    throw new Error('the connection was lost');
  };

  test('leaves its operators pending, and given again it carries the same', async () => {
    const { plan, session, context } = await failing({ n: 1, m: 1 });
    const b = context.child('b');
    context.state.increment('n');
    b.state.increment('n', 2);
    plan.push(fail);
    const given = { id: 'e', actions: { stateDelta: { m: increment() } } };
    await assert.rejects(b.append(given), hasCode('COMMIT_UNKNOWN'));
    assert.deepEqual([context.state.get('n'), context.state.get('m')], [4, 1]);
    context.state.increment('n', 10);
    assert.deepEqual(operatorsOf(await b.append(given)), { n: { increment: 3 }, m: { increment: 1 } });
    assert.deepEqual([session.state.n, context.state.get('n')], [4, 14]);
    assert.deepEqual(operatorsOf(await context.append({})), { n: { increment: 10 } });
    assert.equal(session.state.n, 14);
    context.end();
  });

  test('while another one goes through takes nothing with it', async () => {
    const { plan, session, context } = await failing({});
    const b = context.child('b');
    let refuse;
    plan.push(async () => {
      await new Promise((resolve) => (refuse = resolve));
      fail();
    });
    context.state.increment('n');
    const first = context.append({ id: 'one' });
    b.state.increment('n', 2);
    assert.equal(b.state.get('n'), 3);
    const second = b.append({ id: 'two' });
    while (refuse === undefined) await new Promise((resolve) => setImmediate(resolve));
    refuse();
    await assert.rejects(first, hasCode('COMMIT_UNKNOWN'));
    assert.deepEqual(operatorsOf(await second), { n: { increment: 2 } });
    assert.deepEqual([session.state.n, context.state.get('n')], [2, 3]);
    await context.append({ id: 'one' });
    assert.equal(session.state.n, 3);
    context.end();
  });

  test('with an operator over a pending value, given again says what it said', async () => {
    const { plan, session, context } = await failing({});
    context.state.set('n', 5);
    plan.push(fail);
    const given = { id: 'e', actions: { stateDelta: { n: increment() } } };
    await assert.rejects(context.append(given), hasCode('COMMIT_UNKNOWN'));
    context.state.set('n', 10);
    assert.equal((await context.append(given)).actions.stateDelta.n, 6);
    assert.equal(session.state.n, 6);
    context.discard();
    context.end();
  });
});

test("a State with a delta of its own takes operators as a context's does", async () => {
  const service = new SessionService();
  const session = await service.createSession({ ...KEY, state: { n: 1, l: [1] } });
  const actions = createEventActions();
  const state = new State(session.state, actions.stateDelta);
  state.increment('n');
  state.increment('n', 2);
  state.set('m', 3);
  state.increment('m');
  state.append('l', 2);
  state.setOnce('o', 1);
  state.setOnce('o', 2);
  assert.deepEqual(plain(state.toRecord()), { n: 4, l: [1, 2], m: 4, o: 1 });
  assert.deepEqual([state.get('n'), state.has('o'), state.get('l')], [4, true, [1, 2]]);
  assert.throws(() => state.append('n', 1), hasCode('INVALID_ARGUMENT'));
  await service.updateState(KEY, () => ({ n: increment(10), l: append(0), o: 9 }));
  const event = await service.appendEvent({ session, event: { author: 'a', actions } });
  assert.deepEqual(plain(session.state), { n: 14, l: [1, 0, 2], o: 9, m: 4 });
  assert.deepEqual(operatorsOf(event), { n: { increment: 3 }, l: { append: [2] }, o: { setOnce: 1 } });
  const given = new State({ n: 1 }, { n: compareAndSet(1, 2), x: DELETED, y: increment() });
  assert.deepEqual(plain(given.toRecord()), { n: 2, y: 1 });
  assert.ok(given.delete('y'));
  given.increment('y', 5);
  assert.equal(given.get('y'), 5);
});

test('what was an operator, or pretends to be one, is refused where it is written or read, and nothing else', async () => {
  const { session, context } = await begin({ n: 1 });
  const { state } = context;
  const mark = Symbol.for('statepad.operator');
  state.increment('n');
  for (const [value, code] of [
    [structuredClone(increment()), 'VALUE_NOT_JSON'],
    [JSON.parse(JSON.stringify(append(1))), 'VALUE_NOT_JSON'],
    [{ [mark]: 'junk' }, 'INVALID_ARGUMENT'],
    [{ [mark]: null }, 'INVALID_ARGUMENT'],
    [{ [mark]: { increment: 1, append: [] } }, 'INVALID_ARGUMENT'],
  ]) {
    assert.throws(() => state.set('n', value), hasCode(code));
    assert.throws(() => state.update({ m: 1, n: value }), hasCode(code));
    await assert.rejects(context.append({ actions: { stateDelta: { n: value } } }), hasCode(code));
    // Of a delta that was made elsewhere, too.
    const other = new State({ n: 1 }, { n: value });
    assert.throws(() => other.get('n'), hasCode('VALUE_NOT_JSON'));
    assert.throws(() => other.toRecord(), hasCode('VALUE_NOT_JSON'));
  }
  assert.equal(state.get('n'), 2);
  await context.append({});
  assert.deepEqual(plain(session.state), { n: 2 });
});
