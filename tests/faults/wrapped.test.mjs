// Every store under a service, with faults around its commits: what is acknowledged is stored once, what is not is
// told, and nobody here is ever ahead of the store.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SessionService, isStatepadError } from 'statepad';
import { plain } from '../contract/read.mjs';
import { faults, isSlow, planOf, TIMEOUT } from './faulty.mjs';
import { storages } from './storages.mjs';

const { stores, skipped } = await storages();
const context = { signal: new AbortController().signal };
const retry = { attempts: 3, pause: 1 };

let apps = 0;

/** Creates a session before anything is told to fail: only a busy machine can be too slow, now and then. */
async function createdAtLast(service, request) {
  for (;;) {
    try {
      return await service.getOrCreateSession(request);
    } catch (error) {
      if (!['COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'].includes(error.code)) throw error;
    }
  }
}

/** A service over new storage, with one session of which no change has failed. */
async function setUp(make, { timeout = 10_000, delay } = {}) {
  const storage = make();
  const plan = planOf(delay);
  const store = storage.open(plan);
  const service = new SessionService({ store, retry, timeout });
  const key = { appName: `app ${process.pid} ${apps++}`, userId: 'u', sessionId: 's' };
  const session = await createdAtLast(service, { ...key, state: { n: 0, 'app:n': 0, 'user:n': 0 } });
  plan.calls.length = 0;
  return { storage, plan, store, service, key, session };
}

/**
 * Calls `read` with another service over the same storage: beside the first one, where that is possible, or after it.
 */
async function readAgain({ storage, plan, store, service }, read) {
  plan.next.length = 0;
  await plan.settled();
  if (store.exclusive) {
    await service.close();
  }
  const again = storage.open();
  const fresh = new SessionService({ store: again });
  try {
    // Opens the store.
    await fresh.getSession({ appName: 'nobody', userId: 'u', sessionId: 's' });
    return await read(fresh, again);
  } finally {
    await fresh.close();
    await service.close();
    await storage.drop();
  }
}

/** What a store has, asked past the service. */
async function stored(store, key) {
  const [s, t] = await Promise.all(['s', 't'].map((sessionId) => store.load({ ...key, sessionId }, {}, context)));
  const { appName: app, userId: user } = key;
  const scopes = await Promise.all([store.loadScope({ app }, context), store.loadScope({ app, user }, context)]);
  const ids = s.events.map(({ data }) => JSON.parse(data).id);
  return plain({
    rev: s.rev,
    n: s.state.session.n,
    ids,
    t: t?.state.session.n,
    scopes: scopes.map(({ pos, state }) => [pos, state.n]),
  });
}

/** The same as a service shows it, but for positions, which it does not. */
async function shown(service, key) {
  const s = await service.getSession(key);
  const t = await service.getSession({ ...key, sessionId: 't' });
  const [app, user] = [await service.getAppState(key), await service.getUserState(key)];
  assert.deepEqual([s.state['app:n'], s.state['user:n']], [app.n, user.n]);
  return plain({
    rev: s.revision,
    n: s.state.n,
    ids: s.events.map(({ id }) => id),
    t: t?.state.n,
    scopes: [app.n, user.n],
  });
}

const withoutPositions = ({ scopes, ...rest }) => ({ ...rest, scopes: scopes.map(([, n]) => n) });

const event = {
  id: 'e',
  invocationId: 'i',
  author: 'agent',
  actions: { stateDelta: { n: 1, 'app:n': 1, 'user:n': 1 } },
};
const increment =
  (...names) =>
  (state) =>
    Object.fromEntries(names.map((name) => [name, state[name] + 1]));
const before = {
  rev: 0,
  n: 0,
  scopes: [
    [1, 0],
    [1, 0],
  ],
};

