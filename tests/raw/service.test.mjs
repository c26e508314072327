// The service that the crate has by itself, beside the package: what it admits, and what its callbacks keep.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, test } from 'node:test';
import { SessionService as PackageService, isStatepadError, DELETED } from 'statepad';
import { KEY } from '../support/fixtures.mjs';
import { outcome, rawBuild } from './build.mjs';

const url = pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href;
const { SessionService, Template, deleted } = await import(url);

describe('admits what the package admits', async () => {
  process.env.STATEPAD_SERVICE = url;
  await import('../unit/input/admission.test.mjs');
  await import('../unit/input/admitted-events.test.mjs');
});

/** Callbacks that store records as JSON text. */
function kept(records = []) {
  const calls = [];
  return {
    records,
    calls,
    callbacks: {
      persist: async (changes) => {
        calls.push(changes.length);
        await null;
        records.push(...changes.map((change) => JSON.stringify(change)));
      },
      restore: () => records.map((record) => JSON.parse(record)),
    },
  };
}

/** A conversation with a change of every kind. Answers with what it left. */
async function converse(service) {
  const session = await service.createSession({
    ...KEY,
    state: { x: 1, 'user:u': { a: [1] }, 'app:b': 2, 'temp:t': 3 },
  });
  await service.appendEvent({
    session,
    event: { id: 'e1', timestamp: 5, actions: { stateDelta: { x: 2, y: null } } },
  });
  await service.appendEvent({ session, event: { id: 'e2', timestamp: 6, actions: { stateDelta: { x: DELETED } } } });
  await service.updateState({ appName: KEY.appName }, () => ({ 'app:b': 3, 'app:__proto__': 4 }));
  await service.updateState({ appName: KEY.appName, userId: KEY.userId }, () => ({ 'user:u': DELETED, 'user:v': 1 }));
  const gone = await service.createSession({ ...KEY, sessionId: 'gone' });
  await service.appendEvent({ session: gone, event: { id: 'e1', actions: { stateDelta: { 'app:c': 1 } } } });
  await service.deleteSession(gone);
  await service.createSession({ ...KEY, sessionId: 'gone', state: { again: true } });
  return await told(service);
}

/** Everything that a service knows, but for times that its clock gave. */
async function told(service) {
  const { sessions } = await service.listSessions({ appName: KEY.appName });
  const all = await Promise.all(sessions.map(async (session) => await service.getSession(session)));
  return {
    sessions: all.map(({ id, state, events, revision }) => ({ id, state, events, revision })),
    keys: all.map(({ state }) => Object.keys(state)),
    app: await service.getAppState(KEY),
    user: await service.getUserState(KEY),
  };
}

