// Random batches of events for two stores, whose answers have to be the same.

import assert from 'node:assert/strict';
import { randomFrom } from '../../support/random.js';
import { context, keyOf } from './database.mjs';

const NAMES = ['a', 'b', 'c', '', '__proto__', '😀', '\0', 'quote"\\', 'NULL'];
const VALUES = [null, 0, 1, 'text', '\0"\\', '{},', [], { a: [1] }];
const APPS = ['a', 'b\0'];
const USERS = ['', 'u', '😀'];
const SESSIONS = ['s', 't', '\0'];

/** An answer or a refusal as it is compared: the order of names that were deleted does not matter. */
function plain(answer) {
  if (answer.name === 'StoreError') {
    const { code, message, actual, key, scope } = answer;
    return { code, message, actual, key, scope };
  }
  const changed = Object.entries(answer.changed ?? {}).map(([part, { set = {}, unset = [] }]) => {
    const gone = new Set(unset);
    const names = Object.keys(set);
    // Present keys keep their places; new ones come in this order.
    const born = names.filter((name) => gone.has(name));
    return [part, { born, set: names.sort().map((name) => [name, set[name]]), unset: [...gone].sort() }];
  });
  // The answer to a duplicate may have more than the current positions: that is up to the store.
  return { ...answer, changed: answer.duplicate ? {} : Object.fromEntries(changed) };
}

