// A network that loses requests and answers: what was acknowledged has happened, and everything at most once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { append, increment, SessionService } from 'statepad';
import { connect } from 'statepad/client';
import { memoryStore } from 'statepad/stores/memory';
import { fetchOf, handlerOf } from '../../support/client.mjs';
import { hasCode, KEY, runs, setting } from '../../support/fixtures.mjs';
import { lossyFetch } from '../../support/lossy-fetch.mjs';

const places = {
  'in memory': () => {
    const service = new SessionService();
    return [service, service];
  },
  'two servers over one store': () => {
    const store = memoryStore();
    return [new SessionService({ store }), new SessionService({ store })];
  },
};

/** Clients behind one bad network, each with a server. */
function open(services, seed, retry = { attempts: 60, pause: 1 }) {
  const network = lossyFetch(fetchOf(balanced(services.map((service) => handlerOf(service, { onError() {} })))), seed);
  const clients = [1, 2, 3].map(() => connect({ url: 'http://host', fetch: network.fetch, retry }));
  return { ...network, clients };
}

/** Each request goes to the next server. */
function balanced(handlers) {
  let turn = 0;
  return (request) => handlers[turn++ % handlers.length](request);
}

/** True when a call has resolved, false when its outcome is unknown. */
const outcome = (call) =>
  call.then(
    () => true,
    (error) => {
      if (error.code === 'COMMIT_UNKNOWN') return false;
      throw error;
    },
  );

for (const [where, servicesOf] of Object.entries(places)) {
  describe(`over a network that loses requests and answers, ${where}`, () => {
    for (let seed = 1; seed <= runs(10); seed++) {
      it(`each event is there once, in the order of its client, and counters are exact (seed ${seed})`, async () => {
        const services = servicesOf();
        const { clients, told, settled } = open(services, seed);
        await clients[0].createSession({ ...KEY, state: { n: 0, 'app:n': 0 } });
        await Promise.all(
          clients.map(async (client, who) => {
            const session = await client.getSession(KEY);
            const appends = Array.from({ length: 15 }, (_, index) =>
              client.appendEvent({
                session,
                event: setting({ n: increment(), 'app:n': increment(), list: append(`${who}/${index}`) }),
              }),
            );
            const events = await Promise.all(appends);
            assert.ok(events.every(({ id }) => session.events.some((event) => event.id === id)));
          }),
        );
        await settled();
        const { state, events } = await services[0].getSession(KEY);
        assert.deepEqual([state.n, state['app:n'], events.length], [45, 45, 45]);
        assert.equal(new Set(events.map(({ id }) => id)).size, 45);
        for (const who of [0, 1, 2]) {
          const own = state.list.filter((item) => item.startsWith(`${who}/`));
          assert.deepEqual(
            own,
            Array.from({ length: 15 }, (_, index) => `${who}/${index}`),
          );
        }
        assert.ok(told.unanswered > 0 && told.lost > 0 && told.delayed > 0, JSON.stringify(told));
      });

      it(`updates of state happen once each, and answer with their own values (seed ${seed})`, async () => {
        const services = servicesOf();
        const { clients, settled } = open(services, seed);
        await clients[0].createSession(KEY);
        const targets = [KEY, { appName: 'app', userId: 'u' }, { appName: 'app' }];
        const answers = await Promise.all(
          clients.flatMap((client) =>
            targets.flatMap((target) =>
              [1, 2].map(async () => {
                const state = await client.updateState(target, ({ 'app:n': n = 0 }) => ({ 'app:n': n + 1 }));
                return state['app:n'];
              }),
            ),
          ),
        );
        await settled();
        assert.deepEqual(
          answers.sort((one, other) => one - other),
          Array.from({ length: 18 }, (_, index) => index + 1),
        );
        assert.equal((await services[1].getAppState({ appName: 'app' })).n, 18);
      });

      it(`creations, forks, rewinds and deletions happen once each (seed ${seed})`, async () => {
        const services = servicesOf();
        const { clients, settled } = open(services, seed);
        const [client] = clients;
        const session = await client.createSession({ ...KEY, state: { n: 0 } });
        for (const n of [1, 2])
          await client.appendEvent({ session, event: setting({ n }, { invocationId: `i${n}` }) });
        const { revision } = await client.rewind(session, { before: 'i2' });
        assert.deepEqual([revision, session.revision, session.state.n], [3, 3, 1]);
        assert.equal((await client.redo(session)).revision, 4);
        assert.equal(session.state.n, 2);
        const made = await Promise.all([
          client.fork(session, { at: 1 }),
          client.fork(session, { sessionId: 'fork' }),
          client.createSession({ appName: 'app', userId: 'u' }),
          client.getOrCreateSession({ ...KEY, sessionId: 'new' }),
        ]);
        await client.deleteSession(made[2]);
        await settled();
        const { sessions } = await services[1].listSessions({ appName: 'app' });
        const left = [session, made[0], made[1], made[3]].map(({ id }) => id);
        assert.deepEqual(sessions.map(({ id }) => id).sort(), left.sort());
        assert.equal((await services[1].getSession(KEY)).revision, 4);
      });

      it(`what is given up has happened once or not at all (seed ${seed})`, async () => {
        const services = servicesOf();
        const { clients, settled } = open(services, seed, { attempts: 2, pause: 0 });
        await services[0].createSession({ ...KEY, state: { 'app:sum': 0 } });
        const outcomes = await Promise.all(
          Array.from({ length: 40 }, async (_, index) => {
            const client = clients[index % 3];
            const name = { appName: 'app', userId: 'u', id: 's' };
            const event = setting({ [`e${index}`]: increment(), 'app:sum': increment() });
            return await outcome(client.appendEvent({ session: name, event })).catch(({ code }) => {
              assert.equal(code, 'STORE_UNAVAILABLE');
              return 'not sent';
            });
          }),
        );
        await settled();
        const { state } = await services[0].getSession(KEY);
        for (const [index, is] of outcomes.entries()) {
          const count = state[`e${index}`] ?? 0;
          assert.ok(is === true ? count === 1 : count <= 1, `${index}: ${is}, but it is there ${count} times`);
        }
        assert.equal(state['app:sum'], Object.keys(state).filter((key) => key.startsWith('e')).length);
        assert.ok(outcomes.includes(false), 'some of them were given up');
      });
    }
  });
}

