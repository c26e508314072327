// Runs of random changes, of which some fail, and what has to be there at their end.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { plain } from '../contract/read.mjs';
import { context, createdAtLast, increment, outcomeOf, readAgain, setUp } from './services.mjs';

/** The outcome of one try. */
const fault = fc.oneof(
  { weight: 8, arbitrary: fc.constant('well') },
  { weight: 8, arbitrary: fc.constantFrom('refused', 'before', 'after', 'cut') },
  { weight: 1, arbitrary: fc.constantFrom('hang', 'late') },
);

/** The operations of a run, and the outcomes of the tries of each. */
export const operations = fc.array(
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

/** The user and the name of each session of a run. */
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
export async function run(make, list) {
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
