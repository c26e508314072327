// Statepad's own routes, operation by operation: what one writes the others read.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MONDAY, openServer, PLACES } from './server.mjs';

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

const event = (stateDelta, more = {}) => ({ author: 'agent', invocationId: 'i2', ...more, actions: { stateDelta } });

for (const place of Object.keys(PLACES)) {
  describe(`the routes, ${place}`, () => {
    /** A test with a server of its own. */
    const test = (name, run) =>
      it(name, async () => {
        const server = await openServer(place);
        await run(server);
        assert.deepEqual(server.errors, [], 'nothing was logged');
        await server.service.close();
      });
    const ok = async (asking) => {
      const answer = await asking;
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      return answer.body;
    };

    test('create a session, and read it as the service does', async ({ ask, service }) => {
      const state = { n: 1, nothing: null, 'user:n': 2, 'app:n': 3, 'temp:n': 4, ['__proto__']: 'own' };
      const created = await ask('POST', `${U}/sessions`, { body: { sessionId: 'new', state } });
      assert.equal(created.status, 200);
      assert.equal(created.body.state['temp:n'], undefined);
      assert.ok(Object.hasOwn(created.body.state, '__proto__'));
      const read = await ask('GET', `${U}/sessions/new`);
      assert.deepEqual(read.body, created.body);
      assert.equal(read.headers.get('etag'), created.headers.get('etag'));
      const session = await service.getSession({ ...MONDAY, sessionId: 'new' });
      assert.deepEqual(read.body, JSON.parse(JSON.stringify(plain(session))));
    });

    test('generate an id, and get or create a session', async ({ ask }) => {
      const { id } = await ok(ask('POST', `${U}/sessions`, { body: {} }));
      assert.match(id, /^[0-9a-f-]{36}$/);
      const found = await ok(ask('POST', `${U}/sessions:getOrCreate`, { body: { sessionId: id, state: { n: 1 } } }));
      assert.deepEqual([found.id, found.state.n], [id, undefined]);
      const made = await ok(ask('POST', `${U}/sessions:getOrCreate`, { body: { sessionId: 'x', state: { n: 1 } } }));
      assert.deepEqual([made.id, made.state.n], ['x', 1]);
    });

    test('read windows of events', async ({ ask }) => {
      for (const id of ['e2', 'e3']) await ok(ask('POST', `${S}/events`, { body: { event: event({}, { id }) } }));
      const ids = async (query) => (await ok(ask('GET', `${S}${query}`))).events.map(({ id }) => id);
      assert.deepEqual(await ids(''), ['e1', 'e2', 'e3']);
      assert.deepEqual(await ids('?numRecentEvents=2'), ['e2', 'e3']);
      assert.deepEqual(await ids('?numRecentEvents=0'), []);
      assert.deepEqual(await ids(`?afterTimestamp=${Date.now() + 60_000}`), []);
      assert.deepEqual(await ids('?afterTimestamp=0'), ['e1', 'e2', 'e3']);
    });

    test('delete a session, and with its ETag no other one', async ({ ask }) => {
      const etag = (await ask('GET', S)).headers.get('etag');
      assert.equal((await ask('DELETE', S, { headers: { 'if-match': etag } })).status, 204);
      assert.equal((await ask('GET', S)).status, 404);
      const second = await ask('POST', `${U}/sessions`, { body: { sessionId: 'monday' } });
      assert.notEqual(second.headers.get('etag'), etag);
      assert.equal((await ask('DELETE', S, { headers: { 'if-match': etag } })).status, 204);
      assert.equal((await ask('GET', S)).status, 200);
      assert.equal((await ask('DELETE', S, { headers: { 'if-match': '*' } })).status, 204);
      assert.equal((await ask('GET', S)).status, 404);
      assert.equal((await ask('DELETE', S)).status, 204);
    });

    test('append events, and answer what the client lacks', async ({ ask, service }) => {
      const first = await ok(ask('POST', `${S}/events`, { body: { event: event({ n: 1 }), since: 1 } }));
      assert.deepEqual([first.revision, first.state.n, first.events], [2, 1, [first.event]]);
      await service.updateState(MONDAY, () => ({ n: 2 }));
      const second = await ok(ask('POST', `${S}/events`, { body: { event: event({ m: 3 }), since: 2 } }));
      assert.deepEqual([second.revision, second.state.n, second.state.m], [4, 2, 3]);
      assert.equal(second.lastUpdateTime, second.event.timestamp);
      assert.deepEqual(
        second.events.map(({ author }) => author),
        ['system', 'agent'],
      );
      assert.deepEqual(second.events[1], second.event);
      const third = await ok(ask('POST', `${S}/events`, { body: { event: event({}) } }));
      assert.deepEqual(Object.keys(third), ['event', 'revision', 'lastUpdateTime']);
      const ahead = await ok(ask('POST', `${S}/events`, { body: { event: event({}), since: 99 } }));
      assert.deepEqual(ahead.events, []);
    });

    test('answer an event that was sent again as it is stored', async ({ ask }) => {
      const body = { event: event({ n: 1 }, { id: 'mine' }), since: 1 };
      const first = await ok(ask('POST', `${S}/events`, { body }));
      await ok(ask('POST', `${S}/events`, { body: { event: event({ n: 2 }) } }));
      const again = await ok(ask('POST', `${S}/events`, { body }));
      assert.deepEqual([again.event, again.revision, again.state.n], [first.event, 3, 2]);
      assert.equal(again.events.length, 2);
      const other = await ask('POST', `${S}/events`, { body: { event: event({ n: 5 }, { id: 'mine' }) } });
      assert.deepEqual([other.status, other.body.error.code, other.body.error.id], [409, 'EVENT_ID_CONFLICT', 'mine']);
    });

    test('append under a revision', async ({ ask }) => {
      const stale = await ask('POST', `${S}/events`, { body: { event: event({}), expectedRevision: 0 } });
      const { code, expected, actual } = stale.body.error;
      assert.deepEqual([stale.status, code, expected, actual], [409, 'SESSION_STALE', 0, 1]);
      await ok(ask('POST', `${S}/events`, { body: { event: event({}), expectedRevision: 1 } }));
    });

    test('append deletions and operators in their JSON forms, and drop temp keys', async ({ ask }) => {
      const sent = {
        ...event({ topic: null, n: null, 'temp:a': 1, kept: null }),
        customMetadata: {
          mine: 1,
          statepad: {
            deleted: ['topic', 'temp:b'],
            operators: { n: { increment: 2 }, 'user:list': { append: ['x'] }, 'temp:c': { increment: 1 } },
          },
        },
      };
      const { event: stored, state } = await ok(ask('POST', `${S}/events`, { body: { event: sent, since: 1 } }));
      assert.deepEqual(stored.actions.stateDelta, { topic: null, n: 2, kept: null, 'user:list': ['x'] });
      assert.deepEqual(stored.customMetadata, {
        mine: 1,
        statepad: { deleted: ['topic'], operators: { n: { increment: 2 }, 'user:list': { append: ['x'] } } },
      });
      assert.deepEqual(
        [Object.hasOwn(state, 'topic'), state.n, state.kept, state['user:list']],
        [false, 2, null, ['x']],
      );
      assert.equal(state['temp:a'], undefined);
      // A stored event, copied into another session: its results count.
      const copy = { ...stored, id: undefined };
      const there = await ok(ask('POST', `${U}/sessions/tuesday/events`, { body: { event: copy, since: 0 } }));
      assert.deepEqual([there.state.n, there.state['user:list']], [2, ['x']]);
      assert.deepEqual(there.event.customMetadata, stored.customMetadata);
      const bare = { author: 'agent', customMetadata: { statepad: { operators: { bare: { setOnce: 1 } } } } };
      assert.equal(
        (await ok(ask('POST', `${U}/sessions/tuesday/events`, { body: { event: bare, since: 0 } }))).state.bare,
        1,
      );
      const { n } = (await ok(ask('POST', `${S}/events`, { body: { event: sent, since: 2 } }))).state;
      assert.equal(n, 4);
    });

    for (const [what, own, path] of [
      ['an unknown operator', { operators: { n: { multiply: 2 } } }, 'customMetadata.statepad.operators["n"]'],
      [
        'two operators on a key',
        { operators: { n: { increment: 1, setOnce: 1 } } },
        'customMetadata.statepad.operators["n"]',
      ],
      ['operators that are a list', { operators: [] }, 'customMetadata.statepad.operators'],
      ['deletions that are no list', { deleted: 'n' }, 'customMetadata.statepad.deleted'],
    ]) {
      test(`refuse ${what}`, async ({ ask }) => {
        const body = { event: { ...event({}), customMetadata: { statepad: own } } };
        const { status, body: answer } = await ask('POST', `${S}/events`, { body });
        assert.deepEqual([status, answer.error.code, answer.error.path], [400, 'INVALID_ARGUMENT', path]);
      });
    }

    test('store no partial event', async ({ ask }) => {
      const { event: shown, revision } = await ok(
        ask('POST', `${S}/events`, { body: { event: { partial: true, author: 'a' } } }),
      );
      assert.deepEqual([shown.partial, shown.author, revision], [true, 'a', 1]);
      assert.equal((await ok(ask('GET', S))).revision, 1);
    });

    test('list events by pages', async ({ ask }) => {
      for (let n = 2; n <= 5; n++)
        await ok(ask('POST', `${S}/events`, { body: { event: event({}, { id: `e${n}` }) } }));
      const ids = [];
      let token = '';
      do {
        const page = await ok(ask('GET', `${S}/events?pageSize=2${token}`));
        assert.equal(page.revision, 5);
        ids.push(page.events.map(({ id }) => id));
        token = page.nextPageToken === undefined ? undefined : `&pageToken=${page.nextPageToken}`;
      } while (token !== undefined);
      assert.deepEqual(ids, [['e1', 'e2'], ['e3', 'e4'], ['e5']]);
      const rest = await ok(ask('GET', `${S}/events?after=3`));
      assert.deepEqual(
        rest.events.map(({ id }) => id),
        ['e4', 'e5'],
      );
      assert.deepEqual((await ok(ask('GET', `${S}/events?after=5`))).events, []);
      assert.deepEqual((await ok(ask('GET', `${S}/events?after=50`))).events, []);
      assert.equal((await ask('GET', `${U}/sessions/none/events`)).status, 404);
    });

    test('rewind, redo and fork', async ({ ask }) => {
      await ok(ask('POST', `${S}/events`, { body: { event: event({ topic: 'stars', 'app:seen': 2 }) } }));
      const back = await ok(ask('POST', `${S}:rewind`, { body: { before: 'i2', artifactDelta: { 'a.txt': 1 } } }));
      assert.deepEqual([back.revision, back.shared], [3, ['app:seen']]);
      assert.deepEqual(back.event.actions.artifactDelta, { 'a.txt': 1 });
      assert.equal((await ok(ask('GET', S))).state.topic, 'moon');
      const redone = await ok(ask('POST', `${S}:redo`));
      assert.equal(redone.revision, 4);
      assert.equal((await ok(ask('GET', S))).state.topic, 'stars');
      assert.equal((await ask('POST', `${S}:rewind`, { body: { before: 'none' } })).status, 400);
      const fork = await ask('POST', `${S}:fork`, { body: { at: 1, sessionId: 'fork' } });
      assert.deepEqual([fork.body.id, fork.body.state.topic, fork.body.revision], ['fork', 'moon', 2]);
      assert.equal(fork.headers.get('etag'), (await ask('GET', `${U}/sessions/fork`)).headers.get('etag'));
      assert.equal(
        (await ask('POST', `${S}:fork`, { body: { sessionId: 'fork' } })).body.error.code,
        'SESSION_EXISTS',
      );
      assert.equal((await ask('POST', `${S}:fork`, { body: { at: 99 } })).status, 400);
    });

    test('rewind by the marker of an ADK, whatever delta it has', async ({ ask }) => {
      await ok(ask('POST', `${S}/events`, { body: { event: event({ topic: 'stars' }) } }));
      const marker = {
        ...event({ topic: 'wrong', n: 'wrong' }, { id: 'marker', invocationId: 'i3', author: 'user' }),
      };
      marker.actions.rewindBeforeInvocationId = 'i1';
      marker.actions.artifactDelta = { 'a.txt': 0 };
      const answer = await ok(ask('POST', `${S}/events`, { body: { event: marker, since: 2 } }));
      // The value of the creation, which ADK forgets.
      assert.equal(answer.state.topic, 'tides');
      assert.deepEqual(answer.event.actions.stateDelta, { topic: 'tides' });
      assert.deepEqual(answer.event.actions.artifactDelta, { 'a.txt': 0 });
      assert.deepEqual([answer.event.id, answer.event.author, answer.event.invocationId], ['marker', 'user', 'i3']);
      assert.deepEqual(answer.events, [answer.event]);
      const again = await ok(ask('POST', `${S}/events`, { body: { event: marker, since: 2 } }));
      assert.deepEqual([again.event, again.revision], [answer.event, 3]);
      const guarded = await ask('POST', `${S}/events`, {
        body: { event: { ...marker, id: 'm2' }, expectedRevision: 3 },
      });
      assert.deepEqual([guarded.status, guarded.body.error.path], [400, 'expectedRevision']);
    });

    test('write and read the state of all scopes', async ({ ask }) => {
      const update = async (path, body) => (await ok(ask('POST', `${path}/state:update`, { body }))).state;
      assert.deepEqual(await update(A, { delta: { 'app:n': 1 }, deleted: ['app:seen'] }), {
        'app:motd': 'By Ben',
        'app:n': 1,
      });
      assert.deepEqual((await ok(ask('GET', `${A}/state`))).state, { motd: 'By Ben', n: 1 });
      const ofUser = await update(U, { operators: { 'user:visits': { increment: 5 } } });
      assert.deepEqual([ofUser['user:visits'], ofUser['app:n']], [6, 1]);
      assert.deepEqual((await ok(ask('GET', `${U}/state`))).state, { name: 'Ana', visits: 6 });
      const own = await update(S, { delta: { n: 1, 'temp:x': 1 }, author: 'me', invocationId: 'i9' });
      assert.deepEqual([own.n, own.topic, own['temp:x']], [1, 'moon', undefined]);
      const { events, state, revision } = await ok(ask('GET', `${S}?numRecentEvents=1`));
      assert.deepEqual(
        [events[0].author, events[0].invocationId, events[0].actions.stateDelta],
        ['me', 'i9', { n: 1 }],
      );
      const now = await ok(ask('GET', `${S}/state`));
      assert.deepEqual(now, { state, exact: true, revision });
      const then = await ok(ask('GET', `${S}/state?revision=0`));
      assert.deepEqual([then.state.topic, then.state.n, then.revision], ['tides', undefined, 0]);
      assert.equal((await ask('GET', `${S}/state?revision=99`)).status, 400);
      assert.equal((await ask('GET', `${U}/sessions/none/state`)).status, 404);
    });

    test('write under conditions', async ({ ask }) => {
      const update = async (expected, n) =>
        await ask('POST', `${S}/state:update`, { body: { delta: { n }, expected } });
      assert.equal((await update({ set: { topic: 'moon' }, unset: ['n'] }, 1)).status, 200);
      const missed = await update({ set: { topic: 'moon' }, unset: ['n'] }, 2);
      assert.deepEqual([missed.status, missed.body.error.code], [409, 'STATE_CONFLICT']);
      assert.equal((await update({ set: { 'app:motd': 'Hi' } }, 2)).body.error.code, 'STATE_CONFLICT');
      assert.equal((await update({ set: { n: 1 } }, 3)).body.state.n, 3);
      const compared = { operators: { n: { compareAndSet: { expected: 1, value: 9 } } } };
      const operator = await ask('POST', `${S}/state:update`, { body: compared });
      assert.deepEqual([operator.status, operator.body.error.key], [409, 'n']);
      const misfit = await ask('POST', `${S}/state:update`, { body: { operators: { topic: { increment: 1 } } } });
      assert.deepEqual(
        [misfit.status, misfit.body.error.code, misfit.body.error.key],
        [400, 'INVALID_ARGUMENT', 'topic'],
      );
      const twice = await ask('POST', `${S}/state:update`, { body: { delta: { n: 1 }, deleted: ['n'] } });
      assert.deepEqual([twice.status, twice.body.error.path], [400, 'deleted[0]']);
      assert.equal((await ask('POST', `${U}/state:update`, { body: { delta: { n: 1 } } })).status, 400);
      assert.equal((await ask('POST', `${U}/sessions/none/state:update`, { body: { delta: { n: 1 } } })).status, 404);
    });

    test('tell the history of keys', async ({ ask }) => {
      const own = await ok(ask('GET', `${S}/history?key=topic`));
      assert.equal(own.exact, true);
      assert.deepEqual(
        own.steps.map(({ revision, from, to }) => [revision, from, to]),
        [
          [0, undefined, 'tides'],
          [1, 'tides', 'moon'],
        ],
      );
      assert.equal(own.steps[1].event.id, 'e1');
      assert.equal((await ok(ask('GET', `${S}/history?key=topic&last=1&until=0`))).steps.length, 1);
      const shared = await ok(ask('GET', `${A}/history?key=app:motd`));
      assert.deepEqual(
        shared.steps.map(({ to }) => to),
        ['Hi', 'By Ben'],
      );
      assert.deepEqual(
        shared.steps.map(({ by }) => by.userId),
        ['ana', 'ben'],
      );
      const forAna = await ok(ask('GET', `${A}/history?key=app:motd`, { client: 'ana' }));
      assert.deepEqual(
        forAna.steps.map(({ by }) => by?.userId),
        ['ana', undefined],
      );
      assert.deepEqual(
        (await ok(ask('GET', `${U}/history?key=user:name`))).steps.map(({ to }) => to),
        ['Ana'],
      );
      for (const path of [`${A}/history?key=user:name`, `${U}/history?key=app:motd`, `${A}/history`]) {
        const { status, body } = await ask('GET', path);
        assert.deepEqual([status, body.error.path], [400, 'key']);
      }
      assert.equal((await ask('POST', `${A}/history:trim`, { body: {} })).status, 400);
      assert.equal((await ask('POST', `${A}/history:trim`, { body: { upTo: 1, before: 1 } })).status, 400);
      assert.equal((await ok(ask('POST', `${A}/history:trim`, { body: { upTo: 1 } }))).deleted, 1);
      assert.equal((await ok(ask('GET', `${A}/history?key=app:motd`))).exact, false);
    });

    test('lease a session to one holder at a time', async ({ ask }) => {
      const take = async (body = {}) => await ask('POST', `${S}/lease`, { body });
      const taken = await ok(take({ ttl: 60_000, holder: 'one' }));
      assert.ok(taken.until > Date.now());
      assert.equal((await ok(take({ ttl: 60_000, holder: 'one' }))).lease, taken.lease);
      const held = await take();
      const { code, until } = held.body.error;
      assert.deepEqual([held.status, code, typeof until], [409, 'LEASE_HELD', 'number']);
      const headers = { 'statepad-lease': taken.lease };
      const renewed = await ok(ask('POST', `${S}/lease:renew`, { body: { ttl: 90_000 }, headers }));
      assert.deepEqual([renewed.lease, renewed.ttl], [taken.lease, 90_000]);
      assert.ok(renewed.until > taken.until);
      const write = async (sent) => [
        await ask('POST', `${S}/events`, { body: { event: event({ n: 1 }), since: 0 }, headers: sent }),
        await ask('POST', `${S}/state:update`, { body: { delta: { n: 2 } }, headers: sent }),
        await ask('POST', `${S}:rewind`, { body: { before: 'i1' }, headers: sent }),
        await ask('POST', `${S}:redo`, { headers: sent }),
        await ask('POST', `${S}:rewind`, { body: { before: 'i1' }, headers: sent }),
      ];
      assert.deepEqual(
        (await write(headers)).map(({ status }) => status),
        [200, 200, 200, 200, 200],
      );
      assert.equal((await ask('DELETE', `${S}/lease`, { headers })).status, 204);
      assert.equal((await ask('DELETE', `${S}/lease`, { headers })).status, 204);
      const [appended, updated, , redone] = await write(headers);
      for (const { status, body } of [appended, updated, redone]) {
        assert.deepEqual([status, body.error.code], [409, 'LEASE_LOST']);
      }
      assert.equal((await ask('DELETE', S, { headers })).body?.error.code, 'LEASE_LOST');
      assert.equal((await ask('POST', `${S}/lease:renew`, { body: {}, headers })).body.error.code, 'LEASE_LOST');
      const next = await ok(take());
      assert.ok(next.token > taken.token);
      assert.equal((await ask('DELETE', S, { headers: { 'statepad-lease': next.lease } })).status, 204);
      assert.equal((await ask('GET', S)).status, 404);
      assert.equal((await take()).status, 404);
    });

    test('answer whether the server runs, and the store', async ({ ask }) => {
      for (const path of ['/healthz', '/readyz'])
        assert.deepEqual((await ask('GET', path, { client: null })).body, { ok: true });
    });

    test('answer the path and the methods of what is not there', async ({ handler }) => {
      const nothing = await handler(new Request('http://host/v1/nothing'));
      assert.equal(nothing.status, 404);
      const wrong = await handler(new Request(`http://host${S}`, { method: 'PATCH' }));
      assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, DELETE']);
      const head = await handler(
        new Request(`http://host${S}`, { method: 'HEAD', headers: { authorization: 'Bearer ana' } }),
      );
      assert.equal(head.status, 200);
    });
  });
}

const plain = ({ id, appName, userId, state, events, lastUpdateTime, revision }) => ({
  ...{ id, appName, userId, state, events, lastUpdateTime, revision },
});
