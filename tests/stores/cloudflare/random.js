// Random changes, many at once, to a store and to the reference: both have to do the same.

import { memoryStore } from 'statepad/stores/memory';
import { assertEqual } from './data.js';

/** Numbers from 0 to `most`, the same ones for a seed (mulberry32). */
function random(seed) {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) % (most + 1);
  };
}

const IDS = ['a', 'b', '0', 'ü', '', 'x\u0000y'];
const NAMES = [...IDS, ...'zyxwvutsrqponm'];
const APPS = ['app', 'ap'];
const USERS = ['u', 'p', ''];

/** Few names, values and positions, so that changes often meet, repeat themselves, and are refused. */
function randomChange(next, taken) {
  const pick = (list) => list[next(list.length - 1)];
  const some = (make, chance = 2) => (next(chance) === 0 ? make() : undefined);
  const delta = () => ({
    set: some(() => Object.fromEntries(Array.from({ length: next(3) }, () => [pick(NAMES), next(1)])), 1),
    unset: some(() => Array.from({ length: next(3) }, () => pick(NAMES)), 4),
  });
  const expected = () => ({ set: some(() => ({ [pick(NAMES)]: next(1) }), 2), unset: some(() => [pick(NAMES)], 1) });
  const kind = pick(['create', 'append', 'append', 'append', 'update']);
  const key = { appName: pick(APPS), userId: pick(USERS), sessionId: pick(IDS) };
  if (kind === 'update') {
    delete key.sessionId;
    if (next(2) === 0) {
      delete key.userId;
    }
  } else if (taken.has(JSON.stringify(key))) {
    return undefined;
  }
  taken.add(JSON.stringify(key));
  const id = kind === 'create' ? `c${next(1)} ${JSON.stringify(key)}` : `${kind} ${next(20)}`;
  const time = 1_000 + next(20) / 8;
  return {
    id,
    kind,
    key,
    time,
    ...(kind === 'append' && { event: { id, time: 1_000 + next(5), data: JSON.stringify({ id, n: next(99) }) } }),
    delta: { app: some(delta, 1), user: some(delta, 1), session: some(delta, 1) },
    guard: some(
      () => ({
        created: kind === 'append' ? some(() => `c${next(1)} ${JSON.stringify(key)}`, 5) : undefined,
        rev: some(() => next(6), 5),
        pos: some(() => ({ app: some(() => next(40), 8), user: some(() => next(20), 8) }), 3),
        keys: some(() => ({ app: some(expected), user: some(expected), session: some(expected) }), 1),
      }),
      2,
    ),
  };
}

/** Plain data that says the same of both stores' answers. */
function plain(answers) {
  return answers.map((answer) => {
    const { code, actual, rev, prev, pos, duplicate, data } = answer;
    return { code, actual, rev, prev, pos, duplicate, data };
  });
}

/** Makes random changes. Answers how many of them were written, known before, and refused. */
export async function randomChanges(store, context, { seed, calls }) {
  const next = random(seed);
  const pick = (list) => list[next(list.length - 1)];
  const reference = memoryStore();
  await store.open({ migrate: 'create' }, context);
  const counts = {};
  for (let call = 0; call < calls; call++) {
    const taken = new Set();
    const drawn = Array.from({ length: 1 + next(15) }, () => randomChange(next, taken));
    const changes = drawn.filter((change) => change !== undefined);
    const expected = plain(await reference.commitMany(changes, context));
    const actual = plain(await store.commitMany(changes, context));
    assertEqual(actual, expected, `call ${call} (${JSON.stringify(changes)})`);
    for (const { code, duplicate } of expected) {
      const what = code ?? (duplicate ? 'duplicate' : 'written');
      counts[what] = (counts[what] ?? 0) + 1;
    }
    if (call % 4 === 0) {
      const key = { appName: pick(APPS), userId: pick(USERS), sessionId: pick(IDS) };
      const scope = next(1) === 0 ? { app: key.appName } : { app: key.appName, user: key.userId };
      await (next(2) === 0
        ? both((each) => each.remove(key, context))
        : both((each) => each.removeScope(scope, context)));
    }
    if (call % 5 === 0) {
      await compare(call);
    }
  }
  return counts;

  async function both(act) {
    return [await act(reference), await act(store)];
  }

  async function compare(call) {
    const known = { pos: { app: next(40), user: next(20) }, rev: next(6) };
    const since = 1_000 + next(5);
    const window = pick([{}, { last: next(5) }, { since }, { from: next(5), to: next(8), since, last: next(3) }]);
    for (const app of APPS) {
      const query = { app, descending: call % 2 === 0, limit: 7, offset: next(2) };
      const [expected, actual] = await both((each) => each.list(query, context));
      assertEqual(pageInOrder(actual), pageInOrder(expected), `the list after call ${call}`);
      for (const { key } of expected.rows) {
        const [one, other] = await both((each) => each.load(key, { events: window, known }, context));
        assertEqual(inOrder(other), inOrder(one), `the session after call ${call}`);
      }
      for (const user of [undefined, ...USERS]) {
        await compareLogs({ app, ...(user !== undefined && { user }) }, call);
      }
    }
  }

  async function compareLogs(scope, call) {
    if (next(9) === 0) {
      const upTo = next(call);
      const [expected, actual] = await both((each) => each.trimLog(scope, upTo, context));
      assertEqual(actual, expected, `how much is trimmed after call ${call}`);
    }
    const query = pick([{}, { after: next(call), to: next(3 * call) }, { name: pick(NAMES), limit: next(5) }]);
    const [expected, actual] = await both((each) => each.readLog(scope, query, context));
    assertEqual(logOf(actual), logOf(expected), `the log ${JSON.stringify(query)} of a scope after call ${call}`);
    counts.entries = (counts.entries ?? 0) + actual.entries.length;
  }
}

/**
 * Times of the clock, as removals have, are not compared; nor is the order of the names that they delete: a record has
 * names that are numbers first.
 */
function logOf({ pos, base, entries }) {
  const timed = entries.map(({ pos: at, time, by, writes }) => {
    const each = writes.map(({ name, from, to }) => [name, from, to]);
    const isRemoval = time > 10_000;
    return {
      at,
      time: isRemoval ? 'now' : time,
      by: by && [by.userId, by.sessionId, by.eventId],
      each: isRemoval ? each.sort() : each,
    };
  });
  return { pos, base, timed };
}

function pageInOrder({ rows, app, users, total }) {
  const names = [...users.keys()].sort();
  return { rows, app, users: names.map((name) => [name, users.get(name)]), total };
}

function inOrder({ state: { session, app, user }, created, rev, time, pos, events }) {
  return { created, rev, time, pos, session, app, user, events };
}
