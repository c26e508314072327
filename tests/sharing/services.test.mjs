// Two services of one process over one store in memory, and over one SQLite file.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteFiles } from './databases.mjs';
import { observed } from './observed.mjs';
import { openStore } from './places.mjs';
import { KEY } from '../support/fixtures.mjs';

const files = sqliteFiles();
after(files.stop);

/** Two stores over the same storage: of the first one, it is known what it is asked to load. `end` lets go of them. */
const kinds = {
  memory: async () => {
    const store = memoryStore();
    return { stores: [store, store], end: async () => {} };
  },
  // Nobody is told what others do.
  'memory, without hints': async () => {
    const store = { ...memoryStore(), watch: undefined };
    return { stores: [store, store], end: async () => {} };
  },
  sqlite: async () => {
    const place = files.newPlace();
    const opened = [await openStore(place), await openStore(place)];
    return {
      stores: opened.map(({ store }) => store),
      end: async () => void (await Promise.all(opened.map(({ end }) => end()))),
    };
  },
};

async function withServices(kind, use) {
  const { stores, end } = await kinds[kind]();
  const first = observed(stores[0]);
  const services = [new SessionService({ store: first.store }), new SessionService({ store: stores[1] })];
  try {
    await use(...services, first);
  } finally {
    await Promise.all(services.map((service) => service.close()));
    await end();
  }
}

const event = (id, stateDelta = {}) => ({ id, author: 'agent', actions: { stateDelta } });
const ids = (session) => session.events.map(({ id }) => id);
const numbers = (count) => Array.from({ length: count }, (_, index) => index);

/** The outcome of a promise: the code of its error, or `done`. */
const outcome = (promise) =>
  promise.then(
    () => 'done',
    ({ code }) => code,
  );

