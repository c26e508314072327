// Over a store that says what it lacks, the service refuses by name what needs that, and writes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { increment, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, hasCode } from '../../support/fixtures.mjs';
import { event } from './scripted-store.mjs';

const told = (message) => (error) => hasCode('INVALID_ARGUMENT')(error) && message.test(error.message);

async function open(lacks) {
  const store = { ...memoryStore({ log: false }), lease: undefined, resolves: undefined, guards: 'keys', lacks };
  const service = new SessionService({ store });
  const session = await service.createSession({ ...KEY, state: { n: 1 } });
  await service.appendEvent({ session, event: { ...event({ n: 2 }), invocationId: 'i1' } });
  return { service, session };
}

test('without revisions there is no way back, and no state of a revision', async () => {
  const { service, session } = await open(['revisions', 'beginnings', 'operators']);
  const none = /the store does not keep revisions/u;
  await assert.rejects(service.stateAt(session, 0), told(none));
  await assert.rejects(service.rewind(session, { before: 'i1' }), told(none));
  await assert.rejects(service.redo(session), told(none));
  await assert.rejects(service.fork(session), told(none));
  await assert.rejects(service.history({ appName: 'app', key: 'app:n' }), told(none));
  await assert.rejects(service.lease(session), told(/the store does not support leases/u));
  const strict = { session, event: event({ n: 3 }), expectedRevision: 1 };
  await assert.rejects(service.appendEvent(strict), told(/the store does not compare revisions/u));
  assert.equal(session.revision, 1);
  const steps = await service.history(session, 'n');
  assert.deepEqual(
    steps.map(({ to }) => to),
    [1, 2],
  );
});

test('without what a session began with it cannot be forked or told', async () => {
  const { service, session } = await open(['beginnings']);
  const none = /does not keep the initial state of a session/u;
  await assert.rejects(service.stateAt(session, 0), told(none));
  await assert.rejects(service.fork(session), told(none));
});

test('operators that cannot be kept are refused by name, in an event and in an update', async () => {
  const { service, session } = await open(['operators']);
  const none = /increment of "n" cannot be written: the store does not keep operators/u;
  await assert.rejects(service.appendEvent({ session, event: event({ n: increment() }) }), told(none));
  const { appName, userId, sessionId } = KEY;
  await assert.rejects(
    service.updateState({ appName, userId, sessionId }, () => ({ n: increment() })),
    told(none),
  );
  assert.equal((await service.getSession(KEY)).state.n, 2);
});