/** The kinds of changes: how one is asked for, and what is stored after it. */
const kinds = {
  create: {
    ask: ({ service, key }) =>
      service.createSession({ ...key, sessionId: 't', state: { n: 5, 'app:n': 1, 'user:n': 1 } }),
    after: {
      ...before,
      t: 5,
      scopes: [
        [2, 1],
        [2, 1],
      ],
    },
  },
  append: {
    ask: ({ service, session }) => service.appendEvent({ session, event }),
    after: {
      rev: 1,
      n: 1,
      scopes: [
        [2, 1],
        [2, 1],
      ],
    },
  },
  'update of a session': {
    ask: ({ service, key }) => service.updateState(key, increment('n', 'app:n', 'user:n')),
    after: {
      rev: 1,
      n: 1,
      scopes: [
        [2, 1],
        [2, 1],
      ],
    },
  },
  'update of a user': {
    ask: ({ service, key: { appName, userId } }) =>
      service.updateState({ appName, userId }, increment('app:n', 'user:n')),
    after: {
      ...before,
      scopes: [
        [2, 1],
        [2, 1],
      ],
    },
  },
  'update of an app': {
    ask: ({ service, key: { appName } }) => service.updateState({ appName }, increment('app:n')),
    after: {
      ...before,
      scopes: [
        [2, 1],
        [1, 0],
      ],
    },
  },
};

/**
 * Checks that exactly this is stored. Ids of events are compared by how many there are, and that all are different.
 */
function isStored({ ids, ...found }, expected, what) {
  assert.deepEqual(found, expected, what);
  assert.equal(ids.length, expected.rev, what);
  assert.equal(new Set(ids).size, ids.length, what);
}

async function outcomeOf(promise) {
  try {
    await promise;
    return 'acknowledged';
  } catch (error) {
    if (!isStatepadError(error)) throw error;
    return error.code;
  }
}

/** What becomes of a change of each kind when calls go as told; each over storage of its own. */
async function forEachKind(make, next, check) {
  await Promise.all(
    Object.entries(kinds).map(async ([kind, { ask, after }]) => {
      const setting = await setUp(make, next.some(isSlow) ? { timeout: TIMEOUT } : {});
      setting.plan.next.push(...next);
      const outcome = await outcomeOf(ask(setting));
      assert.ok(setting.plan.calls.length > 0);
      await check({ ...setting, kind, ask: () => ask(setting), after, outcome });
      await readAgain(setting, async (fresh, store) => {
        const now = await stored(store, setting.key);
        isStored(now, after, kind);
        assert.deepEqual(await shown(fresh, setting.key), withoutPositions(now), kind);
      });
    }),
  );
}

/** What comes of three tries: of a change that may or may not have been written, and of one that surely was not. */
const unknown = [
  ['before', 'before', 'before'],
  ['after', 'before', 'refused'],
  ['cut', 'refused', 'before'],
  ['hang', 'before', 'before'],
  ['late', 'refused', 'refused'],
  ['late', 'late', 'late'],
];

