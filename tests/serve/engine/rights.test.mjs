// The rights of clients in the sessions API of Agent Engine: every operation, asked by every principal.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { source } from '../../support/source.mjs';
import { openServer } from './server.mjs';

const { CALLS } = await source('serve/agent-engine/wire/paths.ts');

const SCOPES = ['session', 'user', 'app'];
const ANA = { id: 'ana', apps: ['77'], users: ['ana'] };

/** The principals: all see the app 77, whose user ana has the session s1, unless they say otherwise. */
const PRINCIPALS = {
  nobody: undefined,
  everyone: { apps: 'all', users: 'all', writes: SCOPES },
  ana: ANA,
  anaWritesAll: { ...ANA, writes: SCOPES },
  anaReadsOnly: { ...ANA, writes: [] },
  anaInS1: { ...ANA, sessions: ['s1'] },
  anaInS2: { ...ANA, sessions: ['s2'] },
  anaWithoutSessions: { ...ANA, reads: ['user', 'app'] },
  bob: { id: 'bob', apps: ['77'], users: ['bob'] },
  bobElsewhere: { id: 'bob', apps: ['78'], users: ['bob', 'ana'] },
  hasEnded: { ...ANA, ends: 1 },
};

const NAMES = Object.keys(PRINCIPALS);
/** The answers of a row, in the order of the principals. */
const answers = (...statuses) => Object.fromEntries(NAMES.map((name, index) => [name, statuses[index]]));

const EVENT = { author: 'user', invocationId: 'i9', timestamp: '2026-01-02T00:00:00Z' };
const raw = (stateDelta, actions = {}) => ({
  ...EVENT,
  actions: { stateDelta },
  rawEvent: { ...EVENT, id: 'raw', timestamp: 1, actions: { stateDelta, artifactDelta: {}, ...actions } },
});
const deleting = (key) => {
  const { rawEvent, ...event } = raw({ [key]: null });
  return { ...event, rawEvent: { ...rawEvent, customMetadata: { statepad: { deleted: [key] } } } };
};

/**
 * The requests, and the status for each principal:
 *                         nobody everyone ana  all  reads inS1 inS2 without bob  elsewhere ended
 */
