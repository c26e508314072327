// Operators in deltas: resolved at commit, in memory, by a store that resolves them, and over stores that do not.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DELETED,
  SessionService,
  append,
  compareAndSet,
  createEvent,
  increment,
  isStatepadError,
  setOnce,
} from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, USER, hasCode } from '../../support/fixtures.mjs';

const key = Buffer.alloc(32, 7).toString('base64');
const unresolved = (more = {}) => ({ ...memoryStore(), resolves: undefined, ...more });

/** The places of the sessions: two services over one place, where that can be. */
const PLACES = {
  'in memory': () => undefined,
  'over a store that resolves them': () => memoryStore(),
  'over a store that resolves none': () => unresolved(),
  'over a store that resolves some': () => unresolvedPart(),
  'over a store that compares keys alone': () => unresolved({ guards: 'keys' }),
  'over an encrypted store': () =>
    encryptedStore(memoryStore(), { keys: [{ id: '1', key: Buffer.from(key, 'base64') }] }),
};

/** A store that resolves only increments has to be given all operators of a change, or none. */
function unresolvedPart() {
  const inner = memoryStore();
  const commit = async (change, context) => {
    const parts = Object.values(change.operators ?? {});
    assert.ok(parts.every((part) => Object.values(part).every((operator) => 'increment' in operator)));
    return await inner.commit(change, context);
  };
  return { ...inner, resolves: ['increment'], commit, commitMany: undefined };
}

const all = async (lines) => {
  const list = [];
  for await (const line of lines) list.push(line);
  return list;
};

function servicesAt(open) {
  const store = open();
  const one = new SessionService(store && { store });
  return { one, other: store === undefined ? one : new SessionService({ store }), store };
}

const event = (stateDelta, more = {}) => ({ author: 'agent', timestamp: 1, ...more, actions: { stateDelta } });

/** For `assert.rejects`: an error that names a key. */
const refusedFor = (code, name) => (error) => {
  assert.ok(isStatepadError(error), error?.stack);
  assert.deepEqual([error.code, error.key], [code, name], error.message);
  const [, bare] = name.split(':');
  assert.ok(
    [name, bare].some((each) => error.message.includes(`"${each}"`)),
    error.message,
  );
  return true;
};

