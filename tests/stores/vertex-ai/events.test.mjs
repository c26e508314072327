// Events on their way to the API and back: ours, and those of others, with `rawEvent` and without.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adkService } from './adk.mjs';
import { append, APP, call, context, create, ENGINE, keyOf, opened, storeOver } from './words.mjs';

const KEY = keyOf('s1');
const TIME = Date.parse('2026-03-01T12:00:00.250Z');

/** An event with everything that the API and both ADKs know. */
const RICH = {
  id: 'event-1',
  invocationId: 'inv-1',
  author: 'agent',
  timestamp: TIME,
  content: {
    role: 'model',
    parts: [
      { text: 'thinking', thought: true },
      { functionCall: { name: 'f', args: { a: null, b: [1, 2.5, { c: 'x' }] } } },
      { functionResponse: { name: 'f', response: { ok: true, none: null } } },
      { inlineData: { mimeType: 'image/png', data: 'AAEC' } },
    ],
  },
  actions: {
    stateDelta: { topic: 'tea', 'user:name': 'Ana', 'app:tax': 7 },
    artifactDelta: { 'a.txt': 2 },
    requestedAuthConfigs: { call: { scheme: 'oauth' } },
    requestedToolConfirmations: { call: { hint: 'sure?' } },
    skipSummarization: true,
    transferToAgent: 'other',
    escalate: false,
    agentState: { step: 1 },
    endOfAgent: true,
  },
  errorCode: 'SAFETY',
  errorMessage: 'no',
  partial: false,
  turnComplete: true,
  interrupted: false,
  branch: 'a.b',
  longRunningToolIds: ['call'],
  groundingMetadata: { webSearchQueries: ['tea'] },
  customMetadata: { mine: { deep: [1] } },
  usageMetadata: { totalTokenCount: 12 },
  output: { value: 1 },
  route: 'left',
  nodeInfo: { path: 'a/b' },
  isolationScope: 'scope',
  finishReason: 'STOP',
};

async function withSession() {
  const found = opened();
  return { ...found, session: await found.service.createSession(KEY) };
}

const appended = (vertex) =>
  vertex.requests.filter((request) => request.call === 'appendEvent').map(({ body }) => body);