describe('with persist and restore', () => {
  test('gives back what was persisted', async () => {
    const { records, callbacks } = kept();
    const left = await converse(new SessionService(callbacks));
    assert.deepEqual(await told(new SessionService(callbacks)), left);
    assert.deepEqual(left.sessions.find(({ id }) => id === KEY.sessionId).state, {
      y: null,
      'app:b': 3,
      ...JSON.parse('{"app:__proto__":4}'),
      'app:c': 1,
      'user:v': 1,
    });
    assert.equal(JSON.parse(records[0]).kind, 'version');
  });

  test('keeps a log that the package goes on with, and goes on with one of the package', async () => {
    for (const [First, Second] of [
      [SessionService, PackageService],
      [PackageService, SessionService],
    ]) {
      const { callbacks } = kept();
      const left = await converse(new First(callbacks));
      const second = new Second(callbacks);
      assert.deepEqual(await told(second), left);
      const session = await second.getSession(KEY);
      await second.appendEvent({ session, event: { id: 'e3', actions: { stateDelta: { z: 1, 'app:b': 9 } } } });
      const third = new First(callbacks);
      assert.deepEqual(await told(third), await told(second));
      assert.equal((await third.getSession(KEY)).revision, 3);
    }
  });

  test('records that are there twice do no harm', async () => {
    const { records, callbacks } = kept();
    const left = await converse(new SessionService(callbacks));
    const twice = kept(records.flatMap((record) => [record, record]));
    assert.deepEqual(await told(new SessionService(twice.callbacks)), left);
    const again = kept([...records, ...records]);
    assert.deepEqual(await told(new SessionService(again.callbacks)), left);
  });

  test('a missing record is told, and nothing is made up', async () => {
    const { records, callbacks } = kept();
    await converse(new SessionService(callbacks));
    const without = (kind) => records.filter((record) => JSON.parse(record).kind !== kind);
    for (const left of [without('create'), records.filter((_, index) => index !== 2)]) {
      const service = new SessionService(kept(left).callbacks);
      await assert.rejects(
        service.getSession(KEY),
        (error) => isStatepadError(error) && error.code === 'STORE_CORRUPT',
      );
    }
  });

  test('a change is seen when persist has resolved, and not before', async () => {
    const { callbacks } = kept();
    let go;
    let asked;
    const service = new SessionService({
      ...callbacks,
      persist: (changes) =>
        new Promise((resolve) => {
          asked = changes;
          go = () => resolve(callbacks.persist(changes));
        }),
    });
    const until = async () => {
      for (asked = undefined; asked === undefined;) await new Promise(setImmediate);
    };
    const creating = service.createSession(KEY);
    await until();
    go();
    const session = await creating;
    const appending = service.appendEvent({ session, event: { actions: { stateDelta: { x: 1 } } } });
    await until();
    assert.equal(asked.length, 1);
    assert.deepEqual([(await service.getSession(KEY)).revision, session.revision], [0, 0]);
    go();
    await appending;
    assert.deepEqual([(await service.getSession(KEY)).revision, session.state], [1, { x: 1 }]);
  });

  test('changes go one at a time, in the order in which they were asked for', async () => {
    const { records, callbacks } = kept();
    let running = 0;
    let most = 0;
    const service = new SessionService({
      ...callbacks,
      persist: async (changes) => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        await callbacks.persist(changes);
        running -= 1;
      },
    });
    const session = await service.createSession(KEY);
    const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
    await Promise.all(ids.map((id) => service.appendEvent({ session, event: { id } })));
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      records.slice(2).map((record) => JSON.parse(record).id),
      ids,
    );
    assert.equal(most, 1);
  });

  for (const [what, thrown, code] of [
    ['nothing is known of', new Error('lost'), 'COMMIT_UNKNOWN'],
    [
      'the store is not available for',
      Object.assign(new Error('later'), { code: 'unavailable' }),
      'STORE_UNAVAILABLE',
    ],
    ['the store has refused', Object.assign(new Error('full'), { code: 'rejected' }), 'LIMIT_EXCEEDED'],
  ]) {
    test(`a change that ${what} is not applied, and its caller is told`, async () => {
      const { callbacks } = kept();
      let fails = false;
      const service = new SessionService({
        ...callbacks,
        persist: (changes) => {
          if (fails) throw thrown;
          return callbacks.persist(changes);
        },
      });
      const session = await service.createSession({ ...KEY, state: { x: 1 } });
      fails = true;
      const event = { id: 'e', actions: { stateDelta: { x: 2, 'user:y': 1 } } };
      await assert.rejects(service.appendEvent({ session, event }), (error) => {
        assert.deepEqual([error.code, error.cause, isStatepadError(error)], [code, thrown, true]);
        return true;
      });
      assert.deepEqual([session.state, session.revision, session.events], [{ x: 1 }, 0, []]);
      assert.deepEqual((await service.getSession(KEY)).state, { x: 1 });
      fails = false;
      await service.appendEvent({ session, event });
      assert.deepEqual([session.state, session.revision], [{ x: 2, 'user:y': 1 }, 1]);
    });
  }

  test('a change that was kept although persist failed is there afterwards, once', async () => {
    const { callbacks } = kept();
    let fails = false;
    const service = new SessionService({
      ...callbacks,
      persist: async (changes) => {
        await callbacks.persist(changes);
        if (fails) throw new Error('the answer was lost');
      },
    });
    const session = await service.createSession(KEY);
    fails = true;
    const event = { id: 'e', actions: { stateDelta: { x: 2 } } };
    await assert.rejects(service.appendEvent({ session, event }), { code: 'COMMIT_UNKNOWN' });
    fails = false;
    await service.appendEvent({ session, event });
    assert.deepEqual([session.revision, session.events.length, session.state], [1, 1, { x: 2 }]);
  });

  test('restore may take its time, and may give records one after the other', async () => {
    const { records, callbacks } = kept();
    const left = await converse(new SessionService(callbacks));
    const parsed = () => records.map((record) => JSON.parse(record));
    async function* later() {
      for (const record of parsed()) yield await record;
    }
    for (const restore of [() => new Set(parsed()), async () => parsed(), later, async () => later()]) {
      assert.deepEqual(await told(new SessionService({ ...callbacks, restore })), left);
    }
    const failing = new SessionService({ ...callbacks, restore: () => Promise.reject(new Error('no disk')) });
    await assert.rejects(failing.getSession(KEY), { code: 'STORE_UNAVAILABLE', message: /no disk/ });
  });

  test('updates at once lose none', async () => {
    for (const answer of [(delta) => delta, async (delta) => delta]) {
      const { callbacks } = kept();
      const service = new SessionService(callbacks);
      const session = await service.createSession(KEY);
      let runs = 0;
      const count = ({ n = 0, 'user:n': shared = 0 }) => {
        runs += 1;
        return answer({ n: n + 1, 'user:n': shared + 1 });
      };
      await Promise.all(Array.from({ length: 50 }, () => service.updateState(session, count)));
      assert.deepEqual((await service.getSession(KEY)).state, { n: 50, 'user:n': 50 });
      assert.ok(runs <= 50 * 4, `${runs} runs`);
    }
  });
});

