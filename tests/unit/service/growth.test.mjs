// Limits, expiry and sweeps of a service: what the cases as data cannot say.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { SessionService, StoreError, append, compareAndSet, setOnce } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { exportLines, importLines } from 'statepad/jsonl';

const key = { appName: 'app', userId: 'ana', sessionId: 's' };
const { now } = Date;
afterEach(() => {
  Date.now = now;
});

/** A clock that the test turns: the store in memory has it as well. */
function clockAt(time) {
  const clock = { time };
  Date.now = () => clock.time;
  return clock;
}

const PLACES = {
  'in memory': () => ({}),
  'over a store': () => ({ store: memoryStore() }),
  'over a store that nobody else writes to': () => ({ store: { ...memoryStore(), exclusive: true } }),
};

describe('options of growth', () => {
  for (const [options, path, message] of [
    [{ limits: 5 }, 'limits', /limits must be an object/],
    [{ limits: { values: 5 } }, 'limits.values', /did you mean limits.value\?/],
    [{ limits: { value: -1 } }, 'limits.value', /must be a whole number that is not negative, or Infinity, not -1/],
    [{ limits: { events: 1.5 } }, 'limits.events', /not 1.5/],
    [{ limits: { keys: null } }, 'limits.keys', /not null/],
    [{ ttl: 0 }, 'ttl', /must be a number of milliseconds greater than 0, not 0/],
    [{ ttl: NaN }, 'ttl', /not NaN/],
    [{ userTtl: '1' }, 'userTtl', /not a string/],
    [{ sweepEvery: -1 }, 'sweepEvery', /not -1/],
  ]) {
    it(`are refused: ${JSON.stringify(options)}`, () => {
      assert.throws(() => new SessionService(options), { code: 'INVALID_ARGUMENT', path, message });
    });
  }

  for (const [options, path] of [
    [{ limits: { state: 5 } }, 'limits.state'],
    [{ limits: { keys: 5 } }, 'limits.keys'],
    [{ limits: { events: 5 } }, 'limits.events'],
    [{ ttl: 5 }, 'ttl'],
    [{ userTtl: 5 }, 'userTtl'],
    [{ sweepEvery: 5 }, 'sweepEvery'],
  ]) {
    it(`are refused over a store that cannot keep them: ${path}`, () => {
      const store = memoryStore();
      assert.throws(() => new SessionService({ store: { ...store, keeps: [], sweep: undefined }, ...options }), {
        code: 'STORE_UNSUITABLE',
        path,
      });
    });
  }

  it('hold for nothing that the service compares itself, and for nothing that is turned off', async () => {
    const store = memoryStore();
    const limits = { value: 9, delta: 9, event: 900, state: Infinity };
    const service = new SessionService({ store: { ...store, keeps: [], sweep: undefined }, limits, ttl: Infinity });
    await service.createSession({ ...key, state: { a: 1 } });
    await assert.rejects(service.createSession({ ...key, sessionId: 't', ttl: 5 }), {
      code: 'INVALID_ARGUMENT',
      path: 'ttl',
      message: 'ttl cannot be kept: the store does not keep expiry',
    });
    await assert.rejects(service.sweep(), { code: 'INVALID_ARGUMENT' });
  });
});