for (const [place, open] of Object.entries(PLACES)) {
  describe(place, () => {
    test('an event with operators has what they came to, and the log and the state have it, too', async () => {
      const { one, other } = servicesAt(open);
      const state = { n: 1, l: [1], t: 'x', 'app:n': 5, 'user:once': null };
      const session = await one.createSession({ ...KEY, state });
      const stored = await one.appendEvent({
        session,
        event: event({
          n: increment(2),
          a: 1,
          l: append({ b: 2 }, 3),
          'app:n': increment(),
          'app:new': increment(-0.5),
          'user:once': setOnce(7),
          'user:other': setOnce([7]),
          t: compareAndSet('x', 'y'),
          gone: compareAndSet(undefined, { z: 1 }),
          b: 2,
        }),
      });
      const results = {
        n: 3,
        l: [1, { b: 2 }, 3],
        'app:n': 6,
        'app:new': -0.5,
        'user:once': null,
        'user:other': [7],
        t: 'y',
        gone: { z: 1 },
      };
      assert.deepEqual(plain(stored.actions.stateDelta), { a: 1, b: 2, ...results });
      assert.deepEqual(Object.keys(stored.actions.stateDelta), ['a', 'b', ...Object.keys(results)].sort(byGiven));
      assert.deepEqual(plain(stored.customMetadata.statepad.operators), {
        n: { increment: 2 },
        l: { append: [{ b: 2 }, 3] },
        'app:n': { increment: 1 },
        'app:new': { increment: -0.5 },
        'user:once': { setOnce: 7 },
        'user:other': { setOnce: [7] },
        t: { compareAndSet: { expected: 'x', value: 'y' } },
        gone: { compareAndSet: { value: { z: 1 } } },
      });
      assert.ok(isDeepFrozen(stored));
      const after = { ...state, a: 1, b: 2, ...results };
      assert.deepEqual(plain(session.state), after);
      const read = await other.getSession(KEY);
      assert.deepEqual(plain(read.state), after);
      assert.deepEqual(plain(read.events), [plain(stored)]);
      assert.deepEqual(Object.keys(read.state), Object.keys(session.state));
      assert.deepEqual(plain(await other.stateAt(read, 0)).n, 1);
      assert.deepEqual(plain(await other.stateAt(read, 1)), after);
      assert.deepEqual(
        (await other.history(read, 'app:n')).map(({ from, to }) => [from, to]),
        [
          [undefined, 5],
          [5, 6],
        ],
      );
      const { sessions } = await other.listSessions(USER);
      assert.deepEqual(plain(sessions[0].state), after);
    });

    test('what does not fit is refused by its key, and nothing is written', async () => {
      const { one, other } = servicesAt(open);
      const session = await one.createSession({ ...KEY, state: { n: 1, t: 'x', 'app:t': 'x', big: 1e308 } });
      const cases = [
        [{ t: increment() }, 'INVALID_ARGUMENT', 't'],
        [{ 'app:t': increment() }, 'INVALID_ARGUMENT', 'app:t'],
        [{ n: append(1) }, 'INVALID_ARGUMENT', 'n'],
        [{ big: increment(1e308) }, 'INVALID_ARGUMENT', 'big'],
        [{ n: compareAndSet(2, 3) }, 'STATE_CONFLICT', 'n'],
        [{ n: compareAndSet(undefined, 3) }, 'STATE_CONFLICT', 'n'],
        [{ 'user:n': compareAndSet(null, 3) }, 'STATE_CONFLICT', 'user:n'],
      ];
      for (const [delta, code, name] of cases) {
        await assert.rejects(
          one.appendEvent({ session, event: event({ a: 1, 'app:a': 1, o: setOnce(1), ...delta }) }),
          refusedFor(code, name),
        );
        await assert.rejects(
          one.updateState(KEY, () => delta),
          refusedFor(code, name),
        );
      }
      assert.equal(session.revision, 0);
      assert.deepEqual(plain((await other.getSession(KEY)).state), { n: 1, t: 'x', big: 1e308, 'app:t': 'x' });
      await one.appendEvent({ session, event: event({ n: increment() }) });
      assert.equal(session.state.n, 2);
    });

    test('an event of the same id is judged by what was asked for', async () => {
      const { one, other } = servicesAt(open);
      const session = await one.createSession({ ...KEY, state: { n: 1, 'app:n': 1 } });
      const given = () => event({ n: increment(), 'app:n': increment(), c: compareAndSet(undefined, 1) }, { id: 'e' });
      const stored = await one.appendEvent({ session, event: given() });
      await other.updateState(KEY, () => ({ n: increment(), 'app:n': increment() }));
      const again = await one.appendEvent({ session, event: given() });
      assert.deepEqual(plain(again), plain(stored));
      const theirs = await other.getSession(KEY);
      assert.deepEqual(plain(await other.appendEvent({ session: theirs, event: given() })), plain(stored));
      // As a reader has it.
      assert.deepEqual(plain(await other.appendEvent({ session: theirs, event: stored })), plain(stored));
      assert.deepEqual(plain((await other.getSession(KEY)).state), { n: 3, c: 1, 'app:n': 3 });
      const others = [
        event({ n: increment(2), 'app:n': increment(), c: compareAndSet(undefined, 1) }, { id: 'e' }),
        event({ n: 2, 'app:n': increment(), c: compareAndSet(undefined, 1) }, { id: 'e' }),
        event({ n: increment(), 'app:n': increment(), c: 1 }, { id: 'e' }),
        event({ n: increment(), 'app:n': increment(), c: compareAndSet(undefined, 1), x: 1 }, { id: 'e' }),
        { ...given(), author: 'other' },
        { ...stored, actions: { ...stored.actions, stateDelta: { ...stored.actions.stateDelta, n: 9 } } },
      ];
      for (const each of others) {
        await assert.rejects(one.appendEvent({ session, event: each }), hasCode('EVENT_ID_CONFLICT'));
      }
    });

    test('temp: keys are resolved on the handle, and never stored', async () => {
      const { one, other } = servicesAt(open);
      const session = await one.createSession(KEY);
      const put = async (delta, more) => await one.appendEvent({ session, event: event(delta, more) });
      const stored = await put({ 'temp:n': increment(), 'temp:l': append(1) });
      assert.equal(stored.customMetadata, undefined);
      await put({ 'temp:n': increment(2), 'temp:l': append(2), n: increment() });
      assert.deepEqual(plain(session.state), { n: 1, 'temp:n': 3, 'temp:l': [1, 2] });
      await assert.rejects(put({ 'temp:l': increment(), n: increment() }), refusedFor('INVALID_ARGUMENT', 'temp:l'));
      await assert.rejects(put({ 'temp:n': compareAndSet(1, 2) }), refusedFor('STATE_CONFLICT', 'temp:n'));
      assert.deepEqual(plain(session.state), { n: 1, 'temp:n': 3, 'temp:l': [1, 2] });
      const read = await other.getSession(KEY);
      assert.deepEqual([plain(read.state), read.revision], [{ n: 1 }, 2]);
      assert.ok(!JSON.stringify(read.events).includes('temp:'));
      // The user begins another invocation, in which there are none yet.
      await put({ 'temp:n': increment() }, { author: 'user', invocationId: 'next' });
      assert.equal(session.state['temp:n'], 1);
    });

    test('expectedRevision is told from what an operator finds', async () => {
      const { one, other } = servicesAt(open);
      if (open() !== undefined && open().guards === 'keys') return;
      const session = await one.createSession({ ...KEY, state: { n: 1 } });
      await other.updateState(KEY, () => ({ n: increment() }));
      await assert.rejects(
        one.appendEvent({ session, event: event({ n: increment() }), expectedRevision: 0 }),
        hasCode('SESSION_STALE'),
      );
      await one.appendEvent({ session, event: event({ n: increment() }), expectedRevision: 1 });
      assert.equal(session.state.n, 3);
    });

    test('updates answer with operators, and get the values after them', async () => {
      const { one, other } = servicesAt(open);
      await one.createSession({ ...KEY, state: { n: 1, 'app:n': 1, 'user:l': [] } });
      let runs = 0;
      const update = async (service, target, delta) =>
        plain(
          await service.updateState(target, (state) => {
            runs += 1;
            return typeof delta === 'function' ? delta(state) : delta;
          }),
        );
      assert.deepEqual(await update(one, USER, { 'app:n': increment(), 'user:l': append(1) }), {
        'app:n': 2,
        'user:l': [1],
      });
      assert.deepEqual(await update(other, { appName: 'app' }, { 'app:n': increment() }), { 'app:n': 3 });
      assert.deepEqual(
        await update(one, KEY, (state) => ({ n: increment(state['app:n']), 'app:n': increment(), 'user:x': DELETED })),
        { n: 4, 'app:n': 4, 'user:l': [1] },
      );
      assert.equal(runs, 3);
      for (const target of [USER, KEY, { appName: 'app' }]) {
        await assert.rejects(
          update(other, target, { 'app:n': compareAndSet(3, 9) }),
          refusedFor('STATE_CONFLICT', 'app:n'),
        );
      }
      // It is not tried again: what it was compared with will not come back.
      assert.equal(runs, 6);
      const { events } = await other.getSession(KEY);
      assert.deepEqual(plain(events[0].customMetadata.statepad), {
        deleted: ['user:x'],
        operators: { n: { increment: 3 }, 'app:n': { increment: 1 } },
      });
    });

    test('what is exported is plain, and opened it is the same', async () => {
      const { one } = servicesAt(open);
      const session = await one.createSession({ ...KEY, state: { n: 1, 'app:n': 1 } });
      await one.appendEvent({ session, event: event({ n: increment(), 'app:n': increment(), l: append(1) }) });
      await one.appendEvent({ session, event: event({ n: increment(), l: append(2), x: DELETED }) });
      const lines = await all(exportLines(one, KEY));
      assert.deepEqual(
        lines.filter((line) => line.includes('"event"')).map((line) => JSON.parse(line).event.actions.stateDelta),
        session.events.map(({ actions }) => plain(actions.stateDelta)),
      );
      for (const store of [undefined, memoryStore(), unresolved()]) {
        const { service } = await openLines(lines, store && { store });
        assert.deepEqual(await all(exportLines(service, KEY)), lines);
        const opened = await service.getSession(KEY);
        assert.deepEqual(plain(opened.state), plain(session.state));
        assert.deepEqual(plain(opened.events), plain(session.events));
      }
    });
  });
}

