// The service that the crate has by itself: its past, rewinds, forks, operators and leases are those of the package.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import * as statepad from 'statepad';
import { casesOf } from '../contract/read.mjs';
import { KEY } from '../support/fixtures.mjs';
import { outcome, rawBuild } from './build.mjs';

const raw = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);
const deletedOf = (side) => side.DELETED ?? side.deleted();

/** The answers of both sides to the same program, without generated ids. */
async function both(program) {
  const answers = [];
  for (const side of [statepad, raw]) {
    let time = 0;
    const options = { now: () => ++time };
    answers.push(JSON.parse(JSON.stringify(await program(side, options))));
  }
  const [wanted, found] = answers;
  wanted.forEach((answer, index) => {
    assert.equal(JSON.stringify(found[index]), JSON.stringify(answer), `answer ${index}`);
  });
}

/** A session as a service shows it. */
async function told(service, session, marks) {
  const name = (text) => marks.indexOf(text);
  const read = await service.getSession(session);
  const events = read.events.map(({ id, invocationId, actions, ...event }) => ({
    ...event,
    id: id.length > 3 ? 'made' : id,
    invocationId: invocationId.length > 3 ? 'made' : invocationId,
    actions: {
      ...actions,
      ...(actions.rewindBeforeInvocationId?.length > 3 && {
        rewindBeforeInvocationId: name(actions.rewindBeforeInvocationId),
      }),
    },
  }));
  const past = [];
  for (let revision = 0; revision <= read.revision; revision++) {
    const state = await service.stateAt(read, revision);
    past.push([Object.keys(state), state]);
  }
  return { state: read.state, keys: Object.keys(read.state), events, revision: read.revision, past };
}

describe('the past', () => {
  test('is told as by the package', async () => {
    await both(async (side, options) => {
      const service = new side.SessionService(options);
      const deleted = deletedOf(side);
      const session = await service.createSession({ ...KEY, state: { k: 1, n: null, 'user:u': 1, 'temp:t': 1 } });
      await service.appendEvent({ session, event: { id: 'e1', actions: { stateDelta: { k: 2, 'app:a': 1 } } } });
      const early = await service.getSession(session);
      await service.appendEvent({ session, event: { id: 'e2', actions: { stateDelta: { k: deleted, n: [1] } } } });
      await service.appendEvent({ session, event: { id: 'e3', actions: { stateDelta: { k: 3, 'temp:t': 2 } } } });
      const asked = [];
      for (const handle of [session, early, { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId }]) {
        for (const revision of [0, 1, 2, 3, 4, -1, 0.5, '1', undefined]) {
          asked.push(await outcome(() => service.stateAt(handle, revision)));
        }
        for (const key of ['k', 'n', 'user:u', 'app:a', 'temp:t', 'nothing', 7]) {
          for (const given of [undefined, {}, { until: 2 }, { last: 1 }, { until: 9 }, { last: -1 }]) {
            asked.push(await outcome(() => service.history(handle, key, given)));
          }
        }
      }
      asked.push(
        Object.isFrozen(await service.stateAt(session, 1)),
        Object.isFrozen(await service.history(session, 'k')),
      );
      return asked;
    });
  });
});

const stepOf = fc.oneof(
  fc.record({
    do: fc.constant('append'),
    in: fc.constantFrom('a', 'b', 'c', 'd', ''),
    delta: fc.dictionary(
      fc.constantFrom('x', 'y', 'z', '__proto__', 'app:x', 'user:x', 'temp:x'),
      fc.oneof(fc.integer(), fc.constantFrom('DELETED', '+1', 'push', 'once', null)),
      { maxKeys: 3 },
    ),
  }),
  fc.record({ do: fc.constant('rewind'), before: fc.oneof(fc.constantFrom('a', 'b', 'c', 'd', 'e', ''), fc.nat(6)) }),
  fc.record({ do: fc.constant('redo') }),
);