/** A copy without some members. */
function without(members, ...names) {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

test('an event is sent under the names of the API, and whole', async () => {
  const { vertex, service, session } = await withSession();
  await service.appendEvent({ session, event: RICH });
  const [{ rawEvent, ...parts }] = appended(vertex);
  assert.deepEqual(rawEvent, RICH);
  assert.deepEqual(parts, {
    author: 'agent',
    invocationId: 'inv-1',
    timestamp: '2026-03-01T12:00:00.250Z',
    content: RICH.content,
    actions: {
      stateDelta: RICH.actions.stateDelta,
      artifactDelta: { 'a.txt': 2 },
      requestedAuthConfigs: { call: { scheme: 'oauth' } },
      skipSummarization: true,
      transferAgent: 'other',
      escalate: false,
    },
    errorCode: 'SAFETY',
    errorMessage: 'no',
    eventMetadata: {
      partial: false,
      turnComplete: true,
      interrupted: false,
      branch: 'a.b',
      longRunningToolIds: ['call'],
      groundingMetadata: { webSearchQueries: ['tea'] },
      customMetadata: {
        mine: { deep: [1] },
        _usage_metadata: { totalTokenCount: 12 },
        _workflow: {
          output: { value: 1 },
          route: 'left',
          nodeInfo: { path: 'a/b' },
          isolationScope: 'scope',
          agentState: { step: 1 },
          endOfAgent: true,
        },
      },
    },
  });
});

test('it comes back as it was, to statepad and to adk-js', async () => {
  const { vertex, service, session } = await withSession();
  await service.appendEvent({ session, event: RICH });
  const [event] = (await opened({ fetch: vertex.fetch }).service.getSession(KEY)).events;
  assert.deepEqual(event, RICH);
  const [theirs] = (await adkService(vertex).getSession(KEY)).events;
  assert.deepEqual({ ...theirs, id: RICH.id }, RICH);
});

test('without its rawEvent it is made of its parts, as adk-js makes it', async () => {
  const { vertex, service, session } = await withSession();
  await service.appendEvent({ session, event: RICH });
  const parts = without(appended(vertex)[0], 'rawEvent');
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s2`, { userId: 'ana' });
  await call(vertex, 'POST', `${ENGINE}/sessions/s2:appendEvent`, parts);
  const read = await service.getSession(keyOf('s2'));
  const [event] = read.events;
  // The API leaves out members that are false.
  const actions = { ...without(RICH.actions, 'escalate'), requestedToolConfirmations: {} };
  assert.deepEqual(event, { ...without(RICH, 'finishReason', 'partial', 'interrupted'), id: event.id, actions });
  const [theirs] = (await adkService(vertex).getSession(keyOf('s2'))).events;
  assert.deepEqual(JSON.parse(JSON.stringify(theirs)), JSON.parse(JSON.stringify(event)));
  assert.equal(read.state.topic, 'tea');
});

test('what adk-js writes is read as it was written, apart from what it adds', async () => {
  const { vertex, service } = await withSession();
  const adk = adkService(vertex);
  const theirs = await adk.getSession(KEY);
  await adk.appendEvent({ session: theirs, event: { ...RICH, actions: pickApi(RICH.actions) } });
  const [event] = (await service.getSession(KEY)).events;
  assert.deepEqual(event, { ...RICH, actions: { ...pickApi(RICH.actions), requestedToolConfirmations: {} } });
});

/** The API's names alone: adk-js sends all others, too, which the API refuses. */
function pickApi({ stateDelta, artifactDelta, requestedAuthConfigs, skipSummarization, escalate }) {
  return { stateDelta, artifactDelta, requestedAuthConfigs, skipSummarization, escalate };
}

test('a compaction is in the metadata where both ADKs look for it', async () => {
  const { vertex, service, session } = await withSession();
  const compacted = { startTime: 1, endTime: 2, compactedContent: { role: 'model', parts: [{ text: 'all' }] } };
  const compaction = {
    startTimestamp: 1,
    endTimestamp: 2,
    compactedContent: { role: 'model', parts: [{ text: 'x' }] },
  };
  await service.appendEvent({
    session,
    event: { id: 'a', author: 'm', timestamp: TIME, isCompacted: true, ...compacted },
  });
  await service.appendEvent({
    session,
    event: { id: 'b', author: 'm', timestamp: TIME + 1, actions: { compaction } },
  });
  assert.deepEqual(
    appended(vertex).map(({ eventMetadata }) => eventMetadata.customMetadata._compaction),
    [compacted, compaction],
  );
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s2`, { userId: 'ana' });
  for (const body of appended(vertex)) {
    await call(vertex, 'POST', `${ENGINE}/sessions/s2:appendEvent`, without(body, 'rawEvent'));
  }
  const [first, second] = (await service.getSession(keyOf('s2'))).events;
  assert.deepEqual([first.isCompacted, first.startTime, first.endTime], [true, 1, 2]);
  assert.deepEqual(first.compactedContent, compacted.compactedContent);
  assert.deepEqual(second.actions.compaction, compaction);
  assert.equal(first.customMetadata, undefined);
});