for (const kind of Object.keys(kinds)) {
  test(`${kind}: appends to one session through handles of both services are in one order`, () =>
    withServices(kind, async (ours, theirs) => {
      const handles = [await ours.createSession(KEY), await theirs.getSession(KEY)];
      const append = (number) => {
        const [service, session] = [[ours, theirs][number % 2], handles[number % 2]];
        return service.appendEvent({
          session,
          event: event(`e${number}`, { last: number, [`k${number}`]: number, 'app:last': number }),
        });
      };
      // One by one, then many at once.
      for (const number of numbers(20)) {
        await append(number);
        assert.deepEqual(
          ids(handles[number % 2]),
          numbers(number + 1).map((each) => `e${each}`),
        );
      }
      await Promise.all(numbers(80).map((number) => append(20 + number)));

      const [one, other] = [await ours.getSession(KEY), await theirs.getSession(KEY)];
      assert.deepEqual(ids(one), ids(other));
      assert.deepEqual(one.state, other.state);
      assert.equal(one.revision, 100);
      assert.deepEqual(
        ids(one).toSorted(),
        numbers(100)
          .map((number) => `e${number}`)
          .sort(),
      );
      assert.equal(`e${one.state.last}`, ids(one).at(-1));
      assert.equal(one.state['app:last'], one.state.last);
      assert.equal(Object.keys(one.state).length, 102);
      handles.forEach((handle) => assert.deepEqual(ids(handle), ids(one).slice(0, handle.revision)));
      assert.deepEqual(
        handles
          .map((handle) => handle.revision)
          .sort((a, b) => a - b)
          .at(-1),
        100,
      );
    }));

  test(`${kind}: what one service deletes does not come back by what the other appends`, () =>
    withServices(kind, async (ours, theirs) => {
      const session = await ours.createSession(KEY);
      let done = 0;
      let deleted;
      const append = async (number) => {
        const result = await outcome(
          ours.appendEvent({ session, event: event(`e${number}`, { number, [`app:k${number}`]: number }) }),
        );
        done += result === 'done' ? 1 : 0;
        if (done === 10) {
          deleted ??= theirs.deleteSession(KEY);
        }
        return result;
      };
      // As many as it takes until one is refused; a few are always under way.
      const results = [];
      for (let number = 0; !results.includes('SESSION_NOT_FOUND') && number < 10_000; number += 4) {
        results.push(...(await Promise.all(numbers(4).map((more) => append(number + more)))));
      }
      await deleted;
      assert.deepEqual([...new Set(results)], ['done', 'SESSION_NOT_FOUND']);
      assert.equal(results.lastIndexOf('done'), done - 1);

      assert.equal(await outcome(ours.appendEvent({ session, event: event('late') })), 'SESSION_NOT_FOUND');
      assert.equal(
        await outcome(ours.appendEvent({ session: { appName: 'app', userId: 'u', id: 's' }, event: event('late') })),
        'SESSION_NOT_FOUND',
      );
      assert.equal(await outcome(ours.updateState(KEY, () => ({ n: 1 }))), 'SESSION_NOT_FOUND');
      for (const service of [ours, theirs]) {
        assert.equal(await service.getSession(KEY), undefined);
        assert.deepEqual((await service.listSessions({ appName: 'app' })).sessions, []);
        // Every acknowledged write of the app stays, and nothing else is there.
        assert.deepEqual(
          { ...(await service.getAppState({ appName: 'app' })) },
          Object.fromEntries(numbers(done).map((number) => [`k${number}`, number])),
        );
      }
    }));

  test(`${kind}: a session that the other service has created anew is another one`, () =>
    withServices(kind, async (ours, theirs) => {
      const old = await ours.createSession({ ...KEY, state: { from: 'ours' } });
      await ours.appendEvent({ session: old, event: event('e1') });
      const row = (await ours.listSessions({ appName: 'app' })).sessions[0];
      await theirs.deleteSession(KEY);
      const anew = await theirs.createSession({ ...KEY, state: { from: 'theirs' } });

      assert.equal(await outcome(ours.createSession(KEY)), 'SESSION_EXISTS');
      for (const session of [old, row]) {
        assert.equal(
          await outcome(ours.appendEvent({ session, event: event('e2', { from: 'old' }) })),
          'SESSION_NOT_FOUND',
        );
      }
      await theirs.appendEvent({ session: anew, event: event('e1', { n: 1 }) });
      const read = await ours.getSession(KEY);
      assert.deepEqual(ids(read), ['e1']);
      assert.deepEqual({ ...read.state }, { from: 'theirs', n: 1 });
      await ours.appendEvent({ session: read, event: event('e2', { n: 2 }) });
      assert.deepEqual(ids(await theirs.getSession(KEY)), ['e1', 'e2']);
      assert.equal(await outcome(ours.appendEvent({ session: old, event: event('e3') })), 'SESSION_NOT_FOUND');
      assert.deepEqual(ids(old), ['e1']);
    }));

  test(`${kind}: of two creations of one session one is done, and both services get the same`, () =>
    withServices(kind, async (ours, theirs) => {
      for (const number of numbers(10)) {
        const key = { ...KEY, sessionId: `s${number}` };
        const results = await Promise.all(
          [ours, theirs].map((service, by) =>
            outcome(service.createSession({ ...key, state: { by, 'app:n': number } })),
          ),
        );
        assert.deepEqual(results.toSorted(), ['SESSION_EXISTS', 'done']);
        for (const service of [ours, theirs]) {
          assert.deepEqual(
            { ...(await service.getSession(key)).state },
            { by: results.indexOf('done'), 'app:n': number },
          );
        }
        const other = { ...KEY, sessionId: `t${number}` };
        const got = await Promise.all(
          [ours, theirs].map((service, by) => service.getOrCreateSession({ ...other, state: { by } })),
        );
        assert.deepEqual({ ...got[0].state }, { ...got[1].state });
      }
    }));

  test(`${kind}: of two appends that expect the same revision one is done`, () =>
    withServices(kind, async (ours, theirs) => {
      const handles = [await ours.createSession(KEY), await theirs.getSession(KEY)];
      for (const expectedRevision of numbers(20)) {
        const both = [ours, theirs].map((service, by) => {
          const request = {
            session: handles[by],
            event: event(`e${expectedRevision} ${by}`, { by }),
            expectedRevision,
          };
          return outcome(service.appendEvent(request));
        });
        assert.deepEqual((await Promise.all(both)).toSorted(), ['SESSION_STALE', 'done']);
      }
      assert.equal((await ours.getSession(KEY)).revision, 20);
      assert.deepEqual(ids(await ours.getSession(KEY)), ids(await theirs.getSession(KEY)));
    }));

  test(`${kind}: whoever reads sees at once what the other service has written`, () =>
    withServices(kind, async (ours, theirs) => {
      const services = [ours, theirs];
      const handles = [await ours.createSession(KEY), await theirs.getSession(KEY)];
      for (const number of numbers(30)) {
        const [writer, reader] = [number % 2, 1 - (number % 2)];
        const delta = { n: number, 'user:n': number, 'app:n': number };
        await services[writer].appendEvent({ session: handles[writer], event: event(`e${number}`, delta) });
        const read = await services[reader].getSession(KEY);
        assert.deepEqual({ ...read.state }, delta);
        assert.equal(read.revision, number + 1);
        assert.equal(ids(read).at(-1), `e${number}`);
        assert.deepEqual({ ...(await services[reader].listSessions({ appName: 'app' })).sessions[0].state }, delta);
        await services[reader].updateState({ appName: 'app', userId: 'u' }, () => ({
          'user:x': number,
          'app:x': number,
        }));
        const again = await services[writer].getSession(KEY);
        assert.deepEqual([again.state['user:x'], again.state['app:x']], [number, number]);
        await services[reader].updateState({ appName: 'app', userId: 'u' }, () => ({
          'user:x': DELETED,
          'app:x': DELETED,
        }));
      }
    }));

  test(`${kind}: a handle shows what the other service has written after its own next append`, () =>
    withServices(kind, async (ours, theirs) => {
      const session = await ours.createSession(KEY);
      const other = await theirs.getSession(KEY);
      for (const number of numbers(3)) {
        await theirs.appendEvent({
          session: other,
          event: event(`theirs ${number}`, { [`k${number}`]: number, 'user:n': number }),
        });
      }
      // It does not move by itself.
      assert.deepEqual([ids(session), { ...session.state }], [[], {}]);
      await ours.appendEvent({ session, event: event('ours 1', { own: 1 }) });
      assert.deepEqual(ids(session), ['theirs 0', 'theirs 1', 'theirs 2', 'ours 1']);
      assert.deepEqual({ ...session.state }, { k0: 0, k1: 1, k2: 2, own: 1, 'user:n': 2 });

      // No event tells of these; and those of the app come by another session, too.
      await theirs.updateState({ appName: 'app', userId: 'u' }, () => ({ 'app:quiet': 1, 'user:quiet': 2 }));
      const elsewhere = await theirs.createSession({ ...KEY, userId: 'v', state: { 'app:loud': 3 } });
      await theirs.appendEvent({ session: elsewhere, event: event('e', { 'app:louder': 4 }) });
      await ours.appendEvent({ session, event: event('ours 2') });
      const { state } = session;
      assert.deepEqual(
        [state['app:quiet'], state['user:quiet'], state['app:loud'], state['app:louder']],
        [1, 2, 3, 4],
      );
      assert.equal(session.revision, 5);
    }));
}