test('rewinds, redos and forks after any steps are those of the package', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { maxLength: 12 }), fc.nat(12), async (steps, at) => {
      await both(async (side, options) => {
        const { SessionService, append, increment, setOnce } = side;
        const service = new SessionService(options);
        const session = await service.createSession({ ...KEY, state: { x: 0, 'user:x': 0 } });
        const marks = [];
        const writeOf = { DELETED: deletedOf(side), '+1': increment(), push: append('p'), once: setOnce(7) };
        const answers = [];
        for (const [index, step] of steps.entries()) {
          if (step.do === 'append') {
            const entries = Object.entries(step.delta).map(([key, value]) => [key, writeOf[value] ?? value]);
            const event = {
              id: `${index}`,
              invocationId: step.in,
              actions: { stateDelta: Object.fromEntries(entries) },
            };
            const answer = await outcome(() => service.appendEvent({ session, event }));
            answers.push(answer.error ?? answer.value);
          } else {
            const before = typeof step.before === 'number' ? (marks[step.before] ?? 'none') : step.before;
            const call = step.do === 'redo' ? service.redo(session) : service.rewind(session, { before });
            const { value, error } = await outcome(() => call);
            if (error === undefined) {
              marks.push(value.event.invocationId);
              assert.ok(Object.isFrozen(value) && Object.isFrozen(value.shared));
              answers.push([value.revision, value.shared]);
            } else {
              const text = error.message.replace(/"[0-9a-f-]{36}"/u, (id) => marks.indexOf(id.slice(1, -1)));
              answers.push({ ...error, message: text });
            }
          }
        }
        answers.push(await told(service, session, marks));
        assert.equal(
          JSON.stringify(session.state),
          JSON.stringify({ ...(await service.getSession(session)).state, ...temp(session) }),
        );
        const fork = await outcome(() => service.fork(session, { at, sessionId: 'fork' }));
        // The package names the revision, the other one the option.
        answers.push(fork.error ? { ...fork.error, path: undefined } : await told(service, fork.value, marks));
        return answers;
      });
    }),
    { numRuns: 150, includeErrorInReport: true },
  );
});

const temp = ({ state }) => Object.fromEntries(Object.entries(state).filter(([key]) => key.startsWith('temp:')));

describe('operators', () => {
  test('come to what the cases say', async () => {
    const { append, compareAndSet, increment, setOnce, SessionService } = raw;
    const made = (operator) =>
      operator.compareAndSet
        ? compareAndSet(operator.compareAndSet.expected, operator.compareAndSet.value)
        : operator.append
          ? append(...operator.append)
          : 'setOnce' in operator
            ? setOnce(operator.setOnce)
            : increment(operator.increment);
    const codes = { changed: 'STATE_CONFLICT', kind: 'INVALID_ARGUMENT', overflow: 'INVALID_ARGUMENT' };
    for (const { name, value, operator, result, fault } of casesOf('operators').cases) {
      const service = new SessionService();
      const state = value === undefined ? {} : { 'app:k': value };
      const session = await service.createSession({ ...KEY, state });
      const event = { actions: { stateDelta: { 'app:k': made(operator), z: 1 } } };
      const { value: stored, error } = await outcome(() => service.appendEvent({ session, event }));
      assert.equal(error?.code, codes[fault], name);
      assert.equal(error?.key, fault && 'app:k', name);
      if (fault === undefined) {
        assert.deepEqual(Object.keys(stored.actions.stateDelta), ['z', 'app:k'], name);
        assert.equal(JSON.stringify(stored.actions.stateDelta['app:k']), result, name);
        assert.equal(JSON.stringify(session.state['app:k']), result, name);
      } else {
        assert.equal(session.revision, 0, name);
      }
    }
  });

  test('are taken and refused as by the package, and either side takes those of the other', async () => {
    await both(async (side, options) => {
      const other = side === raw ? statepad : raw;
      const service = new side.SessionService(options);
      const session = await service.createSession({ ...KEY, state: { n: 1, l: [] } });
      const append = (stateDelta, more = {}) =>
        outcome(() =>
          service.appendEvent({ session, event: { id: 'e', timestamp: 5, actions: { stateDelta }, ...more } }),
        );
      const answers = [];
      const mixed = { 'temp:n': side.increment(3), n: side.increment(0.5), a: 1, l: other.append({ b: 1 }, null) };
      answers.push(await append(mixed), session.state);
      answers.push(await append(mixed), await append({ ...mixed, n: side.increment(1) }), await append({ a: 1 }));
      answers.push(await append({ 'temp:n': other.increment() }, { id: 'f' }), session.state['temp:n']);
      answers.push(await append({ n: side.compareAndSet(9, 1) }, { id: 'g' }));
      answers.push(await append({ n: [side.increment()] }, { id: 'h' }));
      answers.push(await append({ n: side.increment() }, { id: 'i', customMetadata: { statepad: 1 } }));
      answers.push(
        await append({ n: side.increment() }, { id: 'j', customMetadata: { note: 1, statepad: { own: 2 } } }),
      );
      answers.push(JSON.stringify(side.increment()), Object.isFrozen(side.append(1)));
      answers.push(structuredClone(side.compareAndSet(1, null)));
      answers.push(await append({ n: structuredClone(side.increment()) }, { id: 'k' }));
      answers.push(await append({ n: { l: [JSON.parse(JSON.stringify(side.setOnce(1)))] } }, { id: 'k' }));
      for (const make of [
        () => side.increment('1'),
        () => side.increment(NaN),
        () => side.append(new Map()),
        () => side.setOnce(),
        () => side.compareAndSet(1, () => {}),
      ]) {
        answers.push(await outcome(make));
      }
      let runs = 0;
      const target = { appName: KEY.appName, userId: KEY.userId };
      answers.push(await service.updateState(target, () => ({ 'app:c': side.increment(), 'user:l': side.append(1) })));
      answers.push(
        await outcome(() =>
          service.updateState(target, () => {
            runs += 1;
            return { 'app:c': side.compareAndSet(5, 6) };
          }),
        ),
        runs,
      );
      answers.push(await service.updateState(session, () => ({ n: side.increment(1), 'app:c': side.increment(1) })));
      return answers;
    });
  });

  test('are kept by persist as what they came to, and either side goes on with the log of the other', async () => {
    for (const [first, second] of [
      [raw, statepad],
      [statepad, raw],
    ]) {
      const records = [];
      const callbacks = {
        persist: async (changes) => void records.push(...changes.map((change) => JSON.stringify(change))),
        restore: () => records.map((record) => JSON.parse(record)),
      };
      const converse = async (side, invocationId) => {
        const service = new side.SessionService(callbacks);
        const session = await service
          .getSession(KEY)
          .then((found) => found ?? service.createSession({ ...KEY, state: { n: 0 } }));
        const stateDelta = { n: side.increment(), 'app:l': side.append(invocationId) };
        await service.appendEvent({ session, event: { invocationId, actions: { stateDelta } } });
        return [service, session];
      };
      const [one] = await converse(first, 'a');
      const [two, session] = await converse(second, 'b');
      assert.deepEqual({ ...session.state }, { n: 2, 'app:l': ['a', 'b'] });
      await two.rewind(session, { before: 'b' });
      assert.equal(session.state.n, 1);
      const service = new first.SessionService(callbacks);
      const read = await service.getSession(KEY);
      assert.equal(read.state.n, 1);
      assert.deepEqual((await service.redo(read)).event.actions.stateDelta, { n: 2 });
      const fork = await service.fork(read, { at: 1, sessionId: 'fork' });
      assert.equal((await new second.SessionService(callbacks).getSession({ ...KEY, sessionId: 'fork' })).state.n, 1);
      assert.equal(fork.revision, 2);
      assert.ok(one);
    }
  });
});

