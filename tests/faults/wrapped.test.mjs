// Every store under a service, with faults around its commits: what is acknowledged is stored once, what is not is
// told, and no service is ever ahead of its store.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { plain } from '../contract/read.mjs';
import { faults, isSlow, TIMEOUT } from './faulty.mjs';
import { storages } from './storages.mjs';
import { context, increment, outcomeOf, readAgain, setUp } from './services.mjs';
import { operations, run } from './runs.mjs';

const { stores, skipped } = await storages();

/** The content of a store, read past the service. */
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

/** Checks a change of each kind when calls have the outcomes of `next`; each over storage of its own. */
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

/** The outcomes of three tries: of a change that may or may not have been written, and of one that surely was not. */
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