test('without hints, a service learns of what others have written by its own next append, and has to load it', () =>
  withServices('memory, without hints', async (ours, theirs, { loads }) => {
    const session = await ours.createSession(KEY);
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event('theirs') });
    const before = loads.length;
    await ours.appendEvent({ session, event: event('ours') });
    assert.equal(loads.length, before + 1);
    assert.deepEqual(ids(session), ['theirs', 'ours']);
  }));

test('with hints, a service has loaded what others have written before anybody asks it', () =>
  withServices('memory', async (ours, theirs, { loads, nextLoad }) => {
    const session = await ours.createSession(KEY);
    // It hears of its own creation, too.
    await nextLoad();
    const other = await theirs.getSession(KEY);

    const loaded = nextLoad();
    await theirs.appendEvent({ session: other, event: event('theirs', { k: 1, 'app:k': 2 }) });
    assert.equal((await loaded).known.rev, 0);
    // A read that begins now knows the writes of the other service: nothing of them is loaded again.
    await new Promise((resolve) => setImmediate(resolve));
    const before = loads.length;
    const read = await ours.getSession(KEY);
    const { known, events } = loads[before];
    assert.deepEqual([known.rev, known.pos, events], [1, { app: 1, user: 0 }, { from: 2 }]);
    assert.deepEqual([ids(read), { ...read.state }], [['theirs'], { k: 1, 'app:k': 2 }]);

    // And an append follows what is known: it loads nothing before it is done.
    const count = loads.length;
    await ours.appendEvent({ session, event: event('ours') });
    assert.equal(loads.length, count);
    assert.deepEqual(ids(session), ['theirs', 'ours']);
  }));

test('with hints, the state of an app and of a user comes by itself, too', () =>
  withServices('memory', async (ours, theirs, { loads, nextLoad }) => {
    await ours.createSession(KEY);
    await nextLoad();
    for (const [target, delta, pos] of [
      [{ appName: 'app' }, { 'app:k': 1 }, { app: 1, user: 0 }],
      [{ appName: 'app', userId: 'u' }, { 'user:k': 1 }, { app: 1, user: 1 }],
    ]) {
      const loaded = nextLoad();
      await theirs.updateState(target, () => delta);
      await loaded;
      await new Promise((resolve) => setImmediate(resolve));
      await ours.getSession(KEY);
      assert.deepEqual(loads.at(-1).known.pos, pos);
    }
  }));