for (const [name, make] of Object.entries(stores)) {
  // A journal looks at its lines after a fault: it answers sooner than it is told to fail.
  const isWise = name === 'journal over lines that fail';

  describe(name, { concurrency: 4 }, () => {
    for (const fault of faults) {
      test(`${fault}, then it goes well: sent again, acknowledged, stored once`, () =>
        forEachKind(make, [fault], async ({ kind, outcome, service, store, session, key, after }) => {
          assert.equal(outcome, 'acknowledged', kind);
          const now = await stored(store, key);
          isStored(now, after, kind);
          assert.deepEqual(await shown(service, key), withoutPositions(now), kind);
          assert.ok(session.revision <= now.rev);
          assert.equal(session.revision, kind === 'append' ? 1 : 0);
        }));

      test(`${fault}, in the middle of a batch: each change is acknowledged and stored once`, async () => {
        const setting = await setUp(make, isSlow(fault) ? { timeout: TIMEOUT } : {});
        const { service, plan, key } = setting;
        const users = Array.from({ length: 6 }, (_, index) => `u${index % 2}`);
        const sessions = await Promise.all(
          users.map((userId, index) =>
            service.createSession({ ...key, userId, sessionId: `s${index}`, state: { 'user:n': 0 } }),
          ),
        );
        plan.calls.length = 0;
        plan.next.push(fault);
        await Promise.all(
          sessions.map((session, index) =>
            service.appendEvent({
              session,
              event: {
                ...event,
                actions: { stateDelta: { n: index, [`app:${index}`]: index, [`user:${index}`]: index } },
              },
            }),
          ),
        );
        assert.ok(plan.calls[0] >= sessions.length, `they went together: ${plan.calls[0]}`);
        await readAgain(setting, async (fresh, store) => {
          for (const [index, { userId, id: sessionId }] of sessions.entries()) {
            const { events, state, revision } = await fresh.getSession({ ...key, userId, sessionId });
            assert.deepEqual(
              [events.map(({ id }) => id), state.n, state[`app:${index}`], state[`user:${index}`], revision],
              [['e'], index, index, index, 1],
            );
          }
          assert.equal((await store.loadScope({ app: key.appName }, context)).pos, 1 + sessions.length);
          assert.equal((await store.loadScope({ app: key.appName, user: 'u0' }, context)).pos, sessions.length);
        });
      });
    }

    for (const next of unknown) {
      test(`${next.join(', ')}: it is not known, nobody is ahead of the store, and asked for once more it is stored once`, () =>
        forEachKind(make, next, async ({ kind, outcome, service, store, session, key, after, plan, ask }) => {
          assert.ok(outcome === 'COMMIT_UNKNOWN' || (isWise && outcome === 'acknowledged'), `${kind}: ${outcome}`);
          if (outcome !== 'acknowledged') {
            assert.deepEqual([session.revision, session.events.length, session.state.n], [0, 0, 0], kind);
          }
          plan.next.length = 0;
          await plan.settled();
          const now = await stored(store, key);
          const isThere =
            outcome === 'acknowledged' || ['after', 'cut', 'hang', 'late'].some((fault) => next.includes(fault));
          isStored(now, isThere ? after : before, kind);
          assert.deepEqual(await shown(service, key), withoutPositions(now), kind);
          if (kind === 'append') {
            assert.equal((await ask()).id, 'e');
            assert.equal(session.revision, 1);
          } else if (!isThere) {
            await ask();
          } else if (kind === 'create') {
            assert.equal(await outcomeOf(ask()), 'SESSION_EXISTS');
          }
        }));
    }

    test('refused each time: STORE_UNAVAILABLE, nothing is stored, and it goes on later', () =>
      forEachKind(
        make,
        ['refused', 'refused', 'refused'],
        async ({ kind, outcome, service, store, session, key, ask }) => {
          assert.equal(outcome, 'STORE_UNAVAILABLE', kind);
          const now = await stored(store, key);
          isStored(now, before, kind);
          assert.deepEqual(await shown(service, key), withoutPositions(now), kind);
          assert.equal(session.revision, 0);
          await ask();
        },
      ));
  });
}

// Whatever happens, in whatever order.

const fault = fc.oneof(
  { weight: 8, arbitrary: fc.constant('well') },
  { weight: 8, arbitrary: fc.constantFrom('refused', 'before', 'after', 'cut') },
  { weight: 1, arbitrary: fc.constantFrom('hang', 'late') },
);
const operations = fc.array(
  fc.record({
    kind: fc.constantFrom('append', 'append', 'together', 'session', 'user', 'app', 'create', 'again'),
    at: fc.nat(2),
    faults: fc.oneof(
      { weight: 6, arbitrary: fc.array(fault, { maxLength: 4 }) },
      {
        weight: 1,
        arbitrary: fc.array(fc.constantFrom('refused', 'before', 'after', 'cut'), { minLength: 3, maxLength: 12 }),
      },
      { weight: 1, arbitrary: fc.nat(12).map((length) => Array.from({ length }, () => 'refused')) },
    ),
  }),
  { minLength: 15, maxLength: 15 },
);
const homes = [
  ['u0', 's0'],
  ['u0', 's1'],
  ['u1', 's2'],
];