const ROWS = [
  ['getSession', 'GET /sessions/s1', undefined, answers(401, 200, 200, 200, 200, 200, 404, 404, 404, 403, 401)],
  ['getSession', 'GET /sessions/none', undefined, answers(401, 404, 404, 404, 404, 404, 404, 404, 404, 403, 401)],
  ['listEvents', 'GET /sessions/s1/events', undefined, answers(401, 200, 200, 200, 200, 200, 404, 404, 404, 403, 401)],
  ['listSessions', 'GET /sessions', undefined, answers(401, 200, 200, 200, 200, 200, 200, 403, 200, 403, 401)],
  [
    'listSessions',
    'GET /sessions?filter=user_id%3D%22ana%22',
    undefined,
    answers(401, 200, 200, 200, 200, 200, 200, 403, 403, 403, 401),
  ],
  [
    'listSessions',
    'GET /sessions?filter=user_id%3D%22none%22',
    undefined,
    answers(401, 200, 403, 403, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'createSession',
    'POST /sessions',
    { userId: 'ana' },
    answers(401, 200, 200, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'createSession',
    'POST /sessions?sessionId=s2',
    { userId: 'ana', sessionState: { a: 1, 'user:b': 2, 'temp:c': 3 } },
    answers(401, 200, 200, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'createSession',
    'POST /sessions?sessionId=s2',
    { userId: 'ana', sessionState: { a: 1 } },
    answers(401, 200, 200, 200, 403, 403, 200, 403, 403, 403, 401),
  ],
  [
    'createSession',
    'POST /sessions?sessionId=s2',
    { userId: 'ana', sessionState: { 'app:c': 3 } },
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  // Another user's session has the id: only who sees that one is refused.
  [
    'createSession',
    'POST /sessions?sessionId=s1',
    { userId: 'bob' },
    answers(401, 400, 403, 403, 403, 403, 403, 403, 200, 403, 401),
  ],
  [
    'updateSession',
    'PATCH /sessions/s1',
    { displayName: 'Tea', sessionState: { a: 1 } },
    answers(401, 200, 200, 200, 403, 200, 404, 404, 404, 403, 401),
  ],
  [
    'updateSession',
    'PATCH /sessions/s1',
    { sessionState: { 'user:b': 1 } },
    answers(401, 200, 200, 200, 403, 403, 403, 404, 404, 403, 401),
  ],
  [
    'updateSession',
    'PATCH /sessions/s1',
    { sessionState: { 'app:b': 1 } },
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  ['updateSession', 'PATCH /sessions/none', {}, answers(401, 404, 404, 404, 403, 404, 404, 404, 404, 403, 401)],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    EVENT,
    answers(401, 200, 200, 200, 403, 200, 404, 404, 404, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    { ...EVENT, actions: { stateDelta: { 'user:b': 1, 'temp:c': 1 } } },
    answers(401, 200, 200, 200, 403, 403, 403, 404, 404, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    { ...EVENT, actions: { stateDelta: { 'app:b': 1 } } },
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    raw({ a: 1, 'app:b': 1 }),
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    deleting('app:shared'),
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    raw({ a: 1 }, { rewindBeforeInvocationId: 'i1' }),
    answers(401, 200, 200, 200, 403, 200, 404, 404, 404, 403, 401),
  ],
  [
    'appendEvent',
    'POST /sessions/s1:appendEvent',
    raw({ 'app:b': 1 }, { rewindBeforeInvocationId: 'i1' }),
    answers(401, 200, 403, 200, 403, 403, 403, 403, 403, 403, 401),
  ],
  ['deleteSession', 'DELETE /sessions/s1', {}, answers(401, 200, 200, 200, 403, 200, 404, 404, 404, 403, 401)],
  ['deleteSession', 'DELETE /sessions/none', {}, answers(401, 404, 404, 404, 403, 404, 404, 404, 404, 403, 401)],
  ['getOperation', 'GET {operation}', undefined, answers(401, 200, 200, 200, 200, 200, 404, 404, 404, 403, 401)],
];

test('the table has every operation, and every answer', () => {
  assert.deepEqual(new Set(ROWS.map(([operation]) => operation)), new Set(CALLS));
  for (const [, line, , statuses] of ROWS) {
    assert.deepEqual(Object.keys(statuses), NAMES);
    assert.ok(
      Object.values(statuses).every((status) => typeof status === 'number'),
      line,
    );
  }
});

/** A server with the session s1 of ana, unless `isEmpty`, for one principal. */
async function serverFor(principal, isEmpty = false) {
  const service = new SessionService();
  let operation = 'projects/shop/locations/us-central1/operations/none';
  if (!isEmpty) {
    const { ask } = openServer({ service });
    const body = { userId: 'ana', sessionState: { own: 1, 'user:mine': 2, 'app:shared': 3 } };
    operation = (await ask('POST /sessions?sessionId=s1', body)).body.name;
    await ask('POST /sessions/s1:appendEvent', { ...EVENT, invocationId: 'i1' });
  }
  return { ...openServer({ service, authorize: () => principal }), service, operation };
}

describe('each operation is answered as the table says', () => {
  for (const [operation, line, body, statuses] of ROWS) {
    const keys =
      JSON.stringify(body)
        ?.match(/"\w+:\w+"/g)
        ?.join(' ') ?? '';
    for (const [name, wanted] of Object.entries(statuses)) {
      test(`${operation}, ${line} ${keys} by ${name}: ${wanted}`, async () => {
        const server = await serverFor(PRINCIPALS[name]);
        const before = await stateOf(server.service);
        const { status, text } = await server.ask(line.replace('{operation}', server.operation), body);
        assert.equal(status, wanted, text);
        if (status >= 400) {
          assert.deepEqual(await stateOf(server.service), before, 'a request that is refused writes nothing');
        }
      });
    }
  }
});

/** Everything that is stored. */
async function stateOf(service) {
  const apps = await service.listSessions({ appName: '77' });
  const whole = apps.sessions.map((session) => service.getSession({ ...session, sessionId: session.id }));
  return [
    await service.getAppState({ appName: '77' }),
    ...(await Promise.all(whole)).map(({ state, events }) => ({ state, events })),
  ];
}

describe('no answer tells whether a session exists that the client may not see', () => {
  for (const [operation, line, body, statuses] of ROWS) {
    const refused = NAMES.filter((name) => statuses[name] >= 400 && statuses[name] !== 401);
    for (const name of refused.filter((one) => !sees(PRINCIPALS[one], line))) {
      test(`${operation}, ${line} by ${name}: ${statuses[name]}`, async () => {
        const [there, gone] = await Promise.all([serverFor(PRINCIPALS[name]), serverFor(PRINCIPALS[name], true)]);
        const asked = line.replace('{operation}', there.operation);
        const [one, other] = [await there.ask(asked, body), await gone.ask(asked, body)];
        assert.deepEqual([one.status, one.text, [...one.headers]], [other.status, other.text, [...other.headers]]);
      });
    }
  }
});

/** True when a principal sees the session that a line names. */
function sees({ users, sessions = ['s1'], reads = SCOPES }, line) {
  const isAnas = users === 'all' || users.includes('ana');
  return /s1|operation/.test(line) && isAnas && sessions.includes('s1') && reads.includes('session');
}

test('values and events have no keys of scopes that the client may not read', async () => {
  const service = new SessionService();
  const { ask } = openServer({ service });
  const delta = { own: 4, 'user:mine': 5, 'app:shared': 6 };
  await ask('POST /sessions?sessionId=s1', {
    userId: 'ana',
    sessionState: { own: 1, 'user:mine': 2, 'app:shared': 3 },
  });
  await ask('POST /sessions/s1:appendEvent', raw(delta));
  const server = openServer({ service, authorize: () => ({ ...ANA, reads: ['session'] }) });
  const { body: session } = await server.ask('GET /sessions/s1');
  assert.deepEqual(session.sessionState, { own: 4 });
  const { body: list } = await server.ask('GET /sessions');
  assert.deepEqual(list.sessions[0].sessionState, { own: 4 });
  const { body: page, text } = await server.ask('GET /sessions/s1/events');
  assert.deepEqual(page.sessionEvents[0].actions.stateDelta, { own: 4 });
  assert.deepEqual(page.sessionEvents[0].rawEvent.actions.stateDelta, { own: 4 });
  assert.ok(!text.includes('mine') && !text.includes('shared'), text);
});

test('keys are removed from the copy that an event of adk-rust has of itself as well, whose numbers stay', async () => {
  const service = new SessionService();
  const { ask } = openServer({ service });
  await ask('POST /sessions?sessionId=s1', { userId: 'ana' });
  const stateDelta = { own: 1, 'user:mine': 2 };
  const adkEvent = '{"id":"r","wide":9007199254740993,"actions":{"state_delta":{"own":1,"user:mine":2}}}';
  for (const [id, copy] of Object.entries({ e1: adkEvent, e2: 'no JSON' })) {
    const { rawEvent, ...event } = raw(stateDelta);
    await ask('POST /sessions/s1:appendEvent', {
      ...event,
      rawEvent: { ...rawEvent, id, _adkRust: { adkEvent: copy, contentSource: 'none', schemaVersion: 1 } },
    });
  }
  const reader = openServer({ service, version: 'v1', authorize: () => ({ ...ANA, reads: ['session'] }) });
  const { body, text } = await reader.ask('GET /sessions/s1/events');
  const [first, second] = body.sessionEvents.map(({ rawEvent }) => rawEvent._adkRust);
  assert.equal(first.adkEvent, adkEvent.replace(',"user:mine":2', ''));
  assert.equal(second, undefined);
  assert.ok(!text.includes('mine'));
  const { body: whole } = await ask('GET /sessions/s1/events');
  assert.equal(whole.sessionEvents[0].rawEvent._adkRust.adkEvent, adkEvent);
});

test('a principal of some users, or of some sessions, lists those alone, in pages of full length', async () => {
  const service = new SessionService();
  for (const userId of ['ana', 'bob', 'cy']) {
    for (const sessionId of ['s1', 's2', 's3']) await service.createSession({ appName: '77', userId, sessionId });
  }
  const listed = async (principal) => {
    const { ask } = openServer({ service, authorize: () => ({ id: 'p', apps: ['77'], ...principal }) });
    const pages = [];
    for (let token = ''; token !== undefined;) {
      const { body } = await ask(`GET /sessions?pageSize=2&pageToken=${token}`);
      pages.push((body.sessions ?? []).map(({ name, userId }) => `${userId}/${name.split('/').at(-1)}`));
      token = body.nextPageToken;
    }
    return pages;
  };
  const all = (users, ids) => users.flatMap((userId) => ids.map((id) => `${userId}/${id}`)).sort();
  for (const [principal, wanted] of [
    [{ users: ['ana', 'cy'] }, all(['ana', 'cy'], ['s1', 's2', 's3'])],
    [{ users: ['bob'], sessions: ['s1', 's3', 's9'] }, all(['bob'], ['s1', 's3'])],
    [{ users: 'all', sessions: ['s2'] }, all(['ana', 'bob', 'cy'], ['s2'])],
    [{ users: [] }, []],
  ]) {
    const pages = await listed(principal);
    assert.deepEqual(pages.flat().sort(), wanted);
    assert.ok(pages.slice(0, -1).every((page) => page.length === 2));
  }
});
