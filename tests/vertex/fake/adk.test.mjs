// The session service of ADK for Agent Engine over the fake: its real client, without a network or credentials.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, test } from 'node:test';
import { createEvent, createEventActions, VertexAiSessionService } from '@google/adk';
import { fakeVertexAi } from '../../support/vertex.mjs';

// The client is ADK's own dependency, from where ADK finds it.
const requireOfAdk = createRequire(fileURLToPath(import.meta.resolve('@google/adk')));
const { Client } = requireOfAdk('@google-cloud/vertexai/build/src/genai/client.js');

const APP = '77';
const ANN = { appName: APP, userId: 'ann' };
const EVENTS = 250;
const PAGE = 100;

/** The time of an event, in milliseconds. */
const timeOf = (index) => Date.parse('2026-01-01T00:00:00Z') + index * 1000;

/** An event whose actions have only what the API knows. */
function eventOf(index, actions = {}) {
  const content = { role: 'user', parts: [{ text: `turn ${index}` }] };
  const event = createEvent({ author: 'user', invocationId: `i${index}`, content, timestamp: timeOf(index) });
  return { ...event, actions: { stateDelta: { turn: index }, ...actions } };
}

describe('the session service of ADK over the fake', () => {
  let vertex;
  let service;
  let sessions;

  beforeEach(() => {
    vertex = fakeVertexAi({ token: 'required' });
    ({
      agentEnginesInternal: { sessions },
    } = clientOver(vertex));
    service = new VertexAiSessionService({ projectId: 'shop', location: 'us-central1', sessions });
  });

  test('makes a session, appends 250 events, and reads them in pages', async () => {
    const made = await service.createSession({ ...ANN, sessionId: 's1', state: { turn: 0, 'user:name': 'Ann' } });
    assert.deepEqual({ ...made.state }, { turn: 0, 'user:name': 'Ann' });
    for (let index = 1; index <= EVENTS; index += 1) {
      await service.appendEvent({ session: made, event: eventOf(index) });
    }
    const read = await service.getSession({ ...ANN, sessionId: 's1' });
    assert.deepEqual({ ...read.state }, { turn: EVENTS, 'user:name': 'Ann' });
    // It reads no further than the first page.
    assert.deepEqual(
      read.events.map(({ timestamp }) => timestamp),
      Array.from({ length: PAGE }, (_, index) => timeOf(index + 1)),
    );
    assert.deepEqual(read.events[0].content, { role: 'user', parts: [{ text: 'turn 1' }] });
    assert.equal((await allEvents(sessions, 's1')).length, EVENTS);
    const late = await service.getSession({ ...ANN, sessionId: 's1', config: { afterTimestamp: timeOf(EVENTS - 1) } });
    assert.deepEqual(
      late.events.map(({ invocationId }) => invocationId),
      ['i249', 'i250'],
    );
    assert.equal(vertex.requests.filter(({ call }) => call === 'appendEvent').length, EVENTS);
  });

  test('lists the sessions of a user, shares state, and deletes', async () => {
    const first = await service.createSession({ ...ANN, state: { 'app:tax': 7 } });
    const second = await service.createSession({ appName: APP, userId: 'o"b\\' });
    await service.appendEvent({ session: second, event: eventOf(1, { stateDelta: { 'user:name': 'Ob' } }) });
    const { sessions: annas } = await service.listSessions(ANN);
    assert.deepEqual(
      annas.map(({ id, state }) => ({ id, state })),
      [{ id: first.id, state: { 'app:tax': 7 } }],
    );
    const { sessions: others } = await service.listSessions({ appName: APP, userId: 'o"b\\' });
    assert.deepEqual(
      others.map(({ state }) => state),
      [{ 'app:tax': 7, 'user:name': 'Ob' }],
    );
    await service.deleteSession({ ...ANN, sessionId: first.id });
    assert.equal(await service.getSession({ ...ANN, sessionId: first.id }), undefined);
    assert.deepEqual((await service.listSessions(ANN)).sessions, []);
  });

  test('waits for an operation that takes its time', async () => {
    vertex.disturb({ kind: 'pending', polls: 1 });
    const session = await service.createSession({ ...ANN, sessionId: 's1' });
    assert.equal(session.id, 's1');
    assert.deepEqual(
      vertex.requests.map(({ call }) => call),
      ['createSession', 'getOperation', 'getOperation'],
    );
  });

  test('is refused actions that the API does not know, also when it tries without the raw event', async () => {
    const session = await service.createSession({ ...ANN, sessionId: 's1' });
    const event = { ...eventOf(1), actions: createEventActions() };
    await assert.rejects(service.appendEvent({ session, event }), /Unknown name .*requestedToolConfirmations/);
    const tries = vertex.requests.filter(({ call }) => call === 'appendEvent');
    assert.deepEqual(
      tries.map(({ body }) => 'rawEvent' in body),
      [true, false],
    );
    assert.deepEqual(await allEvents(sessions, 's1'), []);
  });

  test('is refused without a token', async () => {
    sessions.apiClient.clientOptions.auth = { addAuthHeaders: async () => undefined };
    await assert.rejects(service.createSession(ANN), { status: 401 });
  });
});

/** The client of the SDK, whose requests go to the fake and whose token needs no credentials. */
function clientOver(vertex) {
  const client = new Client({ project: 'shop', location: 'us-central1' });
  client.apiClient.clientOptions.auth = {
    addAuthHeaders: async (headers) => headers.append('authorization', 'Bearer any'),
  };
  client.apiClient.apiCall = (url, init) => vertex.fetch(url, init);
  return client;
}

async function allEvents(sessions, id) {
  const events = [];
  let pageToken;
  do {
    const name = `reasoningEngines/${APP}/sessions/${id}`;
    const page = await sessions.events.listInternal({ name, config: { pageToken } });
    events.push(...(page.sessionEvents ?? []));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return events;
}
