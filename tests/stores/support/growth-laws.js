// A law of growth and its end, over any store that keeps limits and expiry: a plain model of it decides each change.

import assert from 'node:assert/strict';
import fc from 'fast-check';

const context = { signal: new AbortController().signal };
const APP = 'app';
/** A time that no clock comes to; small ones have passed on every clock. */
const FAR = 9e12;

const value = fc.constantFrom(null, 1, 10, 'ä', '😀', '\n', [1, 2], 'a longer text');
const name = fc.constantFrom('a', 'b', 'ä', '__proto__');
const delta = fc.record(
  { set: fc.dictionary(name, value, { maxKeys: 2, noNullPrototype: false }), unset: fc.array(name, { maxLength: 2 }) },
  { requiredKeys: [] },
);
const few = (most) => fc.option(fc.nat(most), { nil: undefined, freq: 3 });
const limits = fc.record({ keys: few(3), state: few(30), events: few(3), value: few(12) }, { requiredKeys: [] });
const place = fc.record({ userId: fc.constantFrom('u', 'v'), sessionId: fc.constantFrom('s', 't') });
const push = fc.option(fc.record({ name: fc.constantFrom('l', 'm'), item: value }), { nil: undefined, freq: 2 });

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('create', 'append', 'append'),
      place,
      delta,
      app: delta,
      limits,
      push,
      end: fc.constantFrom('never', 'far', 'past', 'past'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('update'), place, user: delta, limits }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again'), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeScope'), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep'), limit: fc.integer({ min: 1, max: 3 }) }) },
);

const bytes = (text) => new TextEncoder().encode(text).length;
const sizeOf = (values) => ({
  keys: values.size,
  state: [...values].reduce((sum, [name, value]) => sum + bytes(name) + bytes(JSON.stringify(value)), 0),
});

function withDelta(values, { set = {}, unset = [] } = {}) {
  const copy = new Map(values);
  unset.forEach((name) => copy.delete(name));
  Object.entries(set).forEach(([name, value]) => copy.set(name, value));
  return copy;
}

/** The first limit that scopes exceed, each given as it was, as it is to be, and with the lists that grew in it. */
function exceededBy({ limits, rev, isAppend, scopes }) {
  if (isAppend && rev + 1 > (limits.events ?? Infinity)) return { exceeded: 'events', size: rev + 1 };
  for (const [scope, before, after, results] of scopes) {
    for (const [key, list] of results) {
      const size = bytes(JSON.stringify(list));
      if (size > (limits.value ?? Infinity)) return { exceeded: 'value', size, scope, key };
    }
    const [old, now] = [sizeOf(before), sizeOf(after)];
    for (const exceeded of ['keys', 'state']) {
      const size = now[exceeded];
      if (size > old[exceeded] && size > (limits[exceeded] ?? Infinity)) return { exceeded, size, scope };
    }
  }
  return undefined;
}

/** What a store should have. */
class Model {
  app = new Map();
  users = new Map();
  /** The sessions by their keys, those that have expired too. */
  sessions = new Map();
  created = [];

  keyOf = ({ userId, sessionId }) => ({ appName: APP, userId, sessionId });
  at = (place) => JSON.stringify([place.userId, place.sessionId]);
  user = ({ userId }) => this.users.get(userId) ?? new Map();

  /** The session of a place that is there. */
  live(place) {
    const session = this.sessions.get(this.at(place));
    return session?.isExpired ? undefined : session;
  }
}