test('an update may ask for another one of the same values', async () => {
  const service = new SessionService();
  const target = { appName: 'app' };
  const add = (n) => (state) => ({ 'app:n': (state['app:n'] ?? 0) + n });
  await Promise.all(
    Array.from({ length: 5 }, () =>
      service.updateState(target, async (state) => {
        if ((state['app:n'] ?? 0) < 100) await service.updateState(target, add(100));
        return { 'app:done': true };
      }),
    ),
  );
  assert.equal((await service.getAppState(target)).done, true);
});

test('what the package refuses is refused with the same words', async () => {
  const calls = [
    (service) => service.createSession(),
    (service) => service.createSession(null),
    (service) => service.createSession({ userId: 'u' }),
    (service) => service.createSession({ appName: 1n, userId: 'u' }),
    (service) => service.createSession({ appName: 'a', userId: 'u', sate: {} }),
    (service) => service.createSession({ appName: 'a', userId: 'u', state: new Map() }),
    (service) => service.getSession({ ...KEY, config: { numRecentEvents: -1 } }),
    (service) => service.getSession({ ...KEY, config: { numRecentEvents: 1.5 } }),
    (service) => service.getSession({ ...KEY, config: { afterTimestamp: NaN } }),
    (service) => service.getSession({ ...KEY, config: { last: 1 } }),
    (service) => service.getSession({ ...KEY, config: { numRecentEvent: 1 } }),
    (service) => service.getSession({ ...KEY, signal: {} }),
    (service) => service.getSession({ ...KEY, signal: AbortSignal.abort(new Error('stop')) }),
    (service) => service.listSessions({ appName: 'a', page: 1 }),
    (service) => service.listSessions({ appName: 'a', page: 0, limit: 1 }),
    (service) => service.listSessions({ appName: 'a', order: 'up' }),
    (service) => service.listSessions({ appName: 'a', cursor: 'x', offset: 1 }),
    (service) => service.listSessions({ appName: 'a', cursor: 'x' }),
    (service) => service.appendEvent({ session: 'x', event: {} }),
    (service) => service.appendEvent({ session: { ...KEY, id: 's' }, event: {} }),
    (service) => service.appendEvent({ session: { ...KEY, id: 's' }, event: [] }),
    (service) => service.appendEvent({ session: { ...KEY, id: 's' }, event: { timestamp: '5' } }),
    (service) => service.appendEvent({ session: { ...KEY, id: 's' }, event: { id: 5 } }),
    (service) => service.appendEvent({ session: { ...KEY, id: 's' }, event: {}, expectedRevision: -1 }),
    (service) => service.updateState({ appName: 'a', sessionId: 's' }, () => ({})),
    (service) => service.updateState({ appName: 'a' }),
    (service) => service.updateState({ appName: 'a' }, 5),
    (service) => service.updateState({ appName: 'a' }, () => 5),
    (service) => service.updateState({ appName: 'a' }, () => ({ x: 1 })),
    (service) => service.updateState({ appName: 'a' }, () => ({ 'temp:x': 1 })),
    (service) => service.updateState({ appName: 'a' }, () => ({ 'app:x': undefined })),
    (service) => service.updateState({ appName: 'a' }, () => ({}), { attempts: 0 }),
    (service) => service.updateState({ ...KEY, id: 's' }, () => ({})),
    (_, Service) => new Service({ restore: () => [] }),
    (_, Service) => new Service({ persist: () => {}, timeout: 0 }),
    (_, Service) => new Service({ now: 5 }),
    (_, Service) => new Service({ now: () => new Date() }).createSession(KEY),
    (_, __, Text) => new Text(5),
    (_, __, Text) => new Text('{x} {topc}').render({ state: { topic: 1 } }),
    (_, __, Text) => new Text('{artifact.a}').render({ state: {}, artifact: async () => 'x' }),
    (_, __, Text) => new Text('{x}').render({ state: { x: 1n } }),
    (_, __, Text) => new Text('{x}').render(),
    (_, __, Text) => new Text('{x}').render({ sate: {} }),
    (_, __, Text) => Text.escape(),
  ];
  const { Template: PackageTemplate } = await import('statepad');
  for (const call of calls) {
    const wanted = await outcome(() => call(new PackageService(), PackageService, PackageTemplate));
    assert.ok('error' in wanted, String(call));
    assert.deepEqual(await outcome(() => call(new SessionService(), SessionService, Template)), wanted, String(call));
  }
});

test('the mark of a deletion is that of the package, and the other way round', async () => {
  assert.equal(JSON.stringify(deleted()), 'null');
  assert.equal(deleted(), deleted());
  const service = new PackageService();
  const session = await service.createSession({ ...KEY, state: { x: 1 } });
  await service.appendEvent({ session, event: { actions: { stateDelta: { x: deleted() } } } });
  assert.deepEqual(session.state, {});
});
