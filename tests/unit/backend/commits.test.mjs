// A service over a store: memory follows the store, never leads it.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { DELETED, SessionService, isStatepadError } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { KEY, setting } from '../../support/fixtures.mjs';
import { storeWith, storedWith } from '../../support/store.mjs';

/** A store that takes what it is told to, when it is told to. */
function gate() {
  const waiting = [];
  const changes = [];
  const commit = (change) =>
    new Promise((resolve, reject) => {
      waiting.push({
        change,
        resolve: () => {
          changes.push(change);
          resolve();
        },
        reject,
      });
    });
  const next = async () => {
    while (waiting.length === 0) {
      await new Promise((done) => setImmediate(done));
    }
    return waiting.shift();
  };
  const take = async (promise) => {
    (await next()).resolve();
    return await promise;
  };
  return { commit, next, take, changes, waiting };
}

async function open(state) {
  const store = gate();
  const service = new SessionService(storedWith(store.commit));
  const session = await store.take(service.createSession({ ...KEY, state }));
  return { store, service, session };
}

test('nothing is visible before the store has it, and everything afterwards', async () => {
  const { store, service, session } = await open({ x: 1 });
  const append = service.appendEvent({
    session,
    event: setting({ x: 2, 'app:y': 1, 'user:z': 1, 'temp:t': 1 }, { id: 'e' }),
  });
  const { resolve } = await store.next();
  assert.deepEqual(plain(session.state), { x: 1 });
  assert.equal(session.revision, 0);
  assert.deepEqual(plain((await service.getSession(KEY)).state), { x: 1 });
  assert.deepEqual(plain(await service.getAppState(KEY)), {});
  resolve();
  await append;
  assert.deepEqual(plain(session.state), { x: 2, 'app:y': 1, 'user:z': 1, 'temp:t': 1 });
  assert.deepEqual(plain((await service.getSession(KEY)).state), { x: 2, 'app:y': 1, 'user:z': 1 });
});

test('a store that fails leaves nothing changed anywhere', async () => {
  const { store, service, session } = await open({ x: 1, 'app:y': 1, 'user:z': 1 });
  const other = await service.getSession(KEY);
  const before = plain(session);
  const failing = new Error('the disk is full');
  for (const attempt of [
    () =>
      service.appendEvent({
        session,
        event: setting(
          { x: 2, 'app:y': 2, 'user:z': DELETED, 'temp:t': 1 },
          { id: 'e', author: 'user', invocationId: 'new' },
        ),
      }),
    () => service.createSession({ ...KEY, sessionId: 'more', state: { 'app:y': 3, 'user:z': 3 } }),
    () => service.getOrCreateSession({ ...KEY, sessionId: 'more', state: { 'app:y': 3 } }),
    () => service.updateState(KEY, () => ({ x: 4, 'app:y': 4 })),
    () => service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'user:z': 5, 'app:y': 5 })),
    () => service.updateState({ appName: 'app' }, () => ({ 'app:y': 6 })),
  ]) {
    const promise = attempt();
    promise.catch(() => undefined);
    (await store.next()).reject(failing);
    await assert.rejects(promise, (error) => error === failing || error.cause === failing);
    assert.deepEqual(plain(session), before);
    assert.deepEqual(plain(other), before);
    assert.deepEqual(plain(await service.getSession(KEY)), before);
    assert.equal(await service.getSession({ ...KEY, sessionId: 'more' }), undefined);
    assert.equal((await service.listSessions(KEY)).totalItems, 1);
    assert.deepEqual(plain(await service.getAppState(KEY)), { y: 1 });
    assert.deepEqual(plain(await service.getUserState(KEY)), { z: 1 });
  }
  const again = service.appendEvent({ session, event: setting({ x: 2 }, { id: 'e' }) });
  await store.take(again);
  assert.equal(session.revision, 1);
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ['e'],
  );
});

test('a store that throws at once is a store that fails', async () => {
  let fail = false;
  const service = new SessionService(
    storedWith(() => {
      if (fail) throw new Error('closed');
    }),
  );
  const session = await service.createSession(KEY);
  fail = true;
  await assert.rejects(service.appendEvent({ session, event: setting({ x: 1 }) }));
  fail = false;
  await service.appendEvent({ session, event: setting({ y: 1 }) });
  assert.deepEqual(plain(session.state), { y: 1 });
});