const given = ['a', 'b', 'n', 'l', 'app:n', 'app:new', 'user:once', 'user:other', 't', 'gone'];
function byGiven(one, two) {
  return given.indexOf(one) - given.indexOf(two);
}

function isDeepFrozen(value) {
  return (
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeepFrozen))
  );
}

describe('what is given as an operator', () => {
  const refused = async (delta, code, ...words) => {
    const service = new SessionService();
    const session = await service.createSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: event(delta) }), (error) => {
      assert.equal(error.code, code);
      assert.ok(
        words.every((word) => error.message.includes(word)),
        error.message,
      );
      return true;
    });
    assert.equal(session.revision, 0);
  };

  test('is the whole value of a key in a delta, and nothing else', async () => {
    await refused({ x: { n: increment() } }, 'VALUE_NOT_JSON', 'actions.stateDelta["x"].n', 'operator');
    await refused({ x: [increment()] }, 'VALUE_NOT_JSON', 'actions.stateDelta["x"][0]', 'operator');
    const service = new SessionService();
    await assert.rejects(service.createSession({ ...KEY, state: { n: increment() } }), (error) => {
      assert.deepEqual([error.code, error.key], ['INVALID_ARGUMENT', 'n']);
      return true;
    });
    const session = await service.createSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: { content: increment() } }), hasCode('VALUE_NOT_JSON'));
  });

  test('is made of numbers and JSON', () => {
    for (const by of [NaN, Infinity, '1', null, 1n]) {
      assert.throws(() => increment(by), hasCode('INVALID_ARGUMENT'));
    }
    assert.throws(() => append(1, undefined), hasCode('VALUE_NOT_JSON'));
    assert.throws(() => setOnce(undefined), hasCode('VALUE_NOT_JSON'));
    assert.throws(() => setOnce(increment()), hasCode('VALUE_NOT_JSON'));
    assert.throws(() => compareAndSet(1, undefined), hasCode('VALUE_NOT_JSON'));
    assert.throws(() => compareAndSet(new Map(), 1), hasCode('VALUE_NOT_JSON'));
    assert.ok(Object.isFrozen(increment()));
  });

  test('does not change with what it was made of', async () => {
    const service = new SessionService();
    const session = await service.createSession(KEY);
    const item = { a: 1 };
    const operator = append(item);
    item.a = 2;
    await service.appendEvent({ session, event: createEvent({ actions: { stateDelta: { l: operator } } }) });
    assert.deepEqual(plain(session.state), { l: [{ a: 1 }] });
  });

  test('of another copy of the package is known by its brand, and refused when it is not known here', async () => {
    const brand = Symbol.for('statepad.operator');
    const service = new SessionService();
    const session = await service.createSession(KEY);
    const stateDelta = { n: { [brand]: { increment: 2 } } };
    await service.appendEvent({ session, event: event(stateDelta) });
    assert.equal(session.state.n, 2);
    await refused({ n: { [brand]: { double: true } } }, 'INVALID_ARGUMENT', '"n"');
    await refused({ n: { [brand]: { increment: '1' } } }, 'INVALID_ARGUMENT', '"n"');
  });

  test('is refused by name over a store that can do nothing for it', async () => {
    const service = new SessionService({ store: unresolved({ guards: 'none' }) });
    const session = await service.createSession(KEY);
    const told = (error) => {
      assert.deepEqual([error.code, error.key], ['INVALID_ARGUMENT', 'app:n']);
      assert.match(error.message, /increment of "app:n" .* does not resolve it, and compares no values/);
      return true;
    };
    const delta = () => ({ a: 1, 'app:n': increment() });
    await assert.rejects(service.appendEvent({ session, event: event(delta()) }), told);
    await assert.rejects(service.updateState(KEY, delta), told);
    await assert.rejects(
      service.updateState({ appName: 'app' }, () => ({ 'app:n': increment() })),
      told,
    );
    const resolving = new SessionService({ store: { ...memoryStore(), guards: 'none' } });
    const theirs = await resolving.createSession(KEY);
    await resolving.appendEvent({ session: theirs, event: event(delta()) });
    assert.deepEqual(plain(theirs.state), { a: 1, 'app:n': 1 });
    // Of temp: keys there is nothing to keep.
    await service.appendEvent({ session, event: event({ 'temp:n': increment() }) });
    assert.equal(session.state['temp:n'], 1);
  });
});