/** Makes one change by a store, and by the model, which says beforehand what has to come of it. */
async function write(store, model, number, { kind, place, delta = {}, app, user, limits, push, end }) {
  const operates = push !== undefined && store.resolves?.includes('append');
  const key = model.keyOf(place);
  const { userId, sessionId } = key;
  const session = kind === 'update' ? undefined : model.live(place);
  const id = `${kind} ${number}`;
  const time = number;
  const expires = { far: { at: FAR }, past: { at: number } }[kind === 'create' ? end : 'never'];
  const change = {
    ...{ id, kind, time, key: kind === 'update' ? { appName: APP, userId } : { appName: APP, userId, sessionId } },
    delta: { ...(app && { app }), ...(user && { user }), ...(kind !== 'update' && { session: delta }) },
    ...(kind === 'append' && { event: { id, time, data: JSON.stringify({ id, invocationId: 'i', author: 'user' }) } }),
    ...(operates && { operators: { session: { [push.name]: { append: [push.item] } } } }),
    ...(expires && { expires }),
    limits,
  };
  const before = session?.values ?? new Map();
  const results = operates ? [[push.name, [...(before.get(push.name) ?? []), push.item]]] : [];
  const after = withDelta(withDelta(before, delta), { set: Object.fromEntries(results) });
  const [nextApp, nextUser] = [withDelta(model.app, app), withDelta(model.user(place), user)];
  const exceeded = exceededBy({
    limits,
    rev: session?.rev ?? 0,
    isAppend: kind === 'append',
    scopes: [
      ['app', model.app, nextApp, []],
      ['user', model.user(place), nextUser, []],
      ['session', before, after, results],
    ],
  });
  const code =
    kind === 'create' && session ? 'exists' : kind === 'append' && !session ? 'not-found' : exceeded && 'limit';
  const outcome = await store.commit(change, context).catch((error) => error);
  if (code !== undefined) {
    const { exceeded: limit, size, scope, key: named } = outcome;
    assert.equal(outcome.code, code, `${JSON.stringify(change)}: ${String(outcome.message)}`);
    if (code === 'limit') {
      assert.deepEqual(
        { exceeded: limit, size, scope, key: named },
        { scope: undefined, key: undefined, ...exceeded },
      );
    }
    return;
  }
  assert.equal(outcome.duplicate, undefined, String(outcome));
  [model.app] = [nextApp];
  model.users.set(userId, nextUser);
  if (kind === 'create') {
    model.created.push(change);
    model.sessions.set(model.at(place), {
      ...{ key, created: id, rev: 0, values: after, ends: expires?.at, isExpired: end === 'past' },
    });
  } else if (kind === 'append') {
    Object.assign(session, { rev: session.rev + 1, values: after });
  }
  assert.equal(outcome.expires, kind === 'update' ? undefined : model.sessions.get(model.at(place)).ends);
}

const others = {
  again: async (store, model, { which }) => {
    const change = model.created[which % (model.created.length || 1)];
    if (change === undefined) return;
    const { duplicate, rev, expires } = await store.commit(change, context);
    const session = model.live(change.key);
    const isThere = session?.created === change.id;
    assert.deepEqual([duplicate, rev, expires], [true, isThere ? session.rev : 0, isThere ? session.ends : undefined]);
  },
  remove: async (store, model, { place }) => {
    const session = model.sessions.get(model.at(place));
    await store.remove(model.keyOf(place), context, session && { created: session.created });
    if (session) model.sessions.delete(model.at(place));
  },
  removeScope: async (store, model, { place }) => {
    await store.removeScope?.({ app: APP, user: place.userId }, context);
    if (store.removeScope) model.users.delete(place.userId);
  },
  sweep: async (store, model, { limit }) => {
    const expired = [...model.sessions]
      .filter(([, { isExpired }]) => isExpired)
      .sort(([, a], [, b]) => a.ends - b.ends)
      .slice(0, limit);
    const counted = await store.sweep({ limit, dry: true }, context);
    const { sessions, users, more } = await store.sweep({ limit }, context);
    assert.deepEqual([sessions, users], [expired.length, 0]);
    assert.deepEqual([counted.sessions, counted.users], [sessions, users]);
    assert.ok(sessions === limit || !more);
    expired.forEach(([at]) => model.sessions.delete(at));
  },
};

const plain = (values) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
const sorted = (map) => plain(Object.fromEntries(map));

/** Compares all that is there. */
async function compare(store, model) {
  const live = [...model.sessions.values()].filter(({ isExpired }) => !isExpired);
  const { rows, total, app } = await store.list({ app: APP, descending: false }, context);
  const told = (all) => all.map(([key, rest]) => [JSON.stringify(key), rest]).sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(
    told(rows.map(({ key, created, rev, expires, state }) => [key, { created, rev, expires, state: plain(state) }])),
    told(
      live.map(({ key, created, rev, ends, values }) => [key, { created, rev, expires: ends, state: sorted(values) }]),
    ),
  );
  assert.deepEqual([total, plain(app)], [live.length, sorted(model.app)]);
  for (const { key, isExpired, created } of model.sessions.values()) {
    const loaded = await store.load(key, {}, context);
    assert.equal(loaded?.created, isExpired ? undefined : created);
  }
  for (const [user, values] of model.users) {
    assert.deepEqual(plain((await store.loadScope({ app: APP, user }, context)).state), sorted(values));
  }
}

/**
 * Checks the law over a store: `open` answers an open one over fresh storage at each call, with the functions to
 * `reopen` it, if there is one, and to `close` it.
 */
export async function growthLaw(open, parameters) {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const { store: first, reopen, close } = await open();
      let store = first;
      const model = new Model();
      for (const [index, each] of steps.entries()) {
        await (others[each.kind]?.(store, model, each) ?? write(store, model, index + 1, each));
      }
      await compare(store, model);
      if (reopen) {
        store = await reopen();
        await compare(store, model);
      }
      await close?.(store);
    }),
    parameters,
  );
}
