// Requests that are sent again: each happens once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { CLIENTS, serverOver, furnish, openServer, PLACES } from './server.mjs';

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

/** The operations with a key: the path, two bodies, and what is read of the effect. */
const WRITES = [
  [
    'createSession',
    `${U}/sessions`,
    { sessionId: 'new', state: { n: 1, nothing: null, list: [{ b: 1, a: 2 }], 'app:made': 1 } },
    { sessionId: 'new', state: { n: 2 } },
  ],
  ['createSession of a generated id', `${U}/sessions`, { state: { n: 1 } }, { state: { n: 2 } }],
  ['getOrCreateSession', `${U}/sessions:getOrCreate`, { sessionId: 'new', state: { n: 1 } }, { sessionId: 'new' }],
  ['getOrCreateSession of a generated id', `${U}/sessions:getOrCreate`, { state: { n: 1 } }, {}],
  ['updateAppState', `${A}/state:update`, { operators: { 'app:seen': { increment: 1 } } }, { delta: { 'app:n': 1 } }],
  [
    'updateUserState',
    `${U}/state:update`,
    { operators: { 'user:visits': { increment: 1 } } },
    { delta: { 'user:n': 1 } },
  ],
  ['updateSessionState', `${S}/state:update`, { operators: { n: { increment: 1 } } }, { delta: { n: 1 } }],
  ['rewindSession', `${S}:rewind`, { before: 'i1' }, { before: 'i1', artifactDelta: { a: 1 } }],
  ['forkSession', `${S}:fork`, { sessionId: 'new' }, { sessionId: 'other' }],
  ['forkSession under a generated id', `${S}:fork`, {}, { at: 0 }],
];

/** All that can be read, to compare it. */
async function everything(ask) {
  const sessions = (await ask('GET', `${A}/sessions`)).body;
  const logs = await Promise.all(
    sessions.sessions.map(async ({ userId, id }) => (await ask('GET', `${A}/users/${userId}/sessions/${id}`)).body),
  );
  return { sessions, logs, app: (await ask('GET', `${A}/state`)).body, user: (await ask('GET', `${U}/state`)).body };
}

const keyed = (key, body, more = {}) => ({ body, headers: { 'idempotency-key': key }, ...more });

