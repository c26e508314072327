// Sessions and their events through the sessions API of Agent Engine, and through the service itself.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { DELETED, increment, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { openServer } from './server.mjs';
import { PLACES } from './places.mjs';

const KEY = { appName: '77', userId: 'ana', sessionId: 's1' };
const EVENT = { author: 'user', invocationId: 'i1', timestamp: '2026-01-02T00:00:00Z' };
const append = (event, id = 's1') => [`POST /sessions/${id}:appendEvent`, { ...EVENT, ...event }];
const rawEvent = (event) => ({
  rawEvent: { author: 'user', invocationId: 'i1', timestamp: 1, actions: {}, ...event },
});
const queryOf = (query) =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
const idOf = ({ name }) => name.split('/').at(-1);

for (const [place, open] of Object.entries(PLACES)) {
  describe(`the sessions API over ${place}`, () => {
    let places;
    let service;
    let ask;
    const ok = async (line, body) => {
      const { status, body: answer, text } = await ask(line, body);
      assert.equal(status, 200, `${line}: ${text}`);
      return answer;
    };

    beforeEach(() => {
      // No two times are equal, however fast the host is.
      let time = Date.parse('2026-01-01T00:00:00Z');
      places = open({ now: () => (time += 1) });
      ({ service } = places);
      ({ ask } = openServer({ service: places.other }));
    });
    afterEach(() => Promise.all([places.service.close(), places.other.close()]));

    test('what one API writes the other reads: state, events, revisions', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana', sessionState: { a: 1, 'user:b': 2, 'app:c': 3 } });
      await ok(...append({ actions: { stateDelta: { a: 2, 'temp:d': 4 } }, content: { parts: [{ text: 'hi' }] } }));
      const session = await service.getSession(KEY);
      assert.deepEqual({ ...session.state }, { a: 2, 'app:c': 3, 'user:b': 2 });
      assert.equal(session.revision, 1);
      assert.deepEqual(session.events[0].content, { parts: [{ text: 'hi' }] });
      assert.deepEqual(session.events[0].actions.stateDelta, { a: 2 });
      assert.equal(session.events[0].timestamp, Date.parse(EVENT.timestamp));
      await service.appendEvent({
        session,
        event: { id: 'own', author: 'agent', actions: { stateDelta: { a: DELETED, n: increment(2), 'app:c': null } } },
      });
      assert.deepEqual((await ok('GET /sessions/s1')).sessionState, { n: 2, 'app:c': null, 'user:b': 2 });
      const { sessionEvents } = await ok('GET /sessions/s1/events');
      assert.equal(sessionEvents.length, 2);
      assert.equal(idOf(sessionEvents[1]), 'own');
      assert.deepEqual(sessionEvents[1].actions.stateDelta, { a: null, n: 2, 'app:c': null });
      assert.deepEqual(sessionEvents[1].rawEvent.customMetadata.statepad.deleted, ['a']);
    });

    test('writers of both APIs are merged, and none is lost', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      const session = await service.getSession(KEY);
      const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
      await Promise.all(
        keys.map((key, index) =>
          index % 2 === 0
            ? ok(...append({ actions: { stateDelta: { [key]: index } } }))
            : service.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { [key]: index } } } }),
        ),
      );
      const { sessionState } = await ok('GET /sessions/s1');
      assert.deepEqual(Object.keys(sessionState).sort(), [...keys].sort());
      assert.equal((await ok('GET /sessions/s1/events')).sessionEvents.length, 20);
    });

    test('an event that is sent again is appended once; another one under its id is refused', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      const event = {
        actions: { stateDelta: { n: 1 } },
        ...rawEvent({ id: 'e1', actions: { stateDelta: { n: 1 } } }),
      };
      await ok(...append(event));
      await ok(...append(event));
      await assert.rejects(
        service.appendEvent({ session: { ...KEY, id: 's1' }, event: { id: 'e1', author: 'agent' } }),
        { code: 'EVENT_ID_CONFLICT' },
      );
      const other = await ask(...append({ ...event, timestamp: '2026-01-02T00:00:01Z' }));
      assert.equal(other.status, 409);
      assert.equal(other.body.error.status, 'ALREADY_EXISTS');
      assert.equal((await service.getSession(KEY)).revision, 1);
    });

    test('a whole event comes back as it was written, with all its members and its id', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      const actions = {
        stateDelta: { a: null },
        artifactDelta: { 'a.txt': 2 },
        agentState: { at: [1] },
        someday: true,
      };
      const raw = {
        id: 'e/1 ü',
        author: 'agent',
        invocationId: 'i1',
        actions: { ...actions, requestedAuthConfigs: {}, requestedToolConfirmations: { call: { hint: 'sure?' } } },
        content: { role: 'model', parts: [{ text: 'hi', partMetadata: { x: 1 } }] },
        customMetadata: { mine: { deep: [null] } },
        longRunningToolIds: ['call'],
        avgLogprobs: -0.5,
        whatever: JSON.parse('{"__proto__":1,"constructor":2}'),
        state_delta: 'not ours',
      };
      await ok(
        ...append({
          author: 'agent',
          actions: { stateDelta: { a: null } },
          rawEvent: { ...raw, timestamp: 1_767_312_000.123456 },
          timestamp: '2026-01-02T00:00:00.123456Z',
        }),
      );
      const { sessionEvents } = await ok('GET /sessions/s1/events');
      const [{ name, rawEvent: read, timestamp, content, eventMetadata, actions: shown }] = sessionEvents;
      assert.deepEqual(read, { ...raw, timestamp: 1_767_312_000_123.456 });
      assert.equal(timestamp, '2026-01-02T00:00:00.123456Z');
      assert.equal(idOf({ name }), `~${Buffer.from('e/1 ü').toString('base64url')}`);
      assert.deepEqual(content, { role: 'model', parts: [{ text: 'hi' }] }, 'the API has no partMetadata');
      // As ADK writes it, for readers without rawEvent.
      const customMetadata = { ...raw.customMetadata, _workflow: { agentState: actions.agentState } };
      assert.deepEqual(eventMetadata, { customMetadata, longRunningToolIds: ['call'] });
      assert.deepEqual(shown.artifactDelta, { 'a.txt': 2 });
      const [{ id, whatever }] = (await service.getSession(KEY)).events;
      assert.deepEqual([id, JSON.stringify(whatever)], ['e/1 ü', '{"__proto__":1,"constructor":2}']);
    });

    test('the time of an event is the outer one, to the nanosecond', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      const times = ['2026-01-02T00:00:00.123456789Z', '2026-01-02T00:00:00.123456Z', '2026-01-02T00:00:01Z'];
      for (const timestamp of times) {
        await ok(...append({ timestamp, ...rawEvent({ timestamp: 7, customMetadata: { mine: 1 } }) }));
      }
      const { sessionEvents } = await ok('GET /sessions/s1/events');
      assert.deepEqual(
        sessionEvents.map(({ timestamp }) => timestamp),
        times,
      );
      assert.ok(sessionEvents.every(({ eventMetadata }) => eventMetadata.customMetadata.mine === 1));
      assert.ok(sessionEvents.every(({ rawEvent: { customMetadata } }) => !('statepad' in customMetadata)));
      const filter = encodeURIComponent('timestamp>="2026-01-02T00:00:00.123456500Z"');
      const found = await ok(`GET /sessions/s1/events?filter=${filter}&orderBy=timestamp%20desc`);
      assert.deepEqual(
        found.sessionEvents.map(({ timestamp }) => timestamp),
        [times[2], times[0]],
      );
    });

    test('the package alone keeps times in the metadata of an event', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      const statepad = { time: '2001-01-01T00:00:00.000000001Z', mine: 1 };
      await ok(...append(rawEvent({ customMetadata: { statepad } })));
      const { sessionEvents } = await ok('GET /sessions/s1/events');
      assert.equal(sessionEvents[0].timestamp, EVENT.timestamp);
      assert.deepEqual(sessionEvents[0].rawEvent.customMetadata, { statepad: { mine: 1 } });
    });

    test('events come in the order of appending, in pages where they are asked for, and by time where that is', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana', displayName: 'Tea' });
      const seconds = [3, 1, 2, 1];
      for (const [index, second] of seconds.entries()) {
        await ok(...append({ author: `a${index}`, timestamp: `2026-01-02T00:00:0${second}Z` }));
      }
      const authors = async (query) => {
        const found = [];
        for (let token = ''; token !== undefined;) {
          const page = await ok(`GET /sessions/s1/events?${query}&pageToken=${token}`);
          found.push(...(page.sessionEvents ?? []).map(({ author }) => author));
          token = page.nextPageToken;
        }
        return found.join(' ');
      };
      assert.equal(await authors(''), 'a0 a1 a2 a3');
      assert.equal(await authors('pageSize=1'), 'a0 a1 a2 a3');
      assert.equal(await authors('orderBy=timestamp&pageSize=3'), 'a1 a3 a2 a0');
      assert.equal(await authors('orderBy=timestamp%20desc'), 'a0 a2 a1 a3');
      const v1 = openServer({ service: places.other, version: 'v1' });
      const { body } = await v1.ask('GET /sessions/s1/events');
      assert.equal(body.sessionEvents.map(({ author }) => author).join(' '), 'a1 a3 a2 a0');
    });

    test('display name and labels are in the log, hidden from this API, and last through rewinds and forks', async () => {
      await ok('POST /sessions?sessionId=s1', {
        userId: 'ana',
        sessionState: { a: 1, 'user:b': 2 },
        displayName: 'Tea',
      });
      assert.deepEqual(
        { ...(await service.getSession(KEY)).state },
        { a: 1, 'user:b': 2 },
        'they are not in the state',
      );
      await ok(...append({ actions: { stateDelta: { a: 2 } } }));
      const changed = await ok('PATCH /sessions/s1?updateMask=labels', {
        labels: { kind: 'green' },
        displayName: 'No',
      });
      assert.deepEqual([changed.displayName, changed.labels], ['Tea', { kind: 'green' }]);
      assert.equal((await ok('GET /sessions/s1/events')).sessionEvents.length, 1);
      const session = await service.getSession(KEY);
      assert.equal(session.revision, 3);
      assert.deepEqual(session.events[2].customMetadata.statepad, {
        session: { displayName: 'Tea', labels: { kind: 'green' } },
      });
      await service.rewind(session, { before: 'i1' });
      await service.fork(session, { sessionId: 's2' });
      for (const id of ['s1', 's2']) {
        const { displayName, labels, sessionState } = await ok(`GET /sessions/${id}`);
        assert.deepEqual([displayName, labels, sessionState], ['Tea', { kind: 'green' }, { a: 1, 'user:b': 2 }]);
      }
      const cleared = await ok('PATCH /sessions/s1?updateMask=displayName,labels', {});
      assert.deepEqual([cleared.displayName, cleared.labels], [undefined, undefined]);
    });

    test('what is remembered of a session is right when another server writes', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana', displayName: 'One' });
      const beside = openServer({ service });
      assert.equal((await beside.ask('GET /sessions/s1')).body.displayName, 'One');
      await ok('PATCH /sessions/s1', { displayName: 'Two' });
      assert.equal((await beside.ask('GET /sessions/s1')).body.displayName, 'Two');
      await ok(...append({}));
      assert.equal((await beside.ask('GET /sessions')).body.sessions[0].displayName, 'Two');
      await ok('DELETE /sessions/s1');
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      assert.equal((await beside.ask('GET /sessions/s1')).body.displayName, undefined);
    });

    test('an update replaces the own keys of a session, and those alone', async () => {
      await ok('POST /sessions?sessionId=s1', {
        userId: 'ana',
        sessionState: { a: 1, b: 2, 'user:u': 3, 'app:p': 4 },
      });
      const { sessionState } = await ok('PATCH /sessions/s1', {
        sessionState: { b: 5, c: 6, 'user:v': 7, 'temp:t': 8 },
      });
      assert.deepEqual(sessionState, { b: 5, c: 6, 'app:p': 4, 'user:u': 3, 'user:v': 7 });
      assert.deepEqual({ ...(await service.getSession(KEY)).state }, sessionState);
      assert.equal((await ask('GET /sessions/s1/events')).body.sessionEvents, undefined);
    });

    test('an update that meets other writers replaces what they wrote before it', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana', sessionState: { a: 0 } });
      const session = await service.getSession(KEY);
      const writers = Array.from({ length: 10 }, (_, index) =>
        service.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { [`k${index}`]: 1 } } } }),
      );
      await Promise.all([ok('PATCH /sessions/s1', { sessionState: { whole: true } }), ...writers]);
      const { events, state } = await service.getSession(KEY);
      const at = events.findIndex(({ actions }) => actions.stateDelta.whole === true);
      const later = events.slice(at + 1).flatMap(({ actions }) => Object.keys(actions.stateDelta));
      assert.deepEqual(Object.keys(state).sort(), ['whole', ...later].sort());
    });

    test('lists have all sessions once, whatever their order, filters and pages', async () => {
      for (const [index, userId] of ['ana', 'bob', 'ana', 'ana'].entries()) {
        const described = index % 2 === 0 ? { displayName: `n${index}`, labels: { even: 'yes' } } : {};
        await ok(`POST /sessions?sessionId=s${index}`, { userId, ...described });
      }
      const listed = async (query) => {
        const found = [];
        for (let token = ''; token !== undefined;) {
          const page = await ok(`GET /sessions?pageSize=2&${queryOf({ ...query, pageToken: token })}`);
          found.push(...(page.sessions ?? []).map(idOf));
          token = page.nextPageToken;
        }
        return found.join(' ');
      };
      await ok(...append({ timestamp: '2100-01-01T00:00:00Z' }, 's1'));
      assert.equal((await listed({})).split(' ').sort().join(' '), 's0 s1 s2 s3');
      assert.equal((await listed({})).slice(0, 2), 's1');
      assert.equal(await listed({ orderBy: 'create_time' }), 's0 s1 s2 s3');
      assert.equal((await listed({ orderBy: 'updateTime' })).slice(-2), 's1');
      assert.equal(await listed({ filter: 'user_id="bob"' }), 's1');
      assert.equal(await listed({ filter: 'user_id!="ana"' }), 's1');
      assert.equal(await listed({ filter: 'user_id="ana" AND labels.even="yes"', orderBy: 'create_time' }), 's0 s2');
      assert.equal(await listed({ filter: 'display_name="n2"' }), 's2');
      assert.equal(await listed({ filter: 'labels.even!="yes"', orderBy: 'create_time desc' }), 's3 s1');
    });

    test('an operation is found by the names that clients of both versions have for it', async () => {
      for (const version of ['v1', 'v1beta1']) {
        const server = openServer({ service: places.other, version });
        const answers = [
          (await server.ask('POST /sessions?sessionId=s1', { userId: 'ana', sessionState: { a: 1 } })).body,
          (await server.ask('DELETE /sessions/s1')).body,
        ];
        const [created, deleted] = answers;
        await server.ask('POST /sessions?sessionId=s1', { userId: 'ana' });
        const id = created.name.split('/').at(-1);
        const parent = created.name.replace(/(\/reasoningEngines.*)?\/operations.*/, '');
        for (const name of [
          `${parent}/operations/${id}`,
          `${parent}/reasoningEngines/77/sessions/s1/operations/${id}`,
        ]) {
          assert.equal((await server.ask(`GET ${name}`)).status, 404, 'another session has its id by now');
        }
        const gone = await server.ask(`GET ${deleted.name}`);
        assert.deepEqual([gone.status, gone.body.done, gone.body.name], [200, true, deleted.name]);
        const again = (await server.ask('DELETE /sessions/s1')).body;
        assert.equal((await server.ask(`GET ${again.name}`)).body.done, true);
        const next = (await server.ask('POST /sessions?sessionId=s1', { userId: 'ana' })).body;
        const found = await server.ask(`GET ${parent}/operations/${next.name.split('/').at(-1)}`);
        assert.deepEqual(found.body.response, next.response);
        await server.ask('DELETE /sessions/s1');
      }
      for (const id of ['x', 'W10', Buffer.from('["create","77","s1"]').toString('base64url')]) {
        assert.equal((await ask(`GET projects/shop/locations/us-central1/operations/${id}`)).status, 404);
      }
    });

    test('a session that several users have is named with its user', async () => {
      for (const userId of ['ana', 'bob']) await service.createSession({ ...KEY, userId });
      for (const [line, body] of [
        ['GET /sessions/s1'],
        append({}),
        ['DELETE /sessions/s1'],
        ['PATCH /sessions/s1', {}],
      ]) {
        const { status, body: answer } = await ask(line, body);
        assert.equal(status, 409, line);
        assert.match(answer.error.message, /2 users have a session .*\/s1: .*\/v1\/apps\/APP\/users\/USER/);
      }
      const anas = openServer({ service, authorize: () => ({ id: 'a', apps: ['77'], users: ['ana'] }) });
      assert.equal((await anas.ask('GET /sessions/s1')).body.userId, 'ana');
      assert.equal((await anas.ask(...append({}))).status, 200);
      assert.equal((await service.getSession({ ...KEY, userId: 'bob' })).revision, 0);
    });

    test('ids that a path cannot hold as they are have one other spelling', async () => {
      for (const sessionId of ['a b', 'x/y', '..', '~z', 'c:d']) {
        await service.createSession({ ...KEY, sessionId });
      }
      const { sessions } = await ok('GET /sessions');
      assert.equal(sessions.length, 5);
      for (const { name } of sessions) {
        assert.equal((await ok(`GET ${name}`)).name, name);
        await ok(`POST ${name}:appendEvent`, EVENT);
        assert.equal((await ok(`GET ${name}/events`)).sessionEvents[0].name.startsWith(`${name}/events/`), true);
      }
      for (const path of ['x%2Fy', '~YSBi', '~!', '%E0']) {
        const { status, body } = await ask(`GET /sessions/${path}`);
        assert.deepEqual([status, body.error.status], [400, 'INVALID_ARGUMENT'], path);
      }
    });

    test('a piece of a stream is taken, and nothing keeps it', async () => {
      await ok('POST /sessions?sessionId=s1', { userId: 'ana' });
      await ok(...append({ eventMetadata: { partial: true }, actions: { stateDelta: { a: 1 } } }));
      await ok(...append(rawEvent({ partial: true })));
      assert.equal((await service.getSession(KEY)).revision, 0);
    });
  });
}

test('a store that cannot find sessions by their ids is refused by name, by every operation', async () => {
  const service = new SessionService({ store: { ...memoryStore(), owners: undefined } });
  const { ask } = openServer({ service });
  for (const [line, body] of [
    ['GET /sessions'],
    ['POST /sessions', { userId: 'ana' }],
    ['GET /sessions/s1'],
    ['GET /sessions/s1/events'],
    append({}),
    ['PATCH /sessions/s1', {}],
    ['DELETE /sessions/s1'],
  ]) {
    const { status, body: answer } = await ask(line, body);
    assert.deepEqual([status, answer.error.status], [501, 'UNIMPLEMENTED'], line);
    assert.match(answer.error.message, /keeps no index of session ids/);
  }
  await service.close();
});