test('the changes of one session reach the store one after the other, in the order of the calls', async () => {
  const { store, service, session } = await open();
  const second = await service.getSession(KEY);
  const appends = ['1', '2', '3'].map((id, index) =>
    service.appendEvent({ session: index === 1 ? second : session, event: setting({ x: id }, { id }) }),
  );
  for (const id of ['1', '2', '3']) {
    const { change, resolve } = await store.next();
    assert.equal(change.id, id);
    await new Promise((done) => setImmediate(done));
    assert.equal(store.waiting.length, 0, 'the next one waits');
    resolve();
  }
  await Promise.all(appends);
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ['1', '2', '3'],
  );
  assert.equal(session.state.x, '3');
});

test('what waits behind a change that fails goes on', async () => {
  const { store, service, session } = await open();
  const [bad, good] = ['bad', 'good'].map((id) =>
    service.appendEvent({ session, event: setting({ [id]: 1 }, { id }) }),
  );
  bad.catch(() => undefined);
  (await store.next()).reject(new Error('too big'));
  await assert.rejects(bad);
  await store.take(good);
  assert.deepEqual(plain(session.state), { good: 1 });
  assert.equal(session.revision, 1);
});

test('sessions do not wait for each other', async () => {
  const { store, service, session } = await open();
  const other = await store.take(service.createSession({ ...KEY, sessionId: 't' }));
  const slow = service.appendEvent({ session, event: setting({ 'app:x': 'slow' }, { id: 'slow' }) });
  const held = await store.next();
  await store.take(service.appendEvent({ session: other, event: setting({ 'app:y': 1 }, { id: 'fast' }) }));
  assert.deepEqual(plain(other.state), { 'app:y': 1 });
  held.resolve();
  await slow;
  assert.deepEqual(plain(session.state), { 'app:x': 'slow', 'app:y': 1 });
});

test('two appends of one event are one change', async () => {
  const { store, service, session } = await open();
  const event = setting({ n: 1 }, { id: 'e', timestamp: 1 });
  const both = [service.appendEvent({ session, event }), service.appendEvent({ session, event })];
  (await store.next()).resolve();
  const [one, two] = await Promise.all(both);
  assert.equal(one, two);
  assert.equal(session.revision, 1);
  assert.equal(store.changes.length, 2);
});

test('two creations of one id are one session', async () => {
  const { store, service } = await open();
  const both = [1, 2].map((n) => service.createSession({ ...KEY, sessionId: 't', state: { n } }));
  (await store.next()).resolve();
  const outcomes = await Promise.allSettled(both);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.ok(isStatepadError(outcomes[1].reason) && outcomes[1].reason.code === 'SESSION_EXISTS');
  const got = await service.getOrCreateSession({ ...KEY, sessionId: 't', state: { n: 3 } });
  assert.equal(got.state.n, 1);
});

test('a change says what is written, under names and by scope', async () => {
  const { store, service, session } = await open({ a: 1, 'app:b': 2, 'temp:c': 3 });
  await store.take(
    service.appendEvent({
      session,
      event: setting({ 'user:d': { e: 1 }, a: DELETED, 'temp:f': 1 }, { id: 'e', timestamp: 7 }),
    }),
  );
  await store.take(service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'app:b': DELETED })));
  const [create, append, update] = store.changes;
  assert.equal(create.kind, 'create');
  assert.deepEqual(plain(create.key), KEY);
  assert.deepEqual(plain(create.delta), { session: { set: { a: 1 }, unset: [] }, app: { set: { b: 2 }, unset: [] } });
  assert.deepEqual(
    [append.id, append.kind, append.time, append.event.id, append.event.time],
    ['e', 'append', 7, 'e', 7],
  );
  assert.deepEqual(plain(append.delta), {
    session: { set: {}, unset: ['a'] },
    user: { set: { d: { e: 1 } }, unset: [] },
  });
  assert.deepEqual(JSON.parse(append.event.data), plain(session.events[0]));
  assert.equal(append.event.data.includes('temp:'), false);
  assert.deepEqual(plain(update.delta), { app: { set: {}, unset: ['b'] } });
});

/** A service with sessions of these ids, over a store whose calls are kept until they are let go on. */
async function openBatches(ids, takesMany = true) {
  const store = storeWith(() => undefined);
  const calls = [];
  let isHeld = false;
  const call = async (changes, run) => {
    if (isHeld) await new Promise((resolve) => calls.push({ changes, resolve }));
    return await run();
  };
  const { commit } = store;
  store.commit = (change, context) => call([change], () => commit(change, context));
  if (takesMany) {
    store.commitMany = (changes, context) =>
      call(changes, () => Promise.all(changes.map((change) => commit(change, context))));
  }
  const service = new SessionService({ store });
  const sessions = {};
  for (const id of ids) {
    sessions[id] = await service.createSession({ ...KEY, sessionId: id });
  }
  isHeld = true;
  const append = (id) => service.appendEvent({ session: sessions[id], event: setting({ x: id }, { id }) });
  /** The calls that wait, as the ids of their changes. */
  const waiting = async () => {
    await new Promise((done) => setImmediate(done));
    return calls.map(({ changes }) => changes.map(({ id }) => id).join(''));
  };
  return { append, waiting, calls };
}

