// What a service does when its store fails: row by row of what a store may say, and of what it may not say.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError, isStatepadError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../contract/read.mjs';
import { KEY, connectionLost, hasCode, setting } from '../support/fixtures.mjs';

const retry = { attempts: 3, pause: 1 };

/**
 * A store whose next commits go as they are told to: `before` throws and writes nothing, `after` writes and then
 * throws, `hang` writes and never answers, `hangs` never does either.
 */
function faulty(inner = memoryStore(), many = true) {
  const plan = [];
  const seen = [];
  const one = async (change, context) => {
    seen.push(change.id);
    const { before, after, hang, hangs } = plan.shift() ?? {};
    if (before !== undefined) throw before;
    if (hangs) return await new Promise(() => undefined);
    const committed = await inner.commit(change, context);
    if (hang) return await new Promise(() => undefined);
    if (after !== undefined) throw after;
    return committed;
  };
  const store = { ...inner, watch: undefined, commit: one };
  if (many) {
    store.commitMany = async (changes, context) => {
      const answers = [];
      for (const change of changes) {
        answers.push(
          await one(change, context).catch((error) => {
            if (error instanceof StoreError) return error;
            throw error;
          }),
        );
      }
      return answers;
    };
  } else {
    delete store.commitMany;
  }
  return { store, plan, seen, inner };
}

async function open(options = {}, many = true) {
  const fault = faulty(memoryStore(), many);
  const service = new SessionService({ store: fault.store, retry, timeout: 50, ...options });
  const session = await service.createSession({ ...KEY, state: { x: 1, 'app:y': 1, 'user:z': 1 } });
  fault.seen.length = 0;
  return { ...fault, service, session };
}

/** What the store itself has, asked past the service. */
async function stored({ inner }, of = KEY) {
  return await inner.load(of, {}, { signal: new AbortController().signal });
}

const unavailable = () => new StoreError('unavailable', 'too many connections');

