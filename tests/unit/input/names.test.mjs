// Names of members that are near misses of known ones: told of, with what is meant. All other members are kept.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { InMemorySessionService as AdkService, createEvent as adkEvent } from '@google/adk';
import { InMemorySessionService, SessionService, Template, createEvent, isStatepadError } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { exportLines, openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { casesOf, plain } from '../../contract/read.mjs';
import { source } from '../../support/source.mjs';
import { KEY } from '../../support/fixtures.mjs';

const { nearest } = await source('checks/nearest.ts');
const { checkNames } = await source('checks/arguments.ts');
const { namesOf } = await source('checks/names.ts');

/** Fails unless it is refused, with these words in its message. */
const isTold =
  (...words) =>
  (error) => {
    assert.ok(isStatepadError(error), error?.stack);
    assert.equal(error.code, 'INVALID_ARGUMENT');
    words.forEach((word) => assert.ok(error.message.includes(word), error.message));
    return true;
  };

describe('the nearest name', () => {
  for (const { name, key: given, candidates, nearest: wanted } of casesOf('nearest').cases) {
    test(`${name}: of unknown members`, () => assert.equal(nearest(given, candidates), wanted));

    // A name that is no identifier stands as a member of another key.
    test(`${name}: of missing keys`, () => {
      const state = Object.fromEntries(candidates.map((candidate) => [candidate, 1]));
      assert.throws(
        () => new Template(`{${given}}`).render({ state }),
        (error) => {
          const [{ nearest: found }] = error.missing;
          return assert.equal(found, wanted) === undefined;
        },
      );
    });
  }
});

describe('near misses', () => {
  const open = async () => {
    const service = new SessionService();
    return { service, session: await service.createSession(KEY) };
  };
  for (const { event, meant, message } of casesOf('names').cases) {
    const words = `did you mean ${meant}?`;
    test(`of an event: ${JSON.stringify(event)}`, async () => {
      const { service, session } = await open();
      for (const given of [event, createEvent(event)]) {
        await assert.rejects(service.appendEvent({ session, event: given }), isTold(message));
      }
      const adk = new StatepadSessionService();
      await assert.rejects(
        adk.appendEvent({ session: await adk.createSession(KEY), event: adkEvent(event) }),
        isTold(words),
      );
      assert.equal((await service.getSession(KEY)).revision, 0);
    });
  }

  for (const [name, request, words] of [
    ['createSession', { app_name: 'app', userId: 'u' }, ['app_name', 'did you mean appName?']],
    ['createSession', { ...KEY, sessionId: undefined, session_id: 't' }, ['session_id', 'did you mean sessionId?']],
    ['createSession', { ...KEY, sessionId: 't', sate: {} }, ['sate', 'did you mean state?']],
    ['getOrCreateSession', { ...KEY, sesionId: 't' }, ['sesionId', 'did you mean sessionId?']],
    ['getSession', { ...KEY, confg: {} }, ['confg', 'did you mean config?']],
    [
      'getSession',
      { ...KEY, config: { numRecentEvent: 1 } },
      ['config.numRecentEvent', 'did you mean config.numRecentEvents?'],
    ],
    [
      'getSession',
      { ...KEY, config: { num_recent_events: 1 } },
      ['config.num_recent_events', 'did you mean config.numRecentEvents?'],
    ],
    ['getSession', { ...KEY, config: { limit: 1 } }, ['config.limit', 'numRecentEvents, afterTimestamp']],
    ['listSessions', { appName: 'app', user_id: 'u' }, ['user_id', 'did you mean userId?']],
    ['listSessions', { appName: 'app', pages: 1 }, ['pages', 'did you mean page?']],
    ['listApps', { limt: 1 }, ['limt', 'the request of listApps', 'did you mean limit?']],
    ['listUsers', { appName: 'app', Cursor: '' }, ['Cursor', 'did you mean cursor?']],
    ['listUsers', { app_name: 'app' }, ['app_name', 'did you mean appName?']],
    ['deleteSession', { ...KEY, Signal: undefined }, ['Signal', 'did you mean signal?']],
    ['appendEvent', { session: { appName: 'app', userId: 'u', id: 's' }, events: {} }, ['event is missing']],
    [
      'appendEvent',
      { session: { appName: 'app', userId: 'u', id: 's' }, event: {}, expected_revision: 1 },
      ['did you mean expectedRevision?'],
    ],
    ['getUserState', { appName: 'app', userID: 'u' }, ['userID', 'did you mean userId?']],
  ]) {
    test(`of a request: ${name}(${JSON.stringify(request)})`, async () => {
      const { service } = await open();
      await assert.rejects(service[name](request), isTold(...words));
    });
  }

  test('of what updateState updates', async () => {
    const { service } = await open();
    await assert.rejects(
      service.updateState({ appName: 'app', user_id: 'u' }, () => ({})),
      isTold('user_id', 'did you mean userId?'),
    );
    await assert.rejects(
      service.updateState({ appName: 'app', userId: 'u', sesionId: 's' }, () => ({})),
      isTold('sesionId', 'did you mean sessionId?'),
    );
  });
});

describe('options of unknown names are refused', () => {
  const service = new SessionService();
  const session = { appName: 'app', userId: 'u', id: 's' };
  const calls = [
    ['a service', () => new SessionService({ storage: memoryStore() }), 'storage is not known', 'did you mean store?'],
    [
      'a service',
      () => new InMemorySessionService({ colour: 'red' }),
      'colour is not known',
      'store, persist, restore',
    ],
    [
      'a service',
      () => new SessionService({ retry: { attempt: 1 } }),
      'retry.attempt',
      'did you mean retry.attempts?',
    ],
    [
      'a service, its store not under its name',
      () => new SessionService(memoryStore()),
      'not a store: pass it as { store }',
    ],
    ['an update', () => service.updateState(KEY, () => ({}), { attemps: 1 }), 'attemps', 'did you mean attempts?'],
    ['an update', () => service.updateState(KEY, () => ({}), { signla: undefined }), 'signla', 'did you mean signal?'],
    ['a look into the past', () => service.stateAt(session, 0, { until: 0 }), 'until is not known'],
    ['a history', () => service.history(session, 'x', { limit: 0 }), 'limit is not known', 'until, last, detailed'],
    ['watching', () => service.watch(KEY, { sinse: 0 }), 'did you mean since?'],
    ['trimming', () => service.trimHistory({ appName: 'app' }, { upto: 0 }), 'did you mean upTo?'],
    ['an invocation', () => service.invocation(session, { invocation_id: 'i' }), 'did you mean invocationId?'],
    ['rendering', () => new Template('x').render({ state: {}, artifacts: () => 'x' }), 'did you mean artifact?'],
    ['rendering', () => new Template('x').renderAsync({ state: {}, artifacts: () => 'x' }), 'did you mean artifact?'],
    ['exporting', () => exportLines(service, KEY, { limit: 1 }).next(), 'limit is not known'],
    ['opening', () => openLines('', { storage: memoryStore() }), 'did you mean store?'],
  ];
  for (const [what, call, ...words] of calls) {
    test(`of ${what}: ${words[0]}`, async () => await assert.rejects(async () => await call(), isTold(...words)));
  }
});

describe('members that no name is missed by are kept', () => {
  test('in events and their actions', async () => {
    const service = new SessionService();
    const session = await service.createSession(KEY);
    const { actions, ...event } = casesOf('names').kept;
    const stored = plain(await service.appendEvent({ session, event: { ...event, actions } }));
    for (const [name, value] of Object.entries(event)) {
      assert.deepEqual(stored[name], value);
    }
    for (const [name, value] of Object.entries(actions)) {
      assert.deepEqual(stored.actions[name], value);
    }
  });

  test('in requests, of which any may be a session', async () => {
    for (const service of [new SessionService(), new SessionService({ store: memoryStore() })]) {
      const session = await service.createSession({ ...KEY, more: 1 });
      await service.getSession({ ...KEY, trace: 'x' });
      for (const given of [session, { ...session, storageUpdateTime: 1, stat: 1, app_name: 'x' }]) {
        assert.equal((await service.getSession(given)).id, 's');
        await service.listSessions(given);
        await service.getUserState(given);
        await service.getAppState(given);
      }
    }
  });

  test('in a log that is opened, also near misses; what is appended later is looked at again', async () => {
    const lines = [
      { kind: 'statepad', version: 1 },
      { kind: 'session', appName: 'app', userId: 'u', id: 's', timestamp: 1, state: {} },
      { kind: 'event', event: { id: 'e', timestamp: 2, state_delta: { x: 1 }, actions: { stateDetla: { x: 1 } } } },
    ].map((line) => JSON.stringify(line));
    for (const options of [{}, { store: memoryStore() }]) {
      const { service } = await openLines(lines.join('\n'), options);
      const session = await service.getSession(KEY);
      assert.deepEqual([session.events[0].state_delta, session.events[0].actions.stateDetla], [{ x: 1 }, { x: 1 }]);
      await assert.rejects(
        service.appendEvent({ session, event: { actions: { stateDetla: {} } } }),
        isTold('did you mean'),
      );
    }
  });

  test('events that ADK makes are taken as they are', async () => {
    const theirs = new AdkService();
    const session = await theirs.createSession(KEY);
    const made = await theirs.appendEvent({
      session,
      event: adkEvent({ author: 'a', content: { role: 'model', parts: [{ text: 'x' }] } }),
    });
    const service = new SessionService();
    await service.createSession(KEY);
    assert.equal(
      (await service.appendEvent({ session: { appName: 'app', userId: 'u', id: 's' }, event: made })).id,
      made.id,
    );
  });
});

test('what was accepted before lets nothing else through', () => {
  const kindOf = () => namesOf('it', ['stateDelta', 'artifactDelta'], { others: ['route'] });
  const outcome = (names, kind) => {
    try {
      checkNames(names, kind);
      return 'accepted';
    } catch (error) {
      return error.message;
    }
  };
  const name = fc.constantFrom('stateDelta', 'stateDetla', 'artifact_delta', 'artifactDelta', 'route', 'mine', 'own');
  const lists = fc.array(fc.uniqueArray(name), { maxLength: 12 });
  fc.assert(
    fc.property(lists, (given) => {
      const kind = kindOf();
      for (const names of given) {
        assert.equal(outcome(names, kind), outcome(names, kindOf()));
        assert.ok(kind.accepted.length <= 4);
      }
    }),
  );
  const kind = kindOf();
  assert.equal(
    outcome(
      Array.from({ length: 10_000 }, (_, index) => `${index} of mine`),
      kind,
    ),
    'accepted',
  );
  assert.deepEqual(kind.accepted, []);
});