for (const [place, options] of Object.entries(PLACES)) {
  describe(`growth ${place}`, () => {
    it('does not stop what waits behind a write that is refused', async () => {
      const service = new SessionService({ ...options(), limits: { keys: 2 } });
      const session = await service.createSession({ ...key, state: { a: 1 } });
      const writes = [{ b: 1 }, { c: 1 }, { a: 2 }, { d: 1, e: 1 }, { b: 3 }].map((stateDelta) =>
        service.appendEvent({ session, event: { actions: { stateDelta } } }),
      );
      const outcomes = await Promise.allSettled(writes);
      assert.deepEqual(
        outcomes.map(({ reason }) => reason?.exceeded),
        [undefined, 'keys', undefined, 'keys', undefined],
      );
      assert.deepEqual((await service.getSession(key)).state, { a: 2, b: 3 });
    });

    it('refuses the writes of an invocation as a whole, and they are pending again', async () => {
      const service = new SessionService({ ...options(), limits: { value: 10 } });
      const session = await service.createSession(key);
      const context = service.invocation(session);
      context.state.set('small', 1);
      context.state.set('user:large', 'more than ten bytes');
      await assert.rejects(context.append({}), { code: 'LIMIT_EXCEEDED', key: 'user:large', id: 's', limit: 10 });
      assert.equal(context.state.get('small'), 1);
      context.state.set('user:large', 'less');
      await context.append({});
      assert.deepEqual((await service.getSession(key)).state, { small: 1, 'user:large': 'less' });
    });

    it('measures again what only its bound says is too large', async () => {
      const service = new SessionService({ ...options(), limits: { state: 200 } });
      const session = await service.createSession(key);
      for (let round = 0; round < 50; round++) {
        const stateDelta = { text: `${'x'.repeat(100)}${round % 10}`, [`k${round % 3}`]: round % 10 };
        await service.appendEvent({ session, event: { actions: { stateDelta } } });
      }
      await assert.rejects(
        service.appendEvent({ session, event: { actions: { stateDelta: { more: 'y'.repeat(90) } } } }),
        {
          code: 'LIMIT_EXCEEDED',
          exceeded: 'state',
          limit: 200,
          message:
            'the state of session "s" would have 212 bytes, and the limit is 200: delete keys, or raise limits.state',
        },
      );
    });

    it('refuses the function of an update that grows a list too far, and runs it once', async () => {
      const service = new SessionService({ ...options(), limits: { value: 6 } });
      await service.createSession({ ...key, state: { 'user:list': [1, 2] } });
      let runs = 0;
      const update = service.updateState({ appName: 'app', userId: 'ana' }, () => {
        runs += 1;
        return { 'user:list': append(3, 4) };
      });
      await assert.rejects(update, { code: 'LIMIT_EXCEEDED', exceeded: 'value', key: 'user:list', size: 9 });
      assert.equal(runs, 1);
      assert.deepEqual(await service.getUserState({ appName: 'app', userId: 'ana' }), { list: [1, 2] });
    });

    it('ends a watch of a session that has expired', async () => {
      const clock = clockAt(1000);
      const service = new SessionService(options());
      const session = await service.createSession({ ...key, ttl: 100 });
      await service.appendEvent({ session, event: {} });
      const changes = service.watch(key, { since: 0, poll: 1 });
      assert.equal((await changes.next()).value.revision, 1);
      const whole = service.watch({ ...key, whole: true }, { poll: 1 });
      assert.equal((await whole.next()).value.type, 'session');
      const [first, next] = [changes.next(), whole.next()];
      clock.time = 1100;
      assert.deepEqual((await first).value, { type: 'deleted' });
      assert.deepEqual((await next).value, { type: 'deleted' });
      await assert.rejects(service.watch(key, { poll: 1000 }).next(), { code: 'SESSION_NOT_FOUND' });
      await service.close();
    });

    it('knows nothing of a session that has expired, whoever asks', async () => {
      const clock = clockAt(1000);
      const service = new SessionService({ ...options(), ttl: 100 });
      const session = await service.createSession({ ...key, state: { 'user:x': 1, y: 2 } });
      await service.appendEvent({ session, event: { id: 'e', invocationId: 'i' } });
      assert.equal(session.expireTime, 1100);
      const lease = await service.lease(session, { ttl: 50 });
      clock.time = 1100;
      const notFound = { code: 'SESSION_NOT_FOUND', id: 's' };
      await assert.rejects(
        lease.renew(50),
        (error) => error.code === 'SESSION_NOT_FOUND' || error.code === 'LEASE_LOST',
      );
      await assert.rejects(service.appendEvent({ session, event: { id: 'e', invocationId: 'i' } }), notFound);
      await assert.rejects(service.stateAt(session, 0), notFound);
      await assert.rejects(service.history(session, 'y'), notFound);
      await assert.rejects(service.rewind(session, { before: 'i' }), notFound);
      await assert.rejects(service.fork(session), notFound);
      await assert.rejects(service.lease(session), notFound);
      await assert.rejects(service.leaseOf(session), notFound);
      await assert.rejects(
        service.updateState(key, () => ({})),
        notFound,
      );
      assert.equal(await service.getSession(key), undefined);
      assert.deepEqual((await service.listSessions({ appName: 'app' })).sessions, []);
      assert.deepEqual(await service.getUserState({ appName: 'app', userId: 'ana' }), { x: 1 });
      const access = await service.serving({});
      assert.equal(await access.events(key, { from: 1 }), undefined);
      assert.equal(await access.creation(key), undefined);
      assert.deepEqual(await access.owners('app', 's'), []);
    });

    it('ends a session at its time after the clock has gone back', async () => {
      const clock = clockAt(10_000);
      const service = new SessionService(options());
      const session = await service.createSession({ ...key, ttl: 100 });
      clock.time = 5000;
      await service.appendEvent({ session, event: {} });
      assert.equal(session.expireTime, 5100);
      clock.time = 5099;
      assert.equal((await service.getSession(key)).expireTime, 5100);
      clock.time = 5100;
      assert.equal(await service.getSession(key), undefined);
      await assert.rejects(service.appendEvent({ session, event: {} }), { code: 'SESSION_NOT_FOUND' });
      clock.time = 20_000;
      assert.deepEqual(await service.sweep(), { sessions: 1, users: 0 });
      assert.deepEqual(await service.sweep(), { sessions: 0, users: 0 });
    });

    it('leaves nothing of a fork that is refused', async () => {
      const service = new SessionService({ ...options(), limits: { events: 2 } });
      const session = await service.createSession(key);
      await service.appendEvent({ session, event: {} });
      await service.appendEvent({ session, event: {} });
      const refused = { code: 'LIMIT_EXCEEDED', exceeded: 'events', size: 3, id: 'fork' };
      await assert.rejects(service.fork(session, { sessionId: 'fork' }), refused);
      await service.createSession({ ...key, sessionId: 'fork' });
    });

    it('sweeps in slices, up to a limit, and removes values of users that nobody needs', async () => {
      const clock = clockAt(1000);
      const service = new SessionService({ ...options(), ttl: 100, userTtl: 1000 });
      for (let number = 0; number < 250; number++) {
        const state = { 'user:x': number };
        await service.createSession({ appName: 'app', userId: `u${number}`, sessionId: `s${number}`, state });
      }
      await service.createSession({ ...key, ttl: Infinity, state: { 'user:x': 1, 'app:x': 1 } });
      clock.time = 1100;
      assert.deepEqual(await service.sweep({ limit: 120 }), { sessions: 120, users: 0 });
      assert.deepEqual(await service.sweep({ appName: 'other' }), { sessions: 0, users: 0 });
      assert.deepEqual(await service.sweep(), { sessions: 130, users: 0 });
      clock.time = 2000;
      assert.deepEqual(await service.sweep(), { sessions: 0, users: 250 });
      assert.deepEqual(await service.sweep(), { sessions: 0, users: 0 });
      assert.deepEqual(await service.getUserState({ appName: 'app', userId: 'u7' }), {});
      assert.deepEqual((await service.getSession(key)).state, { 'app:x': 1, 'user:x': 1 });
      await assert.rejects(service.sweep({ limit: 0 }), { code: 'INVALID_ARGUMENT', path: 'limit' });
      const reason = new Error('enough');
      await assert.rejects(service.sweep({ signal: AbortSignal.abort(reason) }), reason);
    });

    it('keeps the end of a session in lines', async () => {
      const clock = clockAt(1000);
      const service = new SessionService(options());
      await service.createSession({ ...key, sessionId: 'fixed', expireTime: 5000 });
      await service.createSession({ ...key, sessionId: 'slides', ttl: 100 });
      await service.createSession({ ...key, sessionId: 'stays' });
      const lines = [];
      for await (const line of exportLines(service, { appName: 'app' })) {
        lines.push(line);
      }
      clock.time = 1050;
      const copy = new SessionService({ ...options(), ttl: 7 });
      await importLines(lines, copy);
      const ends = async (of) => (await of.listSessions({ appName: 'app' })).sessions.map((s) => [s.id, s.expireTime]);
      assert.deepEqual(
        new Map(await ends(copy)),
        new Map([
          ['fixed', 5000],
          ['slides', 1150],
          ['stays', undefined],
        ]),
      );
      const endless = await importLines(
        lines.map((line) => line.replace('"ttl":100', '"ttl":0')),
        new SessionService(options()),
      );
      assert.match(endless.problems[0].reason, /ttl must be a number of milliseconds greater than 0, not 0/);
      assert.equal(endless.problems.length, 1);
      clock.time = 5000;
      const late = new SessionService(options());
      const { problems } = await importLines(lines, late);
      assert.deepEqual(
        problems.map(({ reason }) => /expireTime is over/.test(reason)),
        [true, true],
      );
      assert.deepEqual(await ends(late), [['stays', undefined]]);
    });
  });
}