for (const many of [true, false]) {
  describe(many ? 'a store that takes many changes at once' : 'a store that takes one change at a time', () => {
    const opened = (options) => open(options, many);

    test('unavailable: it is tried again, and written once', async () => {
      const context = await opened();
      context.plan.push({ before: unavailable() }, { before: unavailable() });
      await context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) });
      assert.deepEqual(context.seen, ['e', 'e', 'e']);
      assert.equal(context.session.state.x, 2);
      assert.equal((await stored(context)).events.length, 1);
    });

    test('unavailable for too long: STORE_UNAVAILABLE, nothing has changed, and the next append goes on', async () => {
      const context = await opened();
      const before = plain(context.session);
      context.plan.push(...Array.from({ length: 3 }, () => ({ before: unavailable() })));
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2, 'temp:t': 1 }, { id: 'e' }) }),
        (error) => {
          assert.ok(hasCode('STORE_UNAVAILABLE')(error));
          assert.equal(error.cause.code, 'unavailable');
          return true;
        },
      );
      assert.deepEqual(plain(context.session), before);
      assert.equal((await stored(context)).events.length, 0);
      await context.service.appendEvent({ session: context.session, event: setting({ x: 3 }) });
      assert.equal(context.session.revision, 1);
    });

    for (const [name, fault] of [
      ['an error that says nothing', { after: connectionLost() }],
      ['no answer in time', { hang: true }],
      ['something that is no error', { after: 'oops' }],
      ['undefined', { after: null }],
    ]) {
      test(`written, then ${name}: the same id is sent again, stored once, acknowledged`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const event = await context.service.appendEvent({
          session: context.session,
          event: setting({ x: 2, 'app:y': 2, 'temp:t': 1 }, { id: 'e' }),
        });
        assert.equal(event.id, 'e');
        assert.deepEqual(context.seen, ['e', 'e']);
        assert.deepEqual(plain(context.session.state), { x: 2, 'app:y': 2, 'user:z': 1, 'temp:t': 1 });
        assert.deepEqual(
          context.session.events.map(({ id }) => id),
          ['e'],
        );
        const { events, pos } = await stored(context);
        assert.deepEqual([events.length, pos], [1, { app: 2, user: 1 }]);
      });

      test(`creation: written, then ${name}: one session`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const session = await context.service.createSession({ ...KEY, sessionId: 't', state: { 'app:y': 5, n: 1 } });
        assert.deepEqual(plain(session.state), { n: 1, 'app:y': 5, 'user:z': 1 });
        assert.equal((await stored(context, { ...KEY, sessionId: 't' })).pos.app, 2);
        assert.equal((await context.service.listSessions(KEY)).totalItems, 2);
      });

      test(`update: written, then ${name}: made once`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const add = (state) => ({ 'app:n': (state['app:n'] ?? 0) + 1 });
        assert.equal((await context.service.updateState({ appName: 'app' }, add))['app:n'], 1);
        assert.equal((await context.service.getAppState(KEY)).n, 1);
        context.plan.push(fault);
        assert.equal((await context.service.updateState(KEY, add))['app:n'], 2);
        assert.equal((await stored(context)).events.length, 1);
      });
    }

    test('it stays unknown: COMMIT_UNKNOWN, nothing has changed here, and what was written shows at the next use', async () => {
      const context = await opened();
      const before = plain(context.session);
      context.plan.push({ after: connectionLost() }, { before: connectionLost() }, { before: unavailable() });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        (error) => {
          assert.ok(hasCode('COMMIT_UNKNOWN')(error));
          assert.equal(error.id, 'e');
          return true;
        },
      );
      assert.deepEqual(plain(context.session), before, 'the handle is not ahead');
      await context.service.appendEvent({ session: context.session, event: setting({ y: 3 }, { id: 'f' }) });
      assert.deepEqual(
        context.session.events.map(({ id }) => id),
        ['e', 'f'],
      );
      assert.equal(context.session.state.x, 2);
    });

    test('it stays unknown, and was not written: nothing shows', async () => {
      const context = await opened();
      context.plan.push(...Array.from({ length: 3 }, () => ({ before: connectionLost() })));
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        hasCode('COMMIT_UNKNOWN'),
      );
      assert.equal((await context.service.getSession(KEY)).revision, 0);
      const again = await context.service.appendEvent({
        session: context.session,
        event: setting({ x: 2 }, { id: 'e' }),
      });
      assert.equal(again.id, 'e');
    });

    test('rejected: told at once, and what waits behind it goes on', async () => {
      const context = await opened();
      context.plan.push({ before: new StoreError('rejected', 'too big', { size: 9, limit: 5 }) });
      const bad = context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'bad' }) });
      const good = context.service.appendEvent({ session: context.session, event: setting({ y: 2 }, { id: 'good' }) });
      await assert.rejects(bad, (error) => hasCode('LIMIT_EXCEEDED')(error) && error.size === 9 && error.limit === 5);
      await good;
      assert.deepEqual(context.seen, ['bad', 'good']);
      assert.deepEqual(plain(context.session.state), { x: 1, y: 2, 'app:y': 1, 'user:z': 1 });
      context.plan.push({ before: new StoreError('rejected', 'odd') });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('INVALID_ARGUMENT'),
      );
    });

    test('corrupt: STORE_CORRUPT for that session, never overwritten, while the others go on', async () => {
      const context = await opened();
      const other = await context.service.createSession({ ...KEY, sessionId: 't' });
      const { load, commit } = context.store;
      const isBad = ({ sessionId }) => sessionId === 's';
      const corrupt = () => new StoreError('corrupt', 'the session "s" cannot be read');
      context.store.load = async (of, ...more) => {
        if (isBad(of)) throw corrupt();
        return await load(of, ...more);
      };
      await assert.rejects(context.service.getSession(KEY), hasCode('STORE_CORRUPT'));
      context.plan.push({ before: corrupt() });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('STORE_CORRUPT'),
      );
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 3 }) }),
        hasCode('STORE_CORRUPT'),
      );
      await context.service.appendEvent({ session: other, event: setting({ 'user:z': 4 }) });
      assert.equal(other.state['user:z'], 4);
      assert.equal((await stored(context)).rev, 0);
      assert.equal(typeof commit, 'function');
    });

    test('not-found: somebody else has deleted the session', async () => {
      const context = await opened();
      await context.inner.remove(KEY, {});
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('SESSION_NOT_FOUND'),
      );
      assert.equal(await context.service.getSession(KEY), undefined);
      await context.service.createSession(KEY);
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('SESSION_NOT_FOUND'),
      );
      assert.equal((await context.service.getSession(KEY)).revision, 0, 'nothing comes back to life');
    });

    test('exists: somebody else has created the session', async () => {
      const context = await opened();
      const theirs = new SessionService({ store: context.inner });
      await theirs.createSession({ ...KEY, sessionId: 't', state: { n: 1 } });
      await assert.rejects(
        context.service.createSession({ ...KEY, sessionId: 't', state: { n: 2, 'app:y': 9 } }),
        hasCode('SESSION_EXISTS'),
      );
      assert.equal((await context.service.getOrCreateSession({ ...KEY, sessionId: 't' })).state.n, 1);
      assert.equal((await context.service.getAppState(KEY)).y, 1);
    });

    test('conflict: the update function runs again over what is there', async () => {
      const context = await opened();
      const theirs = new SessionService({ store: context.inner });
      const seen = [];
      const result = await context.service.updateState(KEY, async (state) => {
        seen.push(state.x);
        if (seen.length === 1) {
          await theirs.appendEvent({ session: await theirs.getSession(KEY), event: setting({ x: 10 }) });
        }
        return { x: state.x + 1 };
      });
      assert.deepEqual([seen, result.x], [[1, 10], 11]);
    });

    test('a store that answers with nonsense is a store that says nothing', async () => {
      const context = await opened();
      const { commit, commitMany } = context.store;
      let isOdd = true;
      const odd = (answer) => (isOdd ? undefined : answer);
      context.store.commit = async (...given) => odd(await commit(...given));
      if (commitMany) context.store.commitMany = async (...given) => odd(await commitMany(...given)) ?? [];
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        hasCode('COMMIT_UNKNOWN'),
      );
      isOdd = false;
      await context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) });
      assert.equal(context.session.revision, 1);
    });
  });
}

