// The requests and options of a service: a missing or wrong member is named, and closed is closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService, Template, isFinalResponse, isStatepadError } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { journalStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from '../../support/fixtures.mjs';
import { open } from './admitting.mjs';

test('a clock that answers with anything but a number of milliseconds is refused', async () => {
  for (const [now, what] of [
    [() => new Date(), 'an instance of Date'],
    [() => '7', 'a string'],
    [() => 7n, 'a bigint'],
    [() => NaN, 'NaN'],
    [() => undefined, 'undefined'],
    [() => Infinity, 'Infinity'],
  ]) {
    for (const more of [{}, { store: memoryStore() }]) {
      let answer = now;
      const service = new SessionService({ now: () => answer(), ...more });
      const isTold = (error) =>
        isStatepadError(error) &&
        error.code === 'INVALID_ARGUMENT' &&
        error.path === 'now' &&
        error.message.includes(what);
      await assert.rejects(service.createSession(KEY), isTold, what);
      answer = () => 5;
      const session = await service.createSession(KEY);
      answer = now;
      await assert.rejects(service.appendEvent({ session, event: {} }), isTold);
      await assert.rejects(
        service.updateState(KEY, () => ({ x: 1 })),
        isTold,
      );
      await assert.rejects(
        service.updateState({ appName: 'app' }, () => ({ 'app:x': 1 })),
        isTold,
      );
      await service.appendEvent({ session, event: { timestamp: 6 } });
      assert.equal(session.lastUpdateTime, 6);
    }
  }
});

test('what is missing or of another kind is named', async () => {
  const { service, session } = await open();
  for (const [call, message] of [
    [() => service.createSession({ userId: 'u' }), 'appName is missing'],
    [() => service.createSession({ appName: 'a' }), 'userId is missing'],
    [() => service.getSession({ appName: 'a', userId: 'u' }), 'sessionId is missing'],
    [() => service.getSession(), 'request is missing'],
    [() => service.getSession(null), 'request must be an object, not null'],
    [() => service.getSession([]), 'request must be an object, not a list'],
    [() => service.getSession({ ...KEY, userId: 7 }), 'userId must be a string and not 7'],
    [() => service.getSession({ ...KEY, userId: '\ud800' }), 'userId must be a string without lone surrogates'],
    [() => service.getSession({ ...KEY, signal: {} }), 'signal must be an AbortSignal, not an object'],
    [() => service.appendEvent({ session }), 'event is missing'],
    [() => service.appendEvent({ event: {} }), 'session is missing'],
    [
      () => service.appendEvent({ session: { appName: 'a', userId: 'u', sessionId: 's' }, event: {} }),
      'session.id is missing',
    ],
    [() => service.appendEvent({ session: {}, event: {} }), 'session.appName is missing'],
    [
      () => service.appendEvent({ session, event: { timestamp: '7' } }),
      'timestamp must be a number of milliseconds, not a string',
    ],
    [() => service.updateState(KEY), 'fn is missing'],
    [() => service.updateState(KEY, {}), 'fn must be a function, not an object'],
    [() => service.updateState(KEY, () => ({}), { attempts: 0 }), 'attempts must be a whole number from 1, not 0'],
    [
      () => service.updateState({ appName: 'a', sessionId: 's' }, () => ({})),
      'userId is missing: a sessionId needs one',
    ],
    [() => service.updateState({ appName: 'a', userId: 'u' }, () => ({ count: 1 })), 'use "user:count"'],
    [() => service.updateState({ appName: 'a' }, () => ({ 'user:count': 1 })), 'use "app:count"'],
    [() => service.history(session), 'key is missing'],
    [() => service.stateAt(session), 'and not undefined'],
    [async () => new Template('x').render({}), 'state is missing'],
    [async () => new Template(), 'a template must be a string, not undefined'],
    [async () => isFinalResponse({ content: { parts: [null] } }), 'content.parts[0] must be an object, not null'],
    [
      async () => new SessionService({ store: 'sessions.db' }),
      'store must be a store, not a string: pass it to a store',
    ],
    [async () => new SessionService({ store: memoryStore }), 'store must be a store, not a function: call it'],
    [async () => new SessionService({ store: Promise.resolve(memoryStore()) }), 'await it first'],
    [
      async () => new SessionService({ store: { commit: () => undefined } }),
      'it has no load, no list, no remove, no loadScope',
    ],
    [async () => new SessionService({ persist: 'x', restore: () => [] }), 'persist must be a function, not a string'],
    [async () => new SessionService({ now: 7 }), 'now must be a function, not 7'],
    [async () => new SessionService(null), 'options must be an object, not null'],
    [async () => journalStore(), 'medium is missing'],
    [async () => journalStore({ append: () => undefined }), 'medium.read is missing'],
  ]) {
    await assert.rejects(call(), (error) => {
      assert.ok(isStatepadError(error), error?.stack);
      assert.equal(error.code, 'INVALID_ARGUMENT');
      assert.ok(error.message.includes(message), error.message);
      return true;
    });
  }
});

test('nothing is done by a service that is closed, however it was used before, nor by one that starts meanwhile', async () => {
  for (const more of [() => ({}), () => ({ store: memoryStore() })]) {
    const service = new SessionService(more());
    const session = await service.createSession(KEY);
    await service.close();
    const fresh = new SessionService(more());
    const pending = fresh.createSession(KEY);
    await Promise.all([assert.rejects(pending, { code: 'CLOSED' }), fresh.close()]);
    for (const closed of [service, fresh]) {
      for (const call of [
        () => closed.createSession(KEY),
        () => closed.getSession(KEY),
        () => closed.getOrCreateSession(KEY),
        () => closed.listSessions(KEY),
        () => closed.listApps(),
        () => closed.listUsers(KEY),
        () => closed.deleteSession(KEY),
        () => closed.appendEvent({ session, event: {} }),
        () => closed.getAppState(KEY),
        () => closed.getUserState(KEY),
        () => closed.updateState(KEY, () => ({})),
        () => closed.stateAt(session, 0),
        () => closed.history(session, 'x'),
        () => closed.appendEvent({ session, event: { partial: true } }),
        async () => closed.invocation(session),
      ]) {
        await assert.rejects(call(), { code: 'CLOSED' }, String(call));
      }
      await closed.flush();
      await closed.close();
    }
  }
});

test('a session is taken where its key is asked for', async () => {
  for (const more of [{}, { store: memoryStore() }]) {
    const service = new SessionService(more);
    const session = await service.createSession({ ...KEY, state: { x: 1, 'user:x': 2 } });
    assert.equal((await service.getSession(session)).id, 's');
    assert.deepEqual((await service.getSession({ ...session, config: { numRecentEvents: 0 } })).events, []);
    // Without this the update would be one of the user's keys.
    assert.deepEqual(await service.updateState(session, ({ x }) => ({ x: x + 1 })), { x: 2, 'user:x': 2 });
    assert.equal((await service.getSession(KEY)).events.length, 1);
    const adk = new StatepadSessionService();
    const held = await adk.createSession({ ...KEY, state: { x: 1 } });
    assert.deepEqual(await adk.service.updateState(held, ({ x }) => ({ x: x + 1 })), { x: 2 });
    assert.equal((await adk.service.getSession(held)).id, 's');
    await adk.service.deleteSession(held);
    assert.equal(await adk.getSession(KEY), undefined);
    await service.deleteSession(session);
    assert.equal(await service.getSession(session), undefined);
  }
});