it('refuses no operator that leaves a value as it is, or makes it no larger', async () => {
  const store = { ...memoryStore(), resolves: [] };
  const list = [1, 2, 3, 4];
  await new SessionService({ store }).createSession({ ...key, state: { list, 'user:list': list } });
  const service = new SessionService({ store, limits: { value: 5 } });
  const session = await service.getSession(key);
  const write = async (stateDelta) => await service.appendEvent({ session, event: { actions: { stateDelta } } });
  await write({ list: setOnce(1) });
  await write({ list: compareAndSet(list, [1, 2, 3]) });
  await assert.rejects(write({ list: append(4) }), { code: 'LIMIT_EXCEEDED', exceeded: 'value', size: 9 });
  const user = { appName: 'app', userId: 'ana' };
  await service.updateState(user, () => ({ 'user:list': append() }));
  await assert.rejects(
    service.updateState(user, () => ({ 'user:list': append(5) })),
    { code: 'LIMIT_EXCEEDED', key: 'user:list', size: 11 },
  );
  assert.deepEqual((await service.getSession(key)).state, { list: [1, 2, 3], 'user:list': list });
});

it('ends a session by the clock of the store, also where nobody else writes to it', async () => {
  const clock = clockAt(1000);
  const service = new SessionService({ store: { ...memoryStore(), exclusive: true }, now: () => 0 });
  const session = await service.createSession({ ...key, ttl: 100 });
  clock.time = 1099;
  assert.equal((await service.getSession(key)).id, 's');
  clock.time = 1100;
  assert.equal(await service.getSession(key), undefined);
  await assert.rejects(service.appendEvent({ session, event: {} }), { code: 'SESSION_NOT_FOUND' });
});