describe('a fork that was given up midway', () => {
  it('is not seen, keeps its id, and is completed by another call, of another client, too', async () => {
    const store = memoryStore();
    const whole = new SessionService({ store });
    const session = await whole.createSession({ ...KEY, state: { n: 0 } });
    for (const n of [1, 2, 3]) await whole.appendEvent({ session, event: setting({ n }) });
    let left = Infinity;
    const commit = async (change, context) => {
      if ((left -= 1) < 0) throw new Error('the disk is full');
      return await store.commit(change, context);
    };
    const broken = new SessionService({ store: { ...store, commit, commitMany: undefined }, retry: { attempts: 1 } });
    const name = { appName: 'app', userId: 'u', id: 's' };
    for (const count of [1, 2, 3, 4]) {
      const sessionId = `fork ${count}`;
      const retry = { attempts: 2, pause: 0 };
      const client = connect({ url: 'http://host', fetch: fetchOf(handlerOf(broken, { onError() {} })), retry });
      // The claim of the revision comes first.
      left = count + 1;
      await assert.rejects(client.fork(name, { sessionId }), hasCode('COMMIT_UNKNOWN'));
      assert.equal(await whole.getSession({ ...KEY, sessionId }), undefined);
      const other = connect({ url: 'http://host', fetch: fetchOf(handlerOf(whole)) });
      const fork = await other.fork(name, { sessionId });
      assert.deepEqual([fork.revision, fork.state.n], [4, 3]);
      await assert.rejects(other.fork(name, { sessionId }), hasCode('SESSION_EXISTS'));
      await assert.rejects(other.fork(name, { sessionId: 's' }), hasCode('SESSION_EXISTS'));
    }
  });
});
