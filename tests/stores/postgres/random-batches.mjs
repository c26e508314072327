// Random batches of events for two stores, whose answers have to be the same.

import assert from 'node:assert/strict';
import { context, keyOf } from './database.mjs';

/** Numbers between 0 and 1, the same ones each time. */
function randomOf(seed) {
  let state = seed * 7919;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

const NAMES = ['a', 'b', 'c', '', '__proto__', '😀', '\0', 'quote"\\', 'NULL'];
const VALUES = [null, 0, 1, 'text', '\0"\\', '{},', [], { a: [1] }];
const APPS = ['a', 'b\0'];
const USERS = ['', 'u', '😀'];
const SESSIONS = ['s', 't', '\0'];

/** An answer or a refusal as it is compared: the order of names that were deleted does not matter. */
function plain(answer) {
  if (answer.name === 'StoreError') return { code: answer.code, message: answer.message, actual: answer.actual };
  const changed = Object.entries(answer.changed ?? {}).map(([part, { set = {}, unset = [] }]) => {
    const gone = new Set(unset);
    const names = Object.keys(set);
    // What was there keeps its place; what is new comes in this order.
    const born = names.filter((name) => gone.has(name));
    return [part, { born, set: names.sort().map((name) => [name, set[name]]), unset: [...gone].sort() }];
  });
  // What a duplicate is told beside where everything is now is up to the store.
  return { ...answer, changed: answer.duplicate ? {} : Object.fromEntries(changed) };
}

/** Throws where the stores differ. Answers how often what was met. */
export async function randomBatches(store, reference, seed, rounds) {
  const stores = [store, reference];
  for (const each of stores) await each.open?.({ migrate: 'create' }, context);
  const random = randomOf(seed);
  const pick = (items) => items[Math.floor(random() * items.length)];
  const seen = { written: 0, duplicate: 0, 'not-found': 0, conflict: 0, changed: 0 };
  /** What was known of scopes at some time, by their names. */
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
  const event = (key, mayDelete) => {
    const id = random() < 0.25 ? `e${Math.max(0, count - Math.floor(random() * 40))}` : `e${(count += 1)}`;
    const { created = 'none', rev = 0 } = sessions.get(JSON.stringify(key)) ?? {};
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
    };
    const data = JSON.stringify({ id, text: pick(['"', '\\', '{}', '\u0001', '😀']) });
    return {
      ...{ id, kind: 'append', key, time: Math.floor(random() * 5), event: { id, time: pick([0, 1.5, -7]), data } },
      ...{ delta: deltas(mayDelete), known },
      ...(random() < 0.9 && { guard }),
      ...(random() < 0.5 && { call: `call ${random()}` }),
    };
  };
  const commit = async (changes) => {
    const [mine, theirs] = await both((each) => each.commitMany(changes, context));
    assert.deepEqual(mine.map(plain), theirs.map(plain), JSON.stringify(changes));
    mine.forEach((answer, index) => {
      const { key, kind, id, call, delta } = changes[index];
      seen[answer.code ?? (answer.duplicate ? 'duplicate' : 'written')] += 1;
      seen.changed += Object.keys(answer.changed ?? {}).length;
      if (answer.name === 'StoreError' || answer.duplicate) return;
      if (kind === 'create') sessions.set(JSON.stringify(key), { created: id, rev: 0 });
      if (kind === 'append') Object.assign(sessions.get(JSON.stringify(key)), { rev: answer.rev });
      for (const part of ['app', 'user']) {
        const has = [...(delta[part]?.unset ?? []), ...Object.keys(delta[part]?.set ?? {})].length > 0;
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
      } else {
        const id = `c${(count += 1)}`;
        const [mine, theirs] = await both((each) =>
          each.commit({ id, kind: 'create', key, time: 1, delta: {} }, context).catch((error) => error),
        );
        assert.deepEqual(plain(mine), plain(theirs));
        if (mine.rev === 0) sessions.set(JSON.stringify(key), { created: id, rev: 0 });
      }
    }
    if (random() < 0.1) await both((each) => each.removeScope({ app: pick(['a']) }, context));
    await commit(
      keys
        .filter(() => random() < 0.5)
        .sort(() => random() - 0.5)
        .map((key) => event(key, false)),
    );
    await commit([event(pick(keys), true)]);
  }
  for (const key of keys) {
    const [mine, theirs] = await both((each) => each.load(key, {}, context));
    assert.deepEqual(mine, theirs);
    const orders = [mine, theirs].map((loaded) => Object.values(loaded?.state ?? {}).map(Object.keys));
    assert.deepEqual(orders[0], orders[1]);
  }
  return seen;
}