it('sweeps in the background, where no other service of the store does', async () => {
  const clock = clockAt(1000);
  const store = memoryStore();
  const swept = { first: 0, second: 0 };
  let resume;
  const hasSwept = new Promise((resolve) => (resume = resolve));
  const counting = (name) => ({
    ...store,
    sweep: async (...query) => {
      swept[name] += 1;
      const answer = await store.sweep(...query);
      if (answer.sessions > 0) {
        resume();
      }
      return answer;
    },
  });
  const first = new SessionService({ store: counting('first'), sweepEvery: 1 });
  await first.createSession({ ...key, ttl: 100 });
  while (swept.first === 0) {
    await new Promise(setImmediate);
  }
  const second = new SessionService({ store: counting('second'), sweepEvery: 1 });
  await second.getSession(key);
  clock.time = 1100;
  await hasSwept;
  assert.equal(swept.second, 0);
  await first.close();
  while (swept.second === 0) {
    await new Promise(setImmediate);
  }
  await second.close();
});

it('ends a sweep in the background when the service is closed, also over a store that does not answer', async () => {
  const store = memoryStore();
  let asked;
  const isAsked = new Promise((resolve) => (asked = resolve));
  const claim = async () => {
    asked();
    return await new Promise(() => {});
  };
  const retry = { attempts: 1_000_000, pause: 0 };
  const service = new SessionService({ store: { ...store, claim }, sweepEvery: 1, timeout: 20, retry });
  await service.createSession(key);
  await isAsked;
  await service.close();
  await assert.rejects(service.getSession(key), { code: 'CLOSED' });
});

it('a limit that the store refuses after a lost answer is a refusal', async () => {
  const store = memoryStore();
  let isLost = true;
  const commit = async (change, context) => {
    if (isLost) {
      isLost = false;
      throw new Error('lost');
    }
    return await store.commit(change, context);
  };
  const service = new SessionService({
    store: { ...store, commit, commitMany: undefined },
    limits: { keys: 1 },
    retry: { pause: 0 },
  });
  await assert.rejects(service.createSession({ ...key, state: { a: 1, b: 2 } }), (error) => {
    assert.equal(error.code, 'LIMIT_EXCEEDED');
    assert.ok(error.cause instanceof StoreError);
    assert.deepEqual([error.exceeded, error.size, error.limit, error.id], ['keys', 2, 1, 's']);
    return true;
  });
  await service.createSession({ ...key, state: { a: 1 } });
});
