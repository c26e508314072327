// Random histories: two services, another writer, requests that fail, events out of order, windows; against a model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { appendForeign, APP, keyOf, storeOver } from './words.mjs';

/** One of them once found an append to a log that the store no longer had. */
const SEEDS = [...Array(12).keys(), 231];
const STEPS = 90;
/** A third of the histories begin with so many events: more than the last of them are not read at once. */
const LONG = 130;
/** Revisions beyond are provisional. */
const PROVISIONAL = 2 ** 40;
const KEYS = ['a', 'b', 'user:a', 'user:b', 'app:a', 'app:b'];
const TROUBLES = [
  { kind: 'request-lost' },
  { kind: 'answer-lost' },
  { kind: 'error', status: 429 },
  { kind: 'error', status: 503 },
  { kind: 'error', status: 500 },
];

/** Whole numbers below `limit`, of a generator of its own: the history that was found belongs to it. */
function numbers(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** The true content: sessions with their own values and events, and the values that they share. */
class Model {
  sessions = new Map();
  app = {};
  users = new Map();

  create(id, user) {
    this.sessions.set(id, { user, own: {}, events: [] });
    this.users.set(user, this.users.get(user) ?? {});
  }

  append(id, text, time, delta) {
    const session = this.sessions.get(id);
    session.events.push({ text, time });
    session.events.sort((one, other) => one.time - other.time);
    for (const [key, value] of Object.entries(delta)) {
      const [scope, name] = key.startsWith('app:')
        ? [this.app, key.slice(4)]
        : key.startsWith('user:')
          ? [this.users.get(session.user), key.slice(5)]
          : [session.own, key];
      if (value === DELETED) delete scope[name];
      else scope[name] = value;
    }
  }

  state(id) {
    const { user, own } = this.sessions.get(id);
    const under = (prefix, values) => Object.fromEntries(Object.entries(values).map(([k, v]) => [prefix + k, v]));
    return { ...own, ...under('app:', this.app), ...under('user:', this.users.get(user)) };
  }
}

async function history(seed) {
  const random = numbers(seed);
  const pick = (list) => list[random(list.length)];
  // Half of the histories are long ago for the clock of the API.
  const vertex = fakeVertexAi({ now: () => Date.now() - (seed % 2) * 3_600_000 });
  const retry = { attempts: 20, pause: 1 };
  const services = [1, 2].map(() => new SessionService({ store: storeOver(vertex, { attempts: 6 }), retry }));
  const model = new Model();
  const handles = new Map();
  const start = Date.now() - 1_000_000;
  let time = start;
  let texts = 0;
  const check = (session, id, told) => {
    const { events } = model.sessions.get(id);
    assert.deepEqual(session.state, model.state(id), told);
    const expected = events.map(({ text }) => text).slice(events.length - session.events.length);
    assert.deepEqual(
      session.events.map(({ content }) => content.parts[0].text),
      expected,
      told,
    );
  };
  for (let step = 0; step < STEPS; step++) {
    const told = `history ${seed}, step ${step}`;
    const index = random(2);
    const service = services[index];
    const ids = [...model.sessions.keys()];
    if (random(4) === 0) {
      let passed = random(4);
      vertex.disturb({
        ...pick(TROUBLES),
        times: 1,
        when: ({ headers }) => headers['x-writer'] === undefined && passed-- === 0,
      });
    }
    const action = ids.length === 0 ? 0 : random(12);
    if (action === 0 && ids.length < 4) {
      const [id, user] = [`s${seed}-${step}`, pick(['ana', 'bob'])];
      const session = await service.createSession(keyOf(id, user));
      model.create(id, user);
      handles.set(`${index} ${id}`, session);
      check(session, id, told);
      for (let count = seed % 3 === 0 ? LONG : 0; count > 0; count--) {
        const text = `text ${(texts += 1)}`;
        const content = { role: 'user', parts: [{ text }] };
        await appendForeign(vertex, id, {}, { timestamp: new Date((time += 1)).toISOString(), content });
        model.append(id, text, time, {});
      }
      continue;
    }
    const id = pick(ids);
    const { user } = model.sessions.get(id);
    const key = keyOf(id, user);
    if (action < 8) {
      // Events come in with a time of a millisecond before, of the same one, or of a later one.
      time += random(3);
      const timestamp = random(8) === 0 ? time - 3 : time;
      const text = `text ${(texts += 1)}`;
      const delta = {};
      for (let count = random(3); count > 0; count--) delta[pick(KEYS)] = pick([texts, null, DELETED, { x: [texts] }]);
      const isForeign = action === 1;
      const plain = Object.fromEntries(
        Object.entries(delta).filter(([, value]) => value !== DELETED && value !== null),
      );
      if (isForeign) {
        const at = timestamp + 5;
        time = at;
        const content = { role: 'user', parts: [{ text }] };
        await appendForeign(vertex, id, plain, { timestamp: new Date(at).toISOString(), content });
        model.append(id, text, at, plain);
      } else {
        const session = handles.get(`${index} ${id}`) ?? (await service.getSession(key));
        handles.set(`${index} ${id}`, session);
        const event = { content: { role: 'user', parts: [{ text }] }, timestamp, actions: { stateDelta: delta } };
        await service.appendEvent({ session, event });
        model.append(id, text, timestamp, delta);
      }
    } else if (action < 10) {
      const config = pick([undefined, { numRecentEvents: 2 }, { numRecentEvents: 0 }, { afterTimestamp: time - 2 }]);
      const session = await service.getSession({ ...key, config });
      check(session, id, told);
      const { events } = model.sessions.get(id);
      const count =
        config === undefined
          ? events.length
          : config.afterTimestamp === undefined
            ? Math.min(events.length, config.numRecentEvents)
            : events.filter((event) => event.time >= config.afterTimestamp).length;
      assert.equal(session.events.length, count, told);
      assert.ok(session.revision === events.length || session.revision > PROVISIONAL, told);
    } else if (action === 10) {
      const { sessions } = await service.listSessions({ appName: APP });
      assert.deepEqual(sessions.map((session) => session.id).sort(), [...ids].sort(), told);
      for (const session of sessions) assert.deepEqual(session.state, model.state(session.id), told);
    } else if (random(4) === 0) {
      await service.deleteSession(key);
      model.sessions.delete(id);
      for (const by of [0, 1]) handles.delete(`${by} ${id}`);
    }
  }
  for (const [id, { user }] of model.sessions) {
    for (const service of [...services, new SessionService({ store: storeOver(vertex, { attempts: 6 }), retry })]) {
      const session = await service.getSession(keyOf(id, user));
      check(session, id, `history ${seed}, at the end`);
      assert.equal(session.events.length, model.sessions.get(id).events.length);
    }
  }
}

for (const seed of SEEDS) {
  test(`random history ${seed}`, () => history(seed));
}

test('appends of two services at once come in all of them, once, and all readers agree', async () => {
  const vertex = fakeVertexAi();
  const services = [1, 2].map(() => new SessionService({ store: storeOver(vertex) }));
  const ids = ['s1', 's2', 's3'];
  for (const id of ids) await services[0].createSession(keyOf(id));
  const writes = services.flatMap((service, by) =>
    ids.flatMap((id) =>
      Array.from({ length: 15 }, async (_, n) => {
        const name = `${by}-${id}-${n}`;
        await new Promise((resolve) => setTimeout(resolve, n % 5));
        const stateDelta = { [name]: n, [`app:${name}`]: n, 'user:shared': name };
        const session = { appName: APP, userId: 'ana', id };
        await service.appendEvent({ session, event: { author: 'agent', actions: { stateDelta } } });
        const read = await service.getSession(keyOf(id));
        assert.equal(read.state[name], n, 'what was written is there for its writer');
        assert.equal(read.state[`app:${name}`], n);
      }),
    ),
  );
  await Promise.all(writes);
  const readers = [...services, new SessionService({ store: storeOver(vertex) })];
  for (const id of ids) {
    const [one, two, three] = await Promise.all(readers.map((service) => service.getSession(keyOf(id))));
    assert.equal(one.events.length, 30);
    assert.equal(new Set(one.events.map((event) => event.id)).size, 30);
    for (const other of [two, three]) {
      assert.deepEqual(other.state, one.state);
      assert.deepEqual(
        other.events.map((event) => event.id),
        one.events.map((event) => event.id),
      );
    }
  }
});