describe('whatever a store throws, handle and memory are never ahead of it', () => {
  const thrown = {
    'an error': new Error('x'),
    'a string': 'x',
    undefined,
    null: null,
    'a number': 1,
    'a frozen object': Object.freeze({}),
    'a conflict': new StoreError('conflict', 'x'),
    'a lie: exists': new StoreError('exists', 'x'),
    'a StoreError of no known code': new StoreError('odd', 'x'),
    'an object that looks like one': { code: 'conflict' },
    'an abort': new DOMException('x', 'AbortError'),
  };
  for (const [name, error] of Object.entries(thrown)) {
    for (const when of ['before', 'after']) {
      test(`${name}, ${when} the write`, async () => {
        const context = await open();
        const before = plain(context.session);
        const fail = { [when]: error ?? null };
        const plan = () => {
          context.plan.length = 0;
          context.plan.push(fail, fail, fail);
        };
        const attempts = [
          () =>
            context.service.appendEvent({
              session: context.session,
              event: setting({ x: 2, 'app:y': 2, 'user:z': 2, 'temp:t': 2 }, { id: 'e' }),
            }),
          () => context.service.updateState(KEY, () => ({ x: 3 }), { attempts: 1 }),
          () => context.service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'user:z': 4 }), { attempts: 1 }),
          () => context.service.createSession({ ...KEY, sessionId: 't', state: { 'app:y': 5 } }),
        ];
        for (const attempt of attempts) {
          plan();
          const outcome = await attempt().then(
            () => 'resolved',
            (rejected) => rejected,
          );
          context.plan.length = 0;
          const now = await stored(context);
          if (outcome === 'resolved') {
            assert.equal(when, 'after', 'what is acknowledged is stored');
            continue;
          }
          assert.ok(isStatepadError(outcome), `${outcome}`);
          assert.ok(context.session.revision <= now.rev);
          if (when === 'before') {
            assert.equal(now.rev, 0);
            assert.deepEqual(plain(context.session), before);
          }
        }
        const read = await context.service.getSession(KEY);
        const now = await stored(context);
        assert.equal(read.revision, now.rev);
        assert.deepEqual(plain(read.state), {
          ...plain(now.state.session),
          'app:y': now.state.app.y,
          'user:z': now.state.user.z,
        });
      });
    }
  }
});