/** Throws where the stores differ. Answers how often what was met. */
export async function randomBatches(store, reference, seed, rounds) {
  const stores = [store, reference];
  for (const each of stores) await each.open?.({ migrate: 'create' }, context);
  const random = randomFrom(seed);
  const pick = (items) => items[Math.floor(random() * items.length)];
  const seen = {
    written: 0,
    duplicate: 0,
    'not-found': 0,
    conflict: 0,
    fenced: 0,
    rejected: 0,
    changed: 0,
    results: 0,
  };
  /** The positions of scopes that were known at some time, by their names. */
  const places = new Map();
  const nameOf = (part, { appName, userId }) => JSON.stringify(part === 'app' ? [appName] : [appName, userId]);
  const keys = APPS.flatMap((app) => USERS.flatMap((user) => SESSIONS.map((session) => keyOf(session, user, app))));
  /** The last creation of each session, and how many events it has had since. */
  const sessions = new Map();
  let count = 0;

  const both = async (run) => {
    const [mine, theirs] = [await run(store), await run(reference)];
    return [mine, theirs];
  };
  const delta = (mayDelete) => {
    const names = NAMES.filter(() => random() < 0.3);
    const set = Object.create(null);
    names.filter(() => random() < 0.7).forEach((name) => (set[name] = pick(VALUES)));
    return { ...(random() < 0.9 && { set }), ...(mayDelete && random() < 0.4 && { unset: [pick(NAMES)] }) };
  };
  const deltas = (mayDelete) => ({
    ...(random() < 0.5 && { app: delta(mayDelete) }),
    ...(random() < 0.5 && { user: delta(mayDelete) }),
    ...(random() < 0.6 && { session: delta(true) }),
  });
  const OPERATORS = {
    increment: () => pick([1, -1.5, 0.1, 1e21, 1e308]),
    append: () => [pick(VALUES)],
    setOnce: () => pick(VALUES),
    compareAndSet: () => ({ ...(random() < 0.6 && { expected: pick(VALUES) }), value: pick(VALUES) }),
  };
  /** Operators on names that a delta leaves alone. */
  const operators = (delta) => {
    const found = {};
    for (const scope of ['app', 'user', 'session'].filter(() => random() < 0.5)) {
      const { set = {}, unset = [] } = delta[scope] ?? {};
      const free = NAMES.filter((name) => !Object.hasOwn(set, name) && !unset.includes(name) && random() < 0.3);
      const ofScope = Object.create(null);
      for (const name of free) {
        const operator = random() < 0.5 ? 'setOnce' : pick(Object.keys(OPERATORS));
        ofScope[name] = { [operator]: OPERATORS[operator]() };
      }
      if (free.length > 0) found[scope] = ofScope;
    }
    return found;
  };
  /** The last token of each session that is there. */
  const tokens = new Map();
  /** Takes a lease that does not end by itself, or gives it back. */
  const lease = async (key) => {
    const own = tokens.get(JSON.stringify(key));
    const request =
      own !== undefined && random() < 0.6
        ? { holder: own.holder, ttl: pick([0, 1e9]), fence: own.fence }
        : { holder: `h ${random()}`, ttl: 1e9 };
    const [mine, theirs] = await both((each) => each.lease(key, request, context).catch((error) => error));
    // Their clocks are not the same.
    const told = ({ code, actual, fence }) => ({ code, actual, fence });
    assert.deepEqual(told(mine), told(theirs), JSON.stringify(request));
    if (mine.fence !== undefined) tokens.set(JSON.stringify(key), { holder: request.holder, fence: mine.fence });
  };
  const event = (key, mayDelete, mayOperate = false) => {
    const { created = 'none', rev = 0, last } = sessions.get(JSON.stringify(key)) ?? {};
    const earlier = random() < 0.3 && last ? last : `e${Math.max(0, count - Math.floor(random() * 40))}`;
    const id = random() < 0.25 ? earlier : `e${(count += 1)}`;
    const known = { pos: {}, marks: {} };
    for (const part of ['app', 'user']) {
      const place = pick(places.get(nameOf(part, key)) ?? [undefined]);
      if (place !== undefined && random() < 0.8) {
        known.pos[part] = place.pos;
        known.marks[part] = random() < 0.9 ? place.mark : 'another';
      }
    }
    const guard = {
      ...(random() < 0.8 && { created: random() < 0.9 ? created : 'another' }),
      ...(random() < 0.2 && { rev: random() < 0.7 ? rev : pick([0, 1, 1.5, 1e12]) }),
      ...(random() < 0.2 && {
        fence: random() < 0.7 ? (tokens.get(JSON.stringify(key))?.fence ?? 0) : pick([0, 1, 1.5, 1e12]),
      }),
    };
    const data = JSON.stringify({ id, text: pick(['"', '\\', '{}', '\u0001', '😀']) });
    const written = deltas(mayDelete);
    const operated = mayOperate ? operators(written) : {};
    return {
      ...{ id, kind: 'append', key, time: Math.floor(random() * 5), event: { id, time: pick([0, 1.5, -7]), data } },
      ...{ delta: written, known },
      ...(Object.keys(operated).length > 0 && { operators: operated }),
      ...(random() < 0.9 && { guard }),
      ...(random() < 0.5 && { call: `call ${random()}` }),
    };
  };
  const commit = async (changes) => {
    const [mine, theirs] = await both((each) => each.commitMany(changes, context));
    assert.deepEqual(mine.map(plain), theirs.map(plain), JSON.stringify(changes));
    mine.forEach((answer, index) => {
      const { key, kind, id, call, delta, operators = {} } = changes[index];
      seen[answer.code ?? (answer.duplicate ? 'duplicate' : 'written')] += 1;
      seen.changed += Object.keys(answer.changed ?? {}).length;
      seen.results += Object.keys(answer.results ?? {}).length;
      if (answer.name === 'StoreError' || answer.duplicate) return;
      if (kind === 'create') sessions.set(JSON.stringify(key), { created: id, rev: 0 });
      if (kind === 'append') Object.assign(sessions.get(JSON.stringify(key)), { rev: answer.rev, last: id });
      for (const part of ['app', 'user']) {
        const written = [delta[part]?.set, operators[part]].flatMap((each) => Object.keys(each ?? {}));
        const has = [...(delta[part]?.unset ?? []), ...written].length > 0;
        const place = { pos: answer.pos[part], mark: has ? (call ?? id) : answer.before?.[part] };
        const name = nameOf(part, key);
        // Early ones are forgotten, so that what is known tells something.
        if (place.pos > 0 && place.mark !== undefined)
          places.set(name, [...(places.get(name) ?? []).slice(-5), place]);
      }
    });
  };

  for (let round = 0; round < rounds; round += 1) {
    for (const key of keys.filter((key) => random() < (sessions.has(JSON.stringify(key)) ? 0.05 : 0.5))) {
      if (sessions.has(JSON.stringify(key)) && random() < 0.5) {
        await both((each) => each.remove(key, context));
        sessions.delete(JSON.stringify(key));
        tokens.delete(JSON.stringify(key));
      } else {
        const id = `c${(count += 1)}`;
        const [mine, theirs] = await both((each) =>
          each.commit({ id, kind: 'create', key, time: 1, delta: {} }, context).catch((error) => error),
        );
        assert.deepEqual(plain(mine), plain(theirs));
        if (mine.rev === 0) sessions.set(JSON.stringify(key), { created: id, rev: 0 });
      }
    }
    for (const key of keys.filter(() => random() < 0.1)) await lease(key);
    if (random() < 0.1) await both((each) => each.removeScope({ app: pick(['a']) }, context));
    await commit(
      keys
        .filter(() => random() < 0.5)
        .sort(() => random() - 0.5)
        .map((key) => event(key, false)),
    );
    await commit([event(pick(keys), true)]);
    await commit([event(pick(keys), true, true)]);
    if (random() < 0.2) {
      const chosen = keys.filter(() => random() < 0.3);
      await commit(chosen.map((key) => event(key, true, true)));
    }
  }
  for (const key of keys) {
    const [mine, theirs] = await both((each) => each.load(key, {}, context));
    assert.deepEqual(mine, theirs);
    const orders = [mine, theirs].map((loaded) => Object.values(loaded?.state ?? {}).map(Object.keys));
    assert.deepEqual(orders[0], orders[1]);
  }
  const scopes = APPS.flatMap((app) => [{ app }, ...USERS.map((user) => ({ app, user }))]);
  // The removal of a scope has the time of the store's clock, and tells of names in any order.
  const plainEntry = ({ time, by, writes, ...entry }) =>
    by === undefined
      ? { ...entry, writes: [...writes].sort((a, b) => (a.name < b.name ? -1 : 1)) }
      : { ...entry, by, time, writes };
  for (const scope of scopes) {
    for (const query of [{}, { name: 'a' }, { after: 3, to: 90, limit: 20 }, { name: '\0', after: 5, limit: 3 }]) {
      const [mine, theirs] = await both((each) => each.readLog(scope, query, context));
      for (const log of [mine, theirs]) log.entries = log.entries.map(plainEntry);
      assert.deepEqual(mine, theirs, JSON.stringify(query));
      seen.logged = (seen.logged ?? 0) + mine.entries.length;
    }
  }
  return seen;
}