test('an event of adk-python has its time in seconds, and its id in rawEvent', async () => {
  const { vertex, service } = await withSession();
  const timestamp = '2026-03-01T12:00:00.123456Z';
  await call(vertex, 'POST', `${ENGINE}/sessions/s1:appendEvent`, {
    author: 'model',
    invocation_id: 'e-1',
    timestamp,
    actions: { state_delta: { 'temp:x': 1, topic: 'tea' }, artifact_delta: {} },
    event_metadata: { partial: null, custom_metadata: null },
    raw_event: {
      id: 'python-id',
      author: 'model',
      invocationId: 'e-1',
      timestamp: Date.parse('2026-03-01T12:00:00Z') / 1000 + 0.123456,
      actions: { stateDelta: { 'temp:x': 1, topic: 'tea' }, artifactDelta: {} },
    },
  });
  const { events, state } = await service.getSession(KEY);
  assert.deepEqual(events, [
    {
      id: 'python-id',
      author: 'model',
      invocationId: 'e-1',
      timestamp: Date.parse('2026-03-01T12:00:00.123Z') + 0.456,
      actions: {
        stateDelta: { topic: 'tea' },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
    },
  ]);
  assert.deepEqual(state, { topic: 'tea' });
});

test('an event without author and invocation has none when it is read, though the API wants both', async () => {
  const { vertex, service, session } = await withSession();
  await service.appendEvent({ session, event: { id: 'a' } });
  const [{ author, invocationId }] = appended(vertex);
  assert.deepEqual([author, invocationId], ['user', 'inv-a']);
  const [event] = (await opened({ fetch: vertex.fetch }).service.getSession(KEY)).events;
  assert.deepEqual([event.author, event.invocationId], [undefined, '']);
});

test('any object of JSON comes back as an event, under the id that it was appended by', async () => {
  const { vertex, store } = await withSession();
  const texts = ['{}', '{"n":1}', '{"id":"other","timestamp":"soon"}', '{"content":"text","actions":[]}'];
  for (const [index, data] of texts.entries()) {
    await store.commit(append(`e${index}`, KEY, {}, { data, time: TIME + index }), context);
  }
  const { events } = await storeOver(vertex).load(KEY, {}, context);
  assert.deepEqual(
    events.map(({ id, data }) => [id, JSON.parse(data)]),
    texts.map((data, index) => [`e${index}`, JSON.parse(data)]),
  );
});

test('what would come back changed is refused before it is sent, and named', async () => {
  const { vertex, store } = await withSession();
  const asked = () => vertex.requests.filter(({ method }) => method === 'POST').length;
  const before = asked();
  for (const [data, message] of [
    ['no json', /an event must be JSON/],
    ['[1]', /an event must be an object/],
    ['{"n":9007199254740993}', /the number 9007199254740993 at n, which JavaScript cannot represent, nor can the API/],
    ['{"deep":[{"n":-123456789012345678901}]}', /the number -123456789012345678901 at deep\[0\]\.n/],
    ['{"text":"\\ud800"}', /the event\.text has a lone surrogate/],
    ['{"\\ud800":1}', /a name in the event has a lone surrogate/],
    [
      '{"content":{"parts":[{"text":"x"},{"partMetadata":{"a":1}}]}}',
      /content\.parts\[1\]\.partMetadata cannot be stored/,
    ],
  ]) {
    await assert.rejects(store.commit(append('e1', KEY, {}, { data }), context), { code: 'rejected', message });
  }
  for (const time of [-1e15, 1e15, Infinity, NaN]) {
    await assert.rejects(store.commit(append('e1', KEY, {}, { time }), context), {
      code: 'rejected',
      message: /not between the years 1 and 9999/,
    });
  }
  const lone = { session: { set: { x: { y: ['\udfff'] } } } };
  await assert.rejects(store.commit(append('e1', KEY, lone), context), {
    code: 'rejected',
    message: /the value of "x"\.y\[0\] has a lone surrogate/,
  });
  await assert.rejects(store.commit(create('c2', keyOf('s2'), lone), context), { code: 'rejected' });
  assert.equal(asked(), before);
  const kept = '{"id":"e1","n":9007199254740992,"m":[1e21,0.1],"text":"9007199254740993"}';
  await store.commit(append('e1', KEY, {}, { data: kept }), context);
  const { events } = await storeOver(vertex).load(KEY, {}, context);
  assert.deepEqual(JSON.parse(events[0].data), JSON.parse(kept));
});

test('what the API refuses the callself is refused with its words', async () => {
  const { service, session } = await withSession();
  const content = { role: 'user', parts: [{ text: 'x', unheardOf: 1 }] };
  await assert.rejects(service.appendEvent({ session, event: { content } }), {
    code: 'INVALID_ARGUMENT',
    message: /the store refuses: the API refuses the call: .*Unknown name "unheardOf" at 'event\.content\.parts\[0\]'/,
  });
  assert.equal((await service.getSession(KEY)).revision, 0);
});

test('times are kept to the microsecond', async () => {
  const { vertex, service, session } = await withSession();
  const times = [-62_135_596_800_000, -1, 0, 1, TIME + 0.5, TIME + 0.9996, TIME + 1.25];
  for (const [index, timestamp] of times.entries()) {
    await service.appendEvent({ session, event: { id: `e${index}`, timestamp } });
  }
  const { events } = await opened({ fetch: vertex.fetch }).service.getSession(KEY);
  assert.deepEqual(
    events.map(({ timestamp }) => timestamp),
    times,
  );
  assert.deepEqual(
    appended(vertex).map(({ timestamp }) => timestamp),
    [
      '0001-01-01T00:00:00.000Z',
      '1969-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
      '2026-03-01T12:00:00.250500Z',
      '2026-03-01T12:00:00.251Z',
      '2026-03-01T12:00:00.251250Z',
    ],
  );
});

test('sessions of one app are told from those of another engine', async () => {
  const { service } = opened();
  await service.createSession({ ...KEY, state: { 'app:x': 1 } });
  assert.equal(await service.getSession(keyOf('s1', 'ana', '9999')), undefined);
  const other = await service.createSession({ ...keyOf('s1', 'ana', '9999') });
  assert.deepEqual(other.state, {});
  assert.deepEqual((await service.getAppState({ appName: APP }))['x'], 1);
});