describe('a store that cannot be read', () => {
  test('is asked again, then STORE_UNAVAILABLE', async () => {
    const context = await open();
    const { load } = context.store;
    let fails = 2;
    context.store.load = async (...given) => {
      if (fails-- > 0) throw connectionLost();
      return await load(...given);
    };
    assert.equal((await context.service.getSession(KEY)).state.x, 1);
    fails = 3;
    await assert.rejects(context.service.getSession(KEY), hasCode('STORE_UNAVAILABLE'));
    assert.equal((await context.service.getSession(KEY)).state.x, 1);
  });

  test('cannot be opened: STORE_UNAVAILABLE, and tried again at the next call', async () => {
    let isBad = true;
    let opened = 0;
    const store = {
      ...memoryStore(),
      open: async ({ migrate }) => {
        opened++;
        assert.equal(migrate, 'check');
        if (isBad) throw new StoreError('rejected', 'the schema is too new');
      },
    };
    const service = new SessionService({ store, migrate: 'check', retry });
    await assert.rejects(
      service.createSession(KEY),
      (error) => hasCode('STORE_UNAVAILABLE')(error) && error.message.includes('the schema is too new'),
    );
    isBad = false;
    await service.createSession(KEY);
    await service.getSession(KEY);
    assert.equal(opened, 2);
  });

  test('what was stored is acknowledged, also when it cannot be read back at once', async () => {
    const context = await open();
    const theirs = new SessionService({ store: context.inner });
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: setting({ x: 7 }, { id: 'theirs' }) });
    const { load } = context.store;
    context.store.load = async () => {
      throw connectionLost();
    };
    const event = await context.service.appendEvent({
      session: context.session,
      event: setting({ y: 1 }, { id: 'e' }),
    });
    assert.equal(event.id, 'e');
    assert.equal(context.session.revision, 0, 'behind, not ahead');
    context.store.load = load;
    await context.service.appendEvent({ session: context.session, event: setting({ y: 2 }, { id: 'f' }) });
    assert.deepEqual(
      context.session.events.map(({ id }) => id),
      ['theirs', 'e', 'f'],
    );
  });
});

describe('group commit', () => {
  test('changes that wait together go together, one of each session, and one that fails fails alone', async () => {
    const calls = [];
    const inner = memoryStore();
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const store = {
      ...inner,
      watch: undefined,
      commit: async (change, context) => {
        calls.push([change]);
        if (calls.length === 1) await held;
        return await inner.commit(change, context);
      },
      commitMany: async (changes, context) => {
        calls.push(changes);
        return await Promise.all(
          changes.map(async (change) =>
            change.id === 'bad' ? new StoreError('rejected', 'bad') : await inner.commit(change, context),
          ),
        );
      },
    };
    const service = new SessionService({ store, retry, timeout: 60_000 });
    release();
    const sessions = [];
    for (const id of ['1', '2', '3']) sessions.push(await service.createSession({ ...KEY, sessionId: id }));
    calls.length = 0;
    const outcomes = await Promise.allSettled(
      sessions.flatMap((session, index) =>
        ['a', 'b', 'c'].map((id) =>
          service.appendEvent({
            session,
            event: setting({ [id]: 1, 'app:n': index }, { id: index === 1 && id === 'b' ? 'bad' : id }),
          }),
        ),
      ),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      [true, true, true, true, false, true, true, true, true],
    );
    assert.ok(
      calls.some((changes) => changes.length === 3),
      'the three sessions went together',
    );
    for (const changes of calls) {
      const names = changes.map((change) => change.key.sessionId);
      assert.equal(new Set(names).size, names.length, 'at most one of each session');
    }
    assert.deepEqual(
      sessions.map(({ revision }) => revision),
      [3, 2, 3],
    );
    assert.deepEqual(
      sessions[0].events.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
  });

  test('nobody waits for the outcome of another session', async () => {
    const inner = memoryStore();
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const hold = async (changes) => {
      if (changes.some(({ id }) => id === 'slow')) await held;
    };
    const store = {
      ...inner,
      commit: async (change, context) => {
        await hold([change]);
        return await inner.commit(change, context);
      },
      commitMany: async (changes, context) => {
        await hold(changes);
        return await inner.commitMany(changes, context);
      },
    };
    const service = new SessionService({ store, timeout: 60_000 });
    const one = await service.createSession(KEY);
    const other = await service.createSession({ ...KEY, sessionId: 't' });
    const slow = service.appendEvent({ session: one, event: setting({ 'app:x': 1 }, { id: 'slow' }) });
    await new Promise((done) => setTimeout(done, 5));
    await service.appendEvent({ session: other, event: setting({ 'app:y': 1 }) });
    await service.appendEvent({ session: other, event: setting({ 'app:y': 2 }) });
    assert.equal(other.state['app:y'], 2);
    release();
    await slow;
    assert.deepEqual(plain(one.state), { 'app:x': 1, 'app:y': 2 });
  });
});

describe('signal', () => {
  const reason = new Error('enough');

  test('aborted before: the reason, and nothing is asked of the store', async () => {
    const context = await open();
    const signal = AbortSignal.abort(reason);
    const { service, session } = context;
    const same = (error) => error === reason;
    await assert.rejects(service.createSession({ ...KEY, sessionId: 't', signal }), same);
    await assert.rejects(service.getSession({ ...KEY, signal }), same);
    await assert.rejects(service.getOrCreateSession({ ...KEY, sessionId: 't', signal }), same);
    await assert.rejects(service.listSessions({ appName: 'app', signal }), same);
    await assert.rejects(service.deleteSession({ ...KEY, signal }), same);
    await assert.rejects(service.appendEvent({ session, event: setting({ x: 2 }), signal }), same);
    await assert.rejects(service.getAppState({ appName: 'app', signal }), same);
    await assert.rejects(service.getUserState({ appName: 'app', userId: 'u', signal }), same);
    await assert.rejects(
      service.updateState(KEY, () => ({ x: 2 }), { signal }),
      same,
    );
    assert.deepEqual(context.seen, []);
    const local = new SessionService();
    await assert.rejects(local.createSession({ ...KEY, signal }), same);
    assert.equal(await local.getSession(KEY), undefined);
  });

  test('aborted while it waits for its turn: the reason, and it is never sent', async () => {
    const context = await open({ timeout: 60_000 });
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const { commit } = context.store;
    context.store.commit = async (...given) => {
      await held;
      return await commit(...given);
    };
    const controller = new AbortController();
    const first = context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: '1' }) });
    const second = context.service.appendEvent({
      session: context.session,
      event: setting({ x: 3 }, { id: '2' }),
      signal: controller.signal,
    });
    await new Promise((done) => setTimeout(done, 5));
    controller.abort(reason);
    await assert.rejects(second, (error) => error === reason);
    release();
    await first;
    await context.service.flush();
    assert.deepEqual(context.seen, ['1']);
  });

  test('aborted on its way: COMMIT_UNKNOWN at once; it goes on, and what came of it shows', async () => {
    const context = await open({ timeout: 60_000 });
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const { commit } = context.store;
    context.store.commit = async (...given) => {
      await held;
      return await commit(...given);
    };
    const controller = new AbortController();
    const append = context.service.appendEvent({
      session: context.session,
      event: setting({ x: 2 }, { id: '1' }),
      signal: controller.signal,
    });
    await new Promise((done) => setTimeout(done, 5));
    controller.abort(reason);
    await assert.rejects(
      append,
      (error) => hasCode('COMMIT_UNKNOWN')(error) && error.cause === reason && error.id === '1',
    );
    assert.equal(context.session.revision, 0);
    release();
    await context.service.flush();
    assert.equal((await context.service.getSession(KEY)).state.x, 2);
  });
});