describe('leases', () => {
  /** A lease as text. */
  const shown = ({ token, until, signal }) => [token, until, signal.aborted, signal.reason?.code];

  test('are given, kept and lost as by the package', async () => {
    await both(async (side) => {
      let time = 1000;
      const service = new side.SessionService({ now: () => time });
      const session = await service.createSession(KEY);
      const other = await service.getSession(session);
      const event = (id) => ({ id, invocationId: 'i', actions: { stateDelta: { n: 1 } } });
      const answers = [];
      const note = async (call) => {
        const { value, error } = await outcome(call);
        answers.push(error === undefined ? typeof value : [error.code, error.id]);
      };
      const first = await service.lease(session, { ttl: 100 });
      answers.push(shown(first), first.session === session);
      await note(() => service.lease(other, { ttl: 100 }));
      answers.push((await service.lease(other).catch((error) => error)).until);
      await note(() => service.appendEvent({ session, event: event('mine') }));
      await note(() => service.appendEvent({ session: other, event: event('other') }));
      time = 1100;
      await note(() => service.appendEvent({ session, event: event('late') }));
      await first.renew(50);
      answers.push(shown(first));
      time = 1150;
      const second = await service.lease(other, { ttl: 1000 });
      answers.push(shown(second), second.session === other);
      await note(() => service.appendEvent({ session, event: event('lost'), expectedRevision: 0 }));
      await note(() => service.appendEvent({ session, event: event('mine') }));
      answers.push(shown(first));
      await note(() => service.updateState(session, () => ({ n: 2 })));
      await note(() => service.rewind(session, { before: 'i' }));
      await note(() => first.renew());
      await note(() => first.release());
      await note(() => service.appendEvent({ session, event: event('still') }));
      await note(() => service.rewind(other, { before: 'i' }));
      await second.release();
      await second.release();
      await note(() => service.appendEvent({ session: other, event: event('free') }));
      await note(() => second.renew());
      const third = await service.lease({ appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId });
      answers.push(shown(third), third.session === session, third.session.revision);
      await third[Symbol.asyncDispose]();
      for (const options of [{ ttl: 0 }, { ttl: 1.5 }, { ttl: '1' }, { tll: 1 }, { ttl: 2 ** 31 }]) {
        const { error } = await outcome(() => service.lease(session, options));
        answers.push([error.code, error.path, error.message]);
      }
      await note(() => service.deleteSession(session));
      await service.deleteSession(other);
      await note(() => service.lease(session));
      return answers;
    });
  });
});
