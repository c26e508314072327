// statepad/jsonl: which lines are exported, of which sessions.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { all, key } from './lines.mjs';

describe('exporting', () => {
  async function shared(options) {
    const service = new SessionService({ ...options, now: () => 3 });
    const ana = await service.createSession({
      ...key,
      state: { topic: 'tides', 'user:n': 1, 'app:m': 1, 'temp:x': 1 },
    });
    await service.createSession({ ...key, userId: 'bob', state: { 'user:n': 2 } });
    await service.appendEvent({
      session: ana,
      event: { id: 'e', timestamp: 9, actions: { stateDelta: { topic: 'moon', 'user:n': 5, 'temp:y': 1 } } },
    });
    await service.updateState({ appName: 'app' }, () => ({ 'app:m': DELETED, 'app:k': [1] }));
    return service;
  }

  for (const [name, options] of Object.entries({ memory: {}, 'a store': { store: memoryStore() } })) {
    test(`tells what each session began with, what happened, and the values of now, from ${name}`, async () => {
      const service = await shared(options);
      const actions = {
        stateDelta: { topic: 'moon', 'user:n': 5 },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      };
      assert.deepEqual((await all(exportLines(service, { appName: 'app' }))).map(JSON.parse), [
        { kind: 'statepad', version: 1 },
        { kind: 'session', appName: 'app', userId: 'bob', id: 's', timestamp: 3, state: { 'user:n': 2 } },
        {
          kind: 'session',
          appName: 'app',
          userId: 'ana',
          id: 's',
          timestamp: 3,
          state: { topic: 'tides', 'app:m': 1, 'user:n': 1 },
        },
        { kind: 'event', event: { id: 'e', timestamp: 9, invocationId: '', actions } },
        { kind: 'scope', appName: 'app', state: { k: [1] } },
        { kind: 'scope', appName: 'app', userId: 'bob', state: { n: 2 } },
        { kind: 'scope', appName: 'app', userId: 'ana', state: { n: 5 } },
      ]);
    });
  }

  test('gives a user, or one session, and the values that it sees', async () => {
    const service = await shared({});
    const told = async (target) =>
      (await all(exportLines(service, target))).map(JSON.parse).map(({ kind, userId }) => [kind, userId].join(' '));
    const bob = ['statepad ', 'session bob', 'scope ', 'scope bob'];
    assert.deepEqual(await told({ appName: 'app', userId: 'bob' }), bob);
    assert.deepEqual(await told({ ...key, userId: 'bob' }), bob);
    await assert.rejects(told({ ...key, sessionId: 'none' }), { code: 'SESSION_NOT_FOUND', id: 'none' });
    await assert.rejects(told({ appName: 'app', sessionId: 's' }), { code: 'INVALID_ARGUMENT', path: 'userId' });
  });

  test('gives each of hundreds of sessions once, also those that move while they are listed', async () => {
    let time = 0;
    const service = new SessionService({ now: () => (time += 1) });
    for (let number = 0; number < 250; number++) {
      await service.createSession({ appName: 'app', userId: 'ana', sessionId: `s${number}` });
    }
    const ids = [];
    for await (const line of exportLines(service, { appName: 'app' })) {
      const { kind, id } = JSON.parse(line);
      if (kind === 'session') {
        ids.push(id);
        await service.appendEvent({ session: { appName: 'app', userId: 'ana', id }, event: {} });
      }
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 250 }, (_, number) => `s${number}`),
    );
  });

  test('leaves out no session without saying so', async () => {
    const store = memoryStore();
    const load = async (one, query, context) => {
      const loaded = await store.load(one, query, context);
      return one.sessionId === 'bad' ? { ...loaded, events: [{ rev: 1, data: '{' }] } : loaded;
    };
    const writer = new SessionService({ store });
    for (const sessionId of ['bad', 'good']) {
      const session = await writer.createSession({ ...key, sessionId });
      await writer.appendEvent({ session, event: { id: sessionId } });
    }
    const lines = [];
    const read = async () => {
      for await (const line of exportLines(new SessionService({ store: { ...store, load } }), { appName: 'app' }))
        lines.push(line);
    };
    await assert.rejects(read(), { code: 'STORE_CORRUPT', id: 'bad' });
    assert.deepEqual((await openLines(lines)).sessions, [{ ...key, sessionId: 'good' }]);
  });

  test('ends when it is aborted', async () => {
    const service = await shared({});
    await assert.rejects(
      all(exportLines(service, { appName: 'app' }, { signal: AbortSignal.abort(new Error('enough')) })),
      { message: 'enough' },
    );
  });
});