for (const place of Object.keys(PLACES)) {
  describe(`a request under a key, ${place}`, () => {
    for (const [name, path, body, other] of WRITES) {
      it(`happens once: ${name}`, async () => {
        const { ask, service } = await openServer(place);
        const first = await ask('POST', path, keyed('k1', body));
        assert.equal(first.status, 200, JSON.stringify(first.body));
        assert.equal(first.headers.get('idempotency-replayed'), null);
        const after = await everything(ask);
        for (let time = 0; time < 3; time++) {
          const again = await ask('POST', path, keyed('k1', body));
          assert.deepEqual([again.status, again.body], [200, first.body]);
          assert.equal(again.headers.get('idempotency-replayed'), 'true');
          assert.equal(again.headers.get('etag'), first.headers.get('etag'));
        }
        // The members of an object have no order.
        const turned = Object.fromEntries(Object.entries(body).reverse());
        assert.deepEqual((await ask('POST', path, keyed('k1', turned))).body, first.body);
        const reused = await ask('POST', path, keyed('k1', other));
        assert.deepEqual([reused.status, reused.body.error.code], [422, 'KEY_REUSED']);
        assert.deepEqual(await everything(ask), after, 'nothing more has happened');
        await service.close();
      });

      it(`happens once, sent ten times at once: ${name}`, async () => {
        const { ask, service } = await openServer(place);
        const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', path, keyed('k1', body))));
        const done = answers.filter(({ status }) => status === 200);
        assert.ok(done.length >= 1);
        done.forEach((answer) => assert.deepEqual(answer.body, done[0].body));
        for (const { status, body: refused, headers } of answers.filter((each) => each.status !== 200)) {
          assert.deepEqual(
            [status, refused.error.code, refused.error.path],
            [409, 'STATE_CONFLICT', 'Idempotency-Key'],
          );
          assert.equal(headers.get('retry-after'), '1');
        }
        const after = await everything(ask);
        assert.deepEqual((await ask('POST', path, keyed('k1', body))).body, done[0].body);
        assert.deepEqual(await everything(ask), after);
        await service.close();
      });

      it(`happens again under another key, or without one: ${name}`, async () => {
        const { ask, service } = await openServer(place);
        await ask('POST', path, keyed('k1', body));
        for (const headers of [{}, { 'idempotency-key': 'k2' }]) {
          const again = await ask('POST', path, { body, headers });
          assert.equal(again.headers.get('idempotency-replayed'), null);
        }
        await service.close();
      });
    }

    it('of another client, operation or target is another request', async () => {
      const { ask, service } = await openServer(place);
      const body = { operators: { 'app:seen': { increment: 1 } } };
      const seen = [];
      for (const [path, client] of [
        [`${A}/state:update`, 'admin'],
        [`${A}/state:update`, 'editor'],
        [`${U}/state:update`, 'admin'],
        [`${A}/users/ben/state:update`, 'admin'],
        [`${S}/state:update`, 'admin'],
      ]) {
        seen.push((await ask('POST', path, keyed('same', body, { client }))).body.state['app:seen']);
      }
      assert.deepEqual(seen, [2, 3, 4, 5, 6]);
      await service.close();
    });

    it('stays the same with another token and other rights of the client', async () => {
      const service = new SessionService(PLACES[place]());
      await furnish(service);
      let principal = CLIENTS.ana;
      const { ask } = serverOver(service, { authorize: () => principal });
      const first = await ask('POST', `${S}/state:update`, keyed('k', { operators: { n: { increment: 1 } } }));
      principal = { ...principal, writes: ['session'], ends: Date.now() + 60_000 };
      const again = await ask('POST', `${S}/state:update`, keyed('k', { operators: { n: { increment: 1 } } }));
      assert.deepEqual([again.status, again.body], [200, first.body]);
      principal = { ...principal, writes: [] };
      assert.equal(
        (await ask('POST', `${S}/state:update`, keyed('k', { operators: { n: { increment: 1 } } }))).status,
        403,
      );
      await service.close();
    });

    it('that was refused is refused again', async () => {
      const { ask, service } = await openServer(place);
      const body = { delta: { n: 1 }, expected: { set: { topic: 'sun' } } };
      assert.equal((await ask('POST', `${S}/state:update`, keyed('k', body))).status, 409);
      await ask('POST', `${S}/state:update`, { body: { delta: { topic: 'sun' } } });
      const again = await ask('POST', `${S}/state:update`, keyed('k', body));
      assert.deepEqual([again.status, again.body.error.code], [409, 'STATE_CONFLICT']);
      assert.equal((await ask('POST', `${S}/state:update`, keyed('k2', body))).status, 200);
      await service.close();
    });

    it('of a creation does not bring back a session that was deleted', async () => {
      const { ask, service } = await openServer(place);
      const created = await ask('POST', `${U}/sessions`, keyed('k', { sessionId: 'new', state: { n: 1 } }));
      await ask('DELETE', `${U}/sessions/new`);
      const again = await ask('POST', `${U}/sessions`, keyed('k', { sessionId: 'new', state: { n: 1 } }));
      assert.deepEqual([again.status, again.body.id], [200, 'new']);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal(again.headers.get('etag'), created.headers.get('etag'));
      assert.equal((await ask('GET', `${U}/sessions/new`)).status, 404);
      await service.close();
    });

    it('of a creation says that its values may be later ones when the session has moved on', async () => {
      const { ask, service } = await openServer(place);
      const body = { sessionId: 'new', state: { n: 1 } };
      const created = await ask('POST', `${U}/sessions`, keyed('k', body));
      await ask('POST', `${U}/sessions/new/events`, {
        body: { event: { author: 'a', actions: { stateDelta: { n: 2 } } } },
      });
      const again = await ask('POST', `${U}/sessions`, keyed('k', body));
      const isKnown = again.headers.get('statepad-values') === null;
      if (isKnown) assert.deepEqual(again.body, created.body);
      else assert.equal(again.headers.get('statepad-values'), 'unknown');
      await service.close();
    });

    it('finds the session that somebody else has created meanwhile', async () => {
      const { ask, service } = await openServer(place);
      const body = { sessionId: 'monday', state: { n: 1 } };
      const found = await ask('POST', `${U}/sessions:getOrCreate`, keyed('k', body));
      assert.deepEqual([found.status, found.body.state.topic, found.body.state.n], [200, 'moon', undefined]);
      const again = await ask('POST', `${U}/sessions:getOrCreate`, keyed('k', body));
      assert.deepEqual(again.body, found.body);
      await service.close();
    });
  });
}

