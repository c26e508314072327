// The commit queue: changes that wait go together, a signal calls one off, and the end waits for all.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode, setting } from '../../support/fixtures.mjs';
import { open, retry, stored } from './faulty-store.mjs';

describe('the changes of a session', () => {
  test('go one after the other, also when one is asked for while the first is being sent', async () => {
    const inner = memoryStore();
    let running = 0;
    let asked;
    const store = {
      ...inner,
      watch: undefined,
      commitMany: undefined,
      commit: async (change, context) => {
        assert.equal((running += 1), 1, 'one at a time');
        if (change.id === 'first')
          asked = service.appendEvent({ session, event: setting({ n: 2 }, { id: 'second' }) });
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        return await inner.commit(change, context);
      },
    };
    const service = new SessionService({ store });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: setting({ n: 1 }, { id: 'first' }) });
    await asked;
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ['first', 'second'],
    );
    assert.equal(session.state.n, 2);
  });
});

test('nothing of a commit stays once it is done: no timer, and no listener of its signal', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const { signal } = new AbortController();
  const before = timers();
  const service = new SessionService({ store: { ...memoryStore(), watch: undefined } });
  const session = await service.createSession(KEY);
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      service.appendEvent({ session, event: setting({ n }), ...(n % 2 && { signal }) }),
    ),
  );
  assert.equal(session.revision, 100);
  assert.equal(timers(), before);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
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

/** Keeps all commits of a store from beginning until the function that it answers is called. */
function holdCommits(store) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const { commit } = store;
  store.commit = async (...given) => {
    await held;
    return await commit(...given);
  };
  return release;
}

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
    const release = holdCommits(context.store);
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
    const release = holdCommits(context.store);
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
    { restore },
    { persist, store: memoryStore() },
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