test('what is asked for while a store is busy goes together: when it has answered, or 20 ms after the first of it was asked for', async () => {
  const { append, waiting, calls } = await openBatches([...'abcdefgh']);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const appends = [append('a'), append('b')];
    assert.deepEqual(await waiting(), ['ab'], 'what is asked for at one moment goes together, at once');
    appends.push(append('c'));
    assert.deepEqual(await waiting(), ['ab']);
    appends.push(append('d'));
    assert.deepEqual(await waiting(), ['ab']);
    calls.shift().resolve();
    assert.deepEqual(await waiting(), ['cd'], 'the store has answered');

    mock.timers.tick(10);
    appends.push(append('e'));
    assert.deepEqual(await waiting(), ['cd']);
    mock.timers.tick(5);
    appends.push(append('f'));
    assert.deepEqual(await waiting(), ['cd']);
    mock.timers.tick(5);
    appends.push(append('g'));
    assert.deepEqual(await waiting(), ['cd'], 'since the first of those that were answered it has been 20 ms');
    mock.timers.tick(10);
    assert.deepEqual(await waiting(), ['cd', 'efg'], 'nobody waits long for a call of others');
    appends.push(append('h'));
    assert.deepEqual(await waiting(), ['cd', 'efg']);
    mock.timers.tick(10);
    assert.deepEqual(await waiting(), ['cd', 'efg'], 'and nobody less long than the others');
    calls.shift().resolve();
    assert.deepEqual(await waiting(), ['efg']);
    mock.timers.tick(10);
    assert.deepEqual(await waiting(), ['efg', 'h']);
    calls.splice(0).forEach(({ resolve }) => resolve());
    assert.deepEqual(
      (await Promise.all(appends)).map(({ id }) => id),
      [...'abcdefgh'],
    );
  } finally {
    mock.timers.reset();
  }
});

test('a store that takes one change at a time gets each at once, and once', async () => {
  const { append, waiting, calls } = await openBatches([...'abc'], false);
  const appends = [append('a'), append('b')];
  assert.deepEqual(await waiting(), ['a', 'b']);
  appends.push(append('c'));
  assert.deepEqual(await waiting(), ['a', 'b', 'c']);
  assert.deepEqual(
    calls.map(({ changes: [{ attempt }] }) => attempt),
    [undefined, undefined, undefined],
  );
  calls.splice(0).forEach(({ resolve }) => resolve());
  await Promise.all(appends);
  assert.deepEqual(await waiting(), []);
});

test('a store that does not say of each change what became of it is sent those again of which it did not, and no others', async () => {
  for (const [what, spoil, again] of [
    ['an answer too many', (outcomes) => [...outcomes, outcomes[0]], ['a', 'b']],
    ['an answer too few', (outcomes) => outcomes.slice(0, 1), ['a', 'b']],
    ['none for the first', ([, second]) => [undefined, second], ['a']],
    ['none for the second', ([first]) => [first, null], ['b']],
  ]) {
    const { commit, ...store } = storeWith(() => undefined);
    const sent = [];
    const one = async (change, context) => {
      sent.push(change);
      return await commit(change, context);
    };
    let isSpoilt = false;
    const commitMany = async (changes, context) => {
      const outcomes = await Promise.all(changes.map((change) => one(change, context)));
      const isFirst = isSpoilt;
      isSpoilt = false;
      return isFirst ? spoil(outcomes) : outcomes;
    };
    const service = new SessionService({ store: { ...store, commit: one, commitMany }, retry: { pause: 1 } });
    const sessions = await Promise.all(['a', 'b'].map((sessionId) => service.createSession({ ...KEY, sessionId })));
    sent.length = 0;
    isSpoilt = true;
    await Promise.all(
      sessions.map((session) =>
        service.appendEvent({ session, event: setting({ x: session.id }, { id: session.id }) }),
      ),
    );
    assert.deepEqual(
      sent.filter(({ attempt }) => attempt === undefined).map(({ id }) => id),
      ['a', 'b'],
      what,
    );
    assert.deepEqual(
      sent
        .filter(({ attempt }) => attempt !== undefined)
        .map(({ id }) => id)
        .toSorted(),
      again,
      what,
    );
    assert.deepEqual(
      sessions.map(({ state, revision }) => [state.x, revision]),
      [
        ['a', 1],
        ['b', 1],
      ],
      what,
    );
  }
});