const SHARED = { appName: 'app', userId: 'u' };

/** A value more of every kind: one that stays, one that goes, one that goes and comes back, one that is new. */
async function moveShared(service, number) {
  await service.updateState(SHARED, () => ({
    'app:stays': number,
    'user:stays': number,
    [`app:new ${number}`]: number,
    'app:back': number,
    'user:back': number,
  }));
  await service.updateState(SHARED, () => ({
    'app:goes': DELETED,
    'app:back': DELETED,
    'user:goes': DELETED,
    'user:back': DELETED,
  }));
  await service.updateState(SHARED, () => ({
    'app:back': number,
    'user:back': number,
    ...(number % 2 === 0 ? { 'app:goes': number } : {}),
  }));
}

test('what others have done to app and user state comes with the answer to an append: nothing is loaded, and nothing is missed', () =>
  withServices('memory, without hints', async (ours, theirs, { loads }) => {
    const state = Object.fromEntries(
      ['app:stays', 'app:goes', 'app:back', 'user:stays', 'user:goes', 'user:back'].map((key) => [key, 0]),
    );
    const session = await ours.createSession({ ...KEY, state });
    const other = await theirs.createSession({ ...KEY, sessionId: 't' });
    for (const number of numbers(6)) {
      await moveShared(theirs, number);
      loads.length = 0;
      // With and without own writes to what others have moved.
      await ours.appendEvent({
        session,
        event: event(`e${number}`, number < 3 ? {} : { 'app:stays': 'own', 'user:goes': number, 'app:back': DELETED }),
      });
      assert.deepEqual(loads, []);
      await theirs.appendEvent({ session: other, event: event(`e${number}`) });
      // In the same order, too.
      assert.deepEqual(Object.entries(session.state), Object.entries(other.state));
    }
    await moveShared(theirs, 7);
    const created = await ours.createSession({ ...KEY, sessionId: 'third', state: { 'app:last': 1 } });
    await moveShared(theirs, 8);
    const updated = await ours.updateState(KEY, ({ 'app:stays': stays }) => ({ 'app:last': stays }));
    const read = Object.entries((await theirs.getSession(KEY)).state);
    assert.deepEqual(Object.entries(updated), read);
    assert.equal(created.state['app:new 7'], 7);
    assert.equal(updated['app:last'], 8);
  }));

test('what others have done to app and user state comes with a load in place of all values', () =>
  withServices('memory, without hints', async (ours, theirs, { answers }) => {
    const many = Object.fromEntries(numbers(1000).map((number) => [`app:k${number}`, number]));
    await ours.createSession({ ...KEY, state: { ...many, 'user:back': 0 } });
    for (const number of numbers(3)) {
      await moveShared(theirs, number);
      answers.length = 0;
      const { state } = await ours.getSession(KEY);
      assert.deepEqual(Object.entries(state), Object.entries((await theirs.getSession(KEY)).state));
      assert.ok(JSON.stringify(answers).length < 2000, `${JSON.stringify(answers).length} characters`);
    }
  }));

for (const kind of Object.keys(kinds)) {
  test(`an append by key goes to the session that is there, also when memory has an earlier one of that key: ${kind}`, () =>
    withServices(kind, async (ours, theirs) => {
      const named = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
      const earlier = await ours.createSession(KEY);
      await theirs.deleteSession(KEY);
      await theirs.createSession({ ...KEY, state: { later: true } });
      const given = { id: 'e1', actions: { stateDelta: { k: 1, gone: DELETED, 'temp:t': 1, 'temp:gone': DELETED } } };
      const stored = await ours.appendEvent({ session: named, event: given });
      assert.deepEqual(stored.actions.stateDelta, { k: 1, gone: null });
      assert.deepEqual(stored.customMetadata, { statepad: { deleted: ['gone'] } });
      assert.deepEqual({ ...(await theirs.getSession(KEY)).state }, { later: true, k: 1 });
      // Through a handle it is that session or none.
      await assert.rejects(ours.appendEvent({ session: earlier, event: { id: 'e2' } }), { code: 'SESSION_NOT_FOUND' });
      await theirs.deleteSession(KEY);
      await assert.rejects(ours.appendEvent({ session: named, event: { id: 'e3' } }), { code: 'SESSION_NOT_FOUND' });
    }));
}