describe('the end', () => {
  test('after flush() every write that was asked for is durable', async () => {
    const context = await open();
    const appends = Array.from({ length: 20 }, (_, n) =>
      context.service.appendEvent({ session: context.session, event: setting({ n }) }),
    );
    await context.service.flush();
    assert.equal((await stored(context)).rev, 20);
    await Promise.all(appends);
  });

  test('close() makes writes durable, closes the store once, and refuses what comes later', async () => {
    let closed = 0;
    const inner = memoryStore();
    const store = {
      ...inner,
      close: async () => {
        closed++;
      },
    };
    const service = new SessionService({ store });
    const session = await service.createSession(KEY);
    const append = service.appendEvent({ session, event: setting({ x: 1 }) });
    await service[Symbol.asyncDispose]();
    await append;
    await service.close();
    assert.equal(closed, 1);
    assert.equal((await inner.load(KEY, {}, {})).rev, 1);
    for (const late of [
      () => service.appendEvent({ session, event: setting({ x: 2 }) }),
      () => service.getSession(KEY),
      () => service.createSession(KEY),
      () => service.getOrCreateSession(KEY),
      () => service.listSessions(KEY),
      () => service.deleteSession(KEY),
      () => service.updateState(KEY, () => ({ x: 1 })),
      () => service.getAppState(KEY),
      () => service.getUserState(KEY),
    ]) {
      await assert.rejects(late(), hasCode('CLOSED'));
    }
    assert.throws(() => service.invocation(session), hasCode('CLOSED'));
    const local = new SessionService();
    await local.createSession(KEY);
    await local.close();
    await assert.rejects(local.getSession(KEY), hasCode('CLOSED'));
  });
});

test('options that do not go together are refused', () => {
  const persist = async () => undefined;
  const restore = () => [];
  for (const options of [
    { persist },
    { restore },
    { persist, restore, store: memoryStore() },
    { store: memoryStore(), migrate: 'maybe' },
    { store: memoryStore(), timeout: 0 },
    { store: memoryStore(), retry: { attempts: 0 } },
    { store: memoryStore(), retry: { pause: NaN } },
    { store: memoryStore(), cachedEvents: -1 },
  ]) {
    assert.throws(() => new SessionService(options), hasCode('INVALID_ARGUMENT'));
  }
});
