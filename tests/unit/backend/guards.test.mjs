// A store that says what it can compare is asked to compare nothing else.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode } from '../../support/fixtures.mjs';
import { event } from './scripted-store.mjs';

describe('a store that says what it can compare', () => {
  const open = async (guards) => {
    const inner = memoryStore();
    const changes = [];
    const commit = async (change, context) => {
      changes.push(change);
      return await inner.commit(change, context);
    };
    const service = new SessionService({
      store: { ...inner, guards, watch: undefined, commitMany: undefined, commit },
    });
    const session = await service.createSession({ ...KEY, state: { n: 1, 'app:n': 1, 'user:n': 1 } });
    changes.length = 0;
    return { service, session, changes };
  };
  const targets = [KEY, { appName: 'app', userId: 'u' }, { appName: 'app' }];
  const refused =
    (...words) =>
    (error) =>
      hasCode('INVALID_ARGUMENT')(error) && words.every((word) => error.message.includes(word));

  test("'keys': no revisions and no positions", async () => {
    const { service, session, changes } = await open('keys');
    await assert.rejects(
      service.appendEvent({ session, event: event({ n: 2 }), expectedRevision: 0 }),
      refused('expectedRevision', 'does not compare revisions'),
    );
    for (const target of targets) {
      await assert.rejects(
        service.updateState(target, (state) => ({ 'app:n': Object.keys(state).length })),
        refused('does not compare revisions'),
      );
    }
    assert.deepEqual(changes, []);
    for (const target of targets) {
      await service.updateState(target, (state) => ({ 'app:n': state['app:n'] + 1 }));
    }
    await service.appendEvent({ session, event: event({ n: 2 }) });
    assert.equal(session.state['app:n'], 4);
    assert.equal(typeof changes.at(-1).guard.created, 'string');
  });

  test("'none': nothing, but the session is named that is meant", async () => {
    const { service, session, changes } = await open('none');
    await assert.rejects(
      service.appendEvent({ session, event: event({ n: 2 }), expectedRevision: 0 }),
      refused('expectedRevision'),
    );
    for (const target of targets) {
      await assert.rejects(
        service.updateState(target, (state) => ({ 'app:n': state['app:n'] + 1 })),
        refused('neither values nor revisions'),
      );
      await assert.rejects(
        service.updateState(target, (state) => ({ 'app:n': Object.keys(state).length })),
        refused('does not compare revisions'),
      );
    }
    assert.deepEqual(changes, []);
    // A write without a guard succeeds.
    await service.updateState(KEY, () => ({ n: 5 }));
    await service.updateState({ appName: 'app' }, () => ({ 'app:n': 5 }));
    await service.appendEvent({ session, event: event({ x: 2 }) });
    assert.deepEqual(plain(session.state), { n: 5, x: 2, 'app:n': 5, 'user:n': 1 });
    assert.deepEqual(
      changes.map(({ guard }) => Object.keys(guard ?? {})),
      [['created'], [], ['created']],
    );
  });
});