/** The session's own values as its events say, the first `revision` of them. */
function replayed(events, revision = events.length) {
  const state = { n: 0 };
  for (const { actions } of events.slice(0, revision)) {
    Object.entries(actions.stateDelta)
      .filter(([name]) => !name.includes(':'))
      .forEach(([name, value]) => (state[name] = value));
  }
  return state;
}

const own = (state) => Object.fromEntries(Object.entries(plain(state)).filter(([name]) => !name.includes(':')));

/** One run: all that is asked for, what came of it, and at last what is there. */
async function run(make, list) {
  const setting = await setUp(make, { timeout: 100, delay: 130 });
  const { service, store, plan, key } = setting;
  const { appName } = key;
  plan.next.length = 0;
  const keys = homes.map(([userId, sessionId]) => ({ appName, userId, sessionId }));
  const handles = [];
  for (const of of keys) {
    handles.push(await createdAtLast(service, { ...of, state: { n: 0, 'app:n': 0, 'user:n': 0 } }));
  }
  /** By the id that is asked for: whose it is, what kind, and what came of it. */
  const asked = new Map();
  const allowed = ['acknowledged', 'COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'];
  const ask = async (id, facts, promise) => {
    const outcome = await outcomeOf(promise);
    assert.ok(allowed.includes(outcome), `${facts.kind}: ${outcome}`);
    // Once written it stays so, and what may have been written is not undone by a second try that surely has not.
    const { outcome: earlier } = asked.get(id) ?? {};
    asked.set(id, {
      ...facts,
      outcome: earlier === 'COMMIT_UNKNOWN' && outcome === 'STORE_UNAVAILABLE' ? earlier : outcome,
    });
  };
  const append = (id, at) => {
    const stateDelta = { [`k${id.length % 4}`]: id, [`app:${at}`]: id, [`user:${at}`]: id };
    return ask(
      id,
      { kind: 'append', at },
      service.appendEvent({
        session: handles[at],
        event: { id, invocationId: 'i', author: 'agent', actions: { stateDelta } },
      }),
    );
  };
  const update = (id, kind, at) => {
    const { appName, userId, sessionId } = keys[at];
    const target =
      kind === 'session' ? { appName, userId, sessionId } : kind === 'user' ? { appName, userId } : { appName };
    const names = { session: ['n'], user: ['user:n'], app: ['app:n'] }[kind];
    return ask(id, { kind, at, user: userId }, service.updateState(target, increment(...names), { invocationId: id }));
  };
  const create = (id, at) =>
    ask(
      id,
      { kind: 'create', at },
      service.createSession({ appName, userId: keys[at].userId, sessionId: id, state: { id } }),
    );

  let count = 0;
  for (const { kind, at, faults } of list) {
    plan.next.splice(0, Infinity, ...faults);
    const id = `${kind} ${count++}`;
    if (kind === 'append') {
      await append(id, at);
    } else if (kind === 'create') {
      await create(id, at);
    } else if (kind === 'together') {
      await Promise.all([
        append(`${id}a`, 0),
        append(`${id}b`, 1),
        append(`${id}c`, 2),
        append(`${id}d`, at),
        update(`${id}e`, 'session', at),
        update(`${id}f`, 'app', at),
      ]);
    } else if (kind === 'again') {
      const [found] =
        [...asked].reverse().find(([, facts]) => facts.kind === 'append' && facts.outcome !== 'acknowledged') ?? [];
      if (found !== undefined) await append(found, asked.get(found).at);
    } else {
      await update(id, kind, at);
    }
    for (const [index, handle] of handles.entries()) {
      const { rev, events } = await store.load(keys[index], {}, context);
      assert.ok(handle.revision <= rev, 'a handle is not ahead');
      const parsed = events.map(({ data }) => JSON.parse(data));
      assert.deepEqual(plain(handle.events), plain(parsed.slice(0, handle.revision)));
      assert.deepEqual(own(handle.state), replayed(parsed, handle.revision));
    }
  }
  const counts = { acknowledged: 0, COMMIT_UNKNOWN: 0, STORE_UNAVAILABLE: 0 };
  asked.forEach(({ outcome }) => (counts[outcome] += 1));

  await readAgain(setting, async (fresh, again) => {
    const seen = new Map();
    for (const [at, of] of keys.entries()) {
      const { events, state, revision } = await fresh.getSession(of);
      assert.equal(events.length, revision);
      assert.deepEqual(own(state), replayed(plain(events)));
      assert.equal(
        state.n,
        events.filter(({ author }) => author === 'system').length,
        'no increment is lost or made twice',
      );
      for (const { id, author, invocationId } of events) {
        const name = author === 'system' ? invocationId : id;
        assert.ok(!seen.has(name), `${name} is there once`);
        assert.equal(asked.get(name)?.at, at, `${name} was asked for`);
        seen.set(name, at);
      }
      const last = events.filter(({ author }) => author === 'agent').at(-1);
      assert.deepEqual([state[`app:${at}`], state[`user:${at}`]], [last?.id, last?.id]);
    }
    for (const [id, { kind, at, outcome }] of asked) {
      const isThere =
        kind === 'create' ? (await fresh.getSession({ ...keys[at], sessionId: id })) !== undefined : seen.has(id);
      if (!['app', 'user'].includes(kind) && outcome !== 'COMMIT_UNKNOWN') {
        assert.equal(isThere, outcome === 'acknowledged', `${id}: ${outcome}`);
      }
    }
    const within = (number, of) => {
      const sure = of.filter(({ outcome }) => outcome === 'acknowledged').length;
      const most = sure + of.filter(({ outcome }) => outcome === 'COMMIT_UNKNOWN').length;
      assert.ok(number >= sure && number <= most, `${sure} to ${most}: ${number}`);
    };
    within(
      (await fresh.getAppState({ appName })).n,
      [...asked.values()].filter(({ kind }) => kind === 'app'),
    );
    for (const userId of ['u0', 'u1']) {
      within(
        (await fresh.getUserState({ appName, userId })).n,
        [...asked.values()].filter(({ kind, user }) => kind === 'user' && user === userId),
      );
    }
    // Each session that is there and each event, and nothing else, has moved the app: the counter with its position.
    const { pos } = await again.loadScope({ app: appName }, context);
    const appends = [...seen.keys()].filter((id) => asked.get(id).kind === 'append').length;
    assert.equal(pos, 1 + keys.length + appends + (await fresh.getAppState({ appName })).n);
  });
  return counts;
}

for (const [name, make] of Object.entries(stores)) {
  test(`${name}: whatever fails, what is acknowledged is there once, and nothing that was not asked for`, async (t) => {
    const seed = 20240923;
    const total = { acknowledged: 0, COMMIT_UNKNOWN: 0, STORE_UNAVAILABLE: 0 };
    const property = fc.asyncProperty(operations, async (list) => {
      const counts = await run(make, list);
      Object.keys(total).forEach((outcome) => (total[outcome] += counts[outcome]));
    });
    await fc.assert(property, { seed, numRuns: name === 'postgres, PGlite' ? 5 : 15, endOnFailure: true });
    t.diagnostic(
      `seed ${seed}: ${total.acknowledged} acknowledged, ${total.COMMIT_UNKNOWN} unknown, ${total.STORE_UNAVAILABLE} not written`,
    );
    assert.ok(
      Object.values(total).every((number) => number > 0),
      'everything came to pass',
    );
  });
}

for (const [name, skip] of Object.entries(skipped)) {
  test(name, { skip }, () => {});
}