describe('a request under a key', () => {
  it('is refused while the same one is being answered, with the time to ask again', async () => {
    const store = memoryStore();
    let letGo;
    const held = new Promise((resolve) => (letGo = resolve));
    let begun;
    const begins = new Promise((resolve) => (begun = resolve));
    const slow = async (run) => {
      begun();
      await held;
      return await run();
    };
    const waiting = new Proxy(store, {
      get: (target, name) =>
        name === 'commit' || name === 'commitMany'
          ? (...args) => slow(() => target[name](...args))
          : typeof target[name] === 'function'
            ? target[name].bind(target)
            : target[name],
    });
    const service = new SessionService({ store: waiting });
    const { ask } = serverOver(service);
    const body = { delta: { 'app:n': 1 } };
    const first = ask('POST', `${A}/state:update`, keyed('k', body));
    await begins;
    for (const sent of [body, { delta: { 'app:n': 2 } }]) {
      const second = await ask('POST', `${A}/state:update`, keyed('k', sent));
      assert.deepEqual([second.status, second.body.error.code], [409, 'STATE_CONFLICT']);
      assert.match(second.body.error.message, /is being answered/);
      assert.equal(second.headers.get('retry-after'), '1');
    }
    letGo();
    assert.equal((await first).status, 200);
    assert.equal(
      (await ask('POST', `${A}/state:update`, keyed('k', body))).headers.get('idempotency-replayed'),
      'true',
    );
    await service.close();
  });

  it('happens once, sent through two servers over one store', async () => {
    const store = memoryStore();
    const services = [new SessionService({ store }), new SessionService({ store })];
    const servers = services.map((service) => serverOver(service));
    await furnish(services[0]);
    for (const [name, path, body, other] of WRITES) {
      const sent = Array.from({ length: 6 }, (_, index) =>
        servers[index % 2].ask('POST', path, keyed(name.replaceAll(' ', '-'), body)),
      );
      const answers = (await Promise.all(sent)).filter(({ status }) => status === 200);
      assert.ok(answers.length > 0, name);
      answers.forEach((answer) => assert.deepEqual(answer.body, answers[0].body, name));
      const reused = await servers[1].ask('POST', path, keyed(name.replaceAll(' ', '-'), other));
      assert.deepEqual([reused.status, reused.body.error.code], [422, 'KEY_REUSED'], name);
      // The next operation begins at the same place.
      await servers[0].ask('DELETE', `${U}/sessions/new`);
      if (name === 'rewindSession') await servers[0].ask('POST', `${S}:redo`);
    }
    await Promise.all(services.map((service) => service.close()));
  });

  for (const key of ['', ' ', 'a b', 'é', 'a'.repeat(256), '\u0007']) {
    it(`is refused under ${JSON.stringify(key.slice(0, 10))}`, async () => {
      const { ask, service } = await openServer();
      let answer;
      try {
        answer = await ask('POST', `${U}/sessions`, keyed(key, {}));
      } catch (error) {
        // A Request cannot have it as a header.
        assert.ok(error instanceof TypeError, String(error));
        return;
      }
      assert.deepEqual([answer.status, answer.body.error.path], [400, 'Idempotency-Key']);
      await service.close();
    });
  }
});
