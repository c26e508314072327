// Creations through the sessions API of Agent Engine that are sent again: its clients send no key.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { openServer } from './server.mjs';
import { PLACES } from './places.mjs';

const KEY = { appName: '77', userId: 'ana', sessionId: 's1' };
const LINE = 'POST /sessions?sessionId=s1';
const EVENT = { author: 'user', invocationId: 'i1', timestamp: '2026-01-02T00:00:00Z' };
const PLAIN = { userId: 'ana', sessionState: { a: 1, 'user:b': 2, 'app:c': 3, 'temp:d': 4 } };
const DESCRIBED = { ...PLAIN, displayName: 'Tea', labels: { kind: 'green' } };
const ANA = { id: 'ana', apps: ['77'], users: ['ana'], writes: ['session', 'user', 'app'] };

/** Sends a creation, does something, and sends another one: `{ first, second }`. */
async function twice(open, body, between, { other = body, by = ANA } = {}) {
  const { service, other: beside } = open();
  let principal = ANA;
  const server = openServer({ service: beside, authorize: () => principal });
  const first = await server.ask(LINE, body);
  assert.equal(first.status, 200, first.text);
  await between(server, service);
  principal = by;
  const second = await server.ask(LINE, other);
  const revision = (await service.getSession(KEY))?.revision;
  await Promise.all([service.close(), beside.close()]);
  return { first, second, revision };
}

const nothing = () => undefined;
const append = async ({ ask }) => assert.equal((await ask('POST /sessions/s1:appendEvent', EVENT)).status, 200);

for (const [place, open] of Object.entries(PLACES)) {
  describe(`over ${place}`, () => {
    for (const [what, body] of Object.entries({ 'a creation': PLAIN, 'one with a display name': DESCRIBED })) {
      test(`${what} that is sent again is answered as the first time`, async () => {
        const { first, second, revision } = await twice(open, body, nothing);
        assert.deepEqual([second.status, second.text], [200, first.text]);
        assert.equal(revision, body === PLAIN ? 0 : 1);
      });

      test(`${what} is refused when something has been appended since`, async () => {
        const { second } = await twice(open, body, append);
        assert.deepEqual([second.status, second.body.error.status], [400, 'INVALID_ARGUMENT']);
        assert.match(second.body.error.message, /^Session with user-provided ID '.*\/sessions\/s1' already exists\.$/);
      });

      test(`${what} is refused when another client sends it, or another one is sent`, async () => {
        const others = [
          { by: { ...ANA, id: 'other' } },
          { other: { ...body, sessionState: { ...body.sessionState, a: 2 } } },
          { other: { ...body, sessionState: { ...body.sessionState, 'app:c': 4 } } },
          { other: { ...body, displayName: 'Coffee' } },
        ];
        for (const other of others) {
          const { second } = await twice(open, body, nothing, other);
          assert.equal(second.status, 400, JSON.stringify(other));
        }
      });

      test(`${what} is another one after the session was deleted`, async () => {
        const { first, second } = await twice(open, body, async ({ ask }) => await ask('DELETE /sessions/s1'));
        assert.equal(second.status, 200);
        assert.notEqual(second.body.name, first.body.name, 'the operation is another one');
      });
    }

    test('of many creations at once one is carried out, and all of the same are answered by it', async () => {
      const { service, other } = open();
      const servers = [service, other].map((one) => openServer({ service: one }));
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => servers[index % 2].ask(LINE, PLAIN)));
      assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
      assert.equal(answers[0].status, 200);
      await Promise.all([service.close(), other.close()]);
    });
  });
}

/** A store whose appends fail as long as `isBroken` says so, as if the server was killed before them. */
function breakable() {
  const store = memoryStore();
  const failing = {
    isBroken: true,
    store: {
      ...store,
      commit: async (change, context) => {
        if (failing.isBroken && change.kind === 'append') {
          throw new StoreError('rejected', 'the server was killed');
        }
        return await store.commit(change, context);
      },
      commitMany: undefined,
    },
  };
  return failing;
}

test('a creation with a display name that was cut off is not there, and is completed when it is sent again', async () => {
  const failing = breakable();
  const service = new SessionService({ store: failing.store });
  const { ask } = openServer({ service });
  assert.ok((await ask(LINE, DESCRIBED)).status >= 400);
  assert.equal((await ask('GET /sessions/s1')).status, 404);
  assert.equal((await ask('GET /sessions')).body.sessions, undefined);
  assert.equal(await service.getSession(KEY), undefined);
  assert.deepEqual(await service.getAppState({ appName: '77' }), {}, 'nothing of it is written');
  failing.isBroken = false;
  const { status, body } = await ask(LINE, DESCRIBED);
  assert.equal(status, 200);
  assert.deepEqual([body.response.displayName, body.response.labels], ['Tea', { kind: 'green' }]);
  assert.deepEqual(await service.getAppState({ appName: '77' }), { c: 3 });
  await service.close();
});

test('another creation takes the place of one that was cut off', async () => {
  const failing = breakable();
  const service = new SessionService({ store: failing.store });
  const { ask } = openServer({ service });
  assert.ok((await ask(LINE, DESCRIBED)).status >= 400);
  failing.isBroken = false;
  const { status, text } = await ask(LINE, { ...DESCRIBED, displayName: 'Coffee', sessionState: { z: 1 } });
  assert.equal(status, 200, text);
  const { body } = await ask('GET /sessions/s1');
  assert.deepEqual([body.displayName, body.sessionState], ['Coffee', { z: 1 }]);
  await service.close();
});

test('a creation without a display name takes that place as well, and a fork that was cut off keeps it', async () => {
  const failing = breakable();
  const service = new SessionService({ store: failing.store });
  const { ask } = openServer({ service });
  assert.ok((await ask(LINE, DESCRIBED)).status >= 400);
  const { status, text } = await ask(LINE, PLAIN);
  assert.equal(status, 200, text);
  const session = await service.getSession(KEY);
  await assert.rejects(service.fork(session, { sessionId: 's2' }));
  assert.equal((await ask('POST /sessions?sessionId=s2', PLAIN)).status, 400);
  failing.isBroken = false;
  assert.equal((await service.fork(session, { sessionId: 's2' })).id, 's2');
  await service.close();
});
