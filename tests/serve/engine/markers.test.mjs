// Rewinding through the sessions API of Agent Engine: an ADK appends an event with a delta of its own, which forgets
// what the session was created with.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openServer } from './server.mjs';
import { PLACES } from './places.mjs';

const KEY = { appName: '77', userId: 'ana', sessionId: 's1' };
const time = (second) => `2026-01-02T00:00:${String(second).padStart(2, '0')}Z`;

/** An event as google-adk sends it: actions in its own spelling, and the whole event in that of JSON. */
function pythonEvent(second, { id, invocationId, author = 'user', delta, artifacts = {}, actions = {}, text }) {
  const content = text === undefined ? undefined : { role: 'user', parts: [{ text }] };
  return {
    author,
    invocationId,
    timestamp: time(second),
    ...(content && { content }),
    actions: {
      skip_summarization: null,
      state_delta: delta,
      artifact_delta: artifacts,
      transfer_agent: null,
      escalate: null,
      requested_auth_configs: {},
    },
    event_metadata: { partial: null, turn_complete: null, interrupted: null, branch: null, custom_metadata: null },
    raw_event: {
      ...(content && { content }),
      invocationId,
      author,
      actions: { stateDelta: delta, artifactDelta: artifacts, requestedAuthConfigs: {}, ...actions },
      id,
      timestamp: Date.parse(time(second)) / 1000,
    },
  };
}

/** The marker of `rewind_async`: its delta sets keys of later turns to null, and knows nothing of the creation. */
const MARKER = pythonEvent(9, {
  id: 'marker-1',
  invocationId: 'e-5f0c',
  delta: { topic: null, mood: null },
  artifacts: { 'plan.txt': 4 },
  actions: { rewindBeforeInvocationId: 'turn-1' },
});

for (const [place, open] of Object.entries(PLACES)) {
  describe(`a marker of google-adk over ${place}`, () => {
    let places;
    let ask;
    const ok = async (line, body) => {
      const { status, body: answer, text } = await ask(line, body);
      assert.equal(status, 200, `${line}: ${text}`);
      return answer;
    };
    const append = (event) => ok('POST /sessions/s1:appendEvent', event);

    beforeEach(async () => {
      places = open();
      ({ ask } = openServer({ service: places.other }));
      const sessionState = { topic: 'tea', 'user:name': 'Ana' };
      await ok('POST /sessions?sessionId=s1', { userId: 'ana', sessionState });
      const turns = [
        { id: 'e1', invocationId: 'turn-1', delta: { topic: 'coffee', 'user:name': 'Bo' }, text: 'hi' },
        { id: 'e2', invocationId: 'turn-2', author: 'agent', delta: { mood: 'good' } },
      ];
      for (const [index, turn] of turns.entries()) await append(pythonEvent(index + 1, turn));
    });
    afterEach(() => Promise.all([places.service.close(), places.other.close()]));

    test('becomes a rewind: the state of the creation is back, and shared keys stay', async () => {
      await append(MARKER);
      const { sessionState } = await ok('GET /sessions/s1');
      assert.deepEqual(sessionState, { topic: 'tea', 'user:name': 'Bo' });
      const { sessionEvents } = await ok('GET /sessions/s1/events');
      const { author, invocationId, timestamp, actions, rawEvent } = sessionEvents.at(-1);
      assert.deepEqual([author, invocationId, timestamp], ['user', 'e-5f0c', time(9)]);
      assert.deepEqual(actions.stateDelta, { topic: 'tea', mood: null }, 'its own delta is replaced');
      assert.deepEqual(rawEvent.actions.stateDelta, actions.stateDelta, 'in both forms');
      assert.deepEqual(actions.artifactDelta, { 'plan.txt': 4 }, 'those versions are saved already');
      assert.equal(rawEvent.id, 'marker-1');
      assert.equal(rawEvent.actions.rewindBeforeInvocationId, 'turn-1');
      const session = await places.service.getSession(KEY);
      assert.equal(session.revision, 3);
      const { event } = await places.service.redo(session);
      assert.deepEqual({ ...session.state }, { topic: 'coffee', mood: 'good', 'user:name': 'Bo' }, event.id);
    });

    test('is carried out once, however often it is sent', async () => {
      await append(MARKER);
      await append(pythonEvent(10, { id: 'e3', invocationId: 'turn-3', delta: { mood: 'fine' } }));
      await append(MARKER);
      assert.equal((await places.service.getSession(KEY)).revision, 4);
      assert.equal((await ok('GET /sessions/s1')).sessionState.mood, 'fine');
    });

    test('is refused where its invocation has no event, or its id another one', async () => {
      const { raw_event: whole, ...parts } = MARKER;
      const other = (id, before) => ({
        ...parts,
        raw_event: { ...whole, id, actions: { ...whole.actions, rewindBeforeInvocationId: before } },
      });
      for (const [id, before, wanted] of [
        ['marker-2', 'none', 400],
        ['e1', 'turn-1', 409],
      ]) {
        const { status } = await ask('POST /sessions/s1:appendEvent', other(id, before));
        assert.equal(status, wanted, before);
      }
      assert.equal((await places.service.getSession(KEY)).revision, 2);
    });
  });
}
