// Random histories: changes and questions, the same for two stores, whose answers have to be the same. They keep to
// the contract: ids of creations and updates are unique everywhere, and events are text that UTF-8 can say. They run
// in pages and workers, too: nothing of Node.

import { memoryStore } from 'statepad/stores/memory';
import { randomFrom } from '../../support/random.js';

/** In the order of their UTF-8 bytes, which is not that of their UTF-16 units. */
const ids = [
  '',
  '\0',
  'a',
  'a\0',
  'aa',
  'b',
  '__proto__',
  '\ud7ff',
  '\ue000',
  '\uf8ff',
  '\uffff',
  '\u{10000}',
  '😀',
  '\u{10ffff}',
];
const names = ['a', 'b', 'c', '1', '', '__proto__', '😀', '\0'];
const values = [null, true, 0, -1.5, '', 'text\0"', [], [1, { b: 1, a: 2 }], {}, { b: 1, a: [] }];
const times = [0, 1, 2, 3, 1_000.5, -7, 1e15];

/** Two weeks, in milliseconds: no lease ends by itself. */
const LONG = 14 * 24 * 60 * 60 * 1_000;

/** The random calls of the stores: a method, and its arguments. Only methods that `store` has. */
function steps(random, { resolves = [], lease, readLog, trimLog }) {
  const pick = (items) => items[Math.floor(random() * items.length)];
  const often = (probability, make) => (random() < probability ? make() : undefined);
  const defined = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const some = (items, most) => [
    ...new Set(Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(items))),
  ];
  const record = (entries) => {
    const made = Object.create(null);
    entries.forEach(([name, value]) => (made[name] = value));
    return made;
  };
  const delta = () => {
    const set = often(0.8, () => record(some(names, 3).map((name) => [name, pick(values)])));
    return defined({ set, unset: often(0.3, () => some(names, 2)) });
  };
  const deltas = () => defined({ app: often(0.4, delta), user: often(0.4, delta), session: often(0.6, delta) });
  const count = () => Math.floor(random() * 12);
  // One that has many events, among many that have few.
  const usual = { appName: 'app', userId: 'user', sessionId: 'a' };
  const other = () => ({
    appName: pick(['app', 'app\0', '']),
    userId: pick(['user', '', 'ｕｓｅｒ', '😀']),
    sessionId: pick(ids),
  });
  const key = () => (random() < 0.4 ? usual : other());
  const pos = () => defined({ app: often(0.5, count), user: often(0.5, count) });
  /** The id of a change of a session, or of its user or app. */
  const idOf = (kind, target, number) => `${kind}${number} of ${JSON.stringify(target)}`;
  const created = (target) => idOf('c', target, count());
  const guard = (target) =>
    defined({
      rev: often(0.3, count),
      pos: often(0.2, pos),
      keys: often(0.3, deltas),
      created: often(0.1, () => created(target)),
      fence: lease && often(0.2, () => Math.floor(random() * 4)),
    });
  const operators = {
    increment: () => pick([0, 1, -1.5, 0.1, 1e308]),
    append: () => some(values, 2),
    setOnce: () => pick(values),
    compareAndSet: () => defined({ expected: often(0.7, () => pick(values)), value: pick(values) }),
  };
  /** Operators of names that are not in the delta. */
  const operatorsBeside = ({ set = {}, unset = [] } = {}) => {
    const free = some(names, 2).filter((name) => !Object.hasOwn(set, name) && !unset.includes(name));
    const made = record(
      free.map((name) => {
        const operator = pick(resolves);
        return [name, { [operator]: operators[operator]() }];
      }),
    );
    return free.length > 0 ? made : undefined;
  };
  const change = () => {
    const kind = pick(['create', 'append', 'append', 'append', 'update']);
    const { appName, userId, sessionId } = key();
    const scope = random() < 0.5 ? { appName } : { appName, userId };
    const target = kind === 'update' ? scope : { appName, userId, sessionId };
    const number = Math.floor(random() * 40);
    // Those of events are unique in their session.
    const id = kind === 'append' ? `a${number}` : idOf(kind[0], target, number);
    const time = pick(times);
    const { app, user, session } = deltas();
    const written = defined({ app, ...('userId' in target && { user }), ...('sessionId' in target && { session }) });
    const beside = (scope, member) =>
      member in target ? often(0.3, () => operatorsBeside(written[scope])) : undefined;
    const operated = defined(
      resolves.length > 0
        ? { app: beside('app', 'appName'), user: beside('user', 'userId'), session: beside('session', 'sessionId') }
        : {},
    );
    return {
      id,
      kind,
      time,
      key: target,
      delta: written,
      ...(Object.keys(operated).length > 0 && { operators: operated }),
      ...((kind === 'append' || (kind === 'create' && random() < 0.7)) && {
        event: { id, time: pick(times), data: `${id} 😀 ${random()}` },
      }),
      ...(random() < 0.3 && { guard: guard(target) }),
    };
  };
  const page = () => {
    const { appName, userId, sessionId } = key();
    const after = often(0.4, () => ({ time: pick(times), sessionId, userId: key().userId }));
    const offset = after === undefined ? often(0.4, count) : undefined;
    return defined({
      app: appName,
      user: often(0.5, () => userId),
      descending: random() < 0.5,
      limit: often(0.6, count),
      offset,
      after,
    });
  };
  const events = () =>
    defined({
      from: often(0.3, count),
      to: often(0.3, count),
      since: often(0.3, () => pick(times)),
      last: often(0.4, count),
    });
  const question = (target) => {
    const known = often(0.3, () => defined({ created: created(target), rev: count(), pos: often(0.7, pos) }));
    return defined({ events: often(0.7, events), known });
  };
  const scope = () => (random() < 0.5 ? { app: key().appName } : { app: key().appName, user: key().userId });
  const batch = () => {
    const changes = Array.from({ length: 6 }, change);
    // At most one for each session, and any number of updates.
    return changes.filter(
      ({ kind, key }, index) =>
        kind === 'update' || changes.findIndex((each) => plain(each.key) === plain(key)) === index,
    );
  };
  const request = (target) =>
    defined({
      holder: pick(['one', 'two', '']),
      ttl: pick([0, LONG, LONG, 2 * LONG]),
      fence: often(0.5, () => Math.floor(random() * 4)),
      created: often(0.1, () => created(target)),
    });
  const part = () =>
    defined({
      after: often(0.5, () => count() * 3),
      to: often(0.3, () => count() * 6),
      name: often(0.3, () => pick(names)),
      limit: often(0.3, count),
    });
  const about = (ask) => {
    const target = key();
    return [target, ask(target)];
  };
  const make = {
    commit: () => [change()],
    commitMany: () => [batch()],
    load: () => about(question),
    list: () => [page()],
    loadScope: () => [scope()],
    remove: () => [key()],
    removeScope: () => [scope()],
    lease: () => about(request),
    readLog: () => [scope(), part()],
    trimLog: () => [scope(), count()],
  };
  const methods = Object.entries({
    commit: 40,
    commitMany: 15,
    load: 15,
    list: 20,
    loadScope: 6,
    remove: 2,
    removeScope: 2,
    ...(lease && { lease: 8 }),
    ...(readLog && { readLog: 8 }),
    ...(trimLog && { trimLog: 1 }),
  });
  const weighted = methods.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  return () => {
    const name = pick(weighted);
    return { name, args: make[name]() };
  };
}

async function answerOf(store, { name, args }, isLogged, context) {
  try {
    return plain(await store[name](...args, context), isLogged);
  } catch (error) {
    return plain(error, isLogged);
  }
}

/** With everything in its order, and errors as what is known by them; without what is told by a clock. */
function plain(answer, isLogged) {
  return JSON.stringify(answer, (member, value) => {
    if (value instanceof Map) return [...value];
    if (value instanceof Error) {
      const { code, message, actual, key, scope } = value;
      return { refused: code ?? message, actual, key, scope };
    }
    if (member === 'results' && value) return canonical(value);
    if (member === 'until') return undefined;
    // Only some stores know the revision of the first update, or of the creation.
    if (value?.duplicate && value.data === undefined) return { ...value, results: undefined };
    if (value?.writes) return { ...value, time: clockless(value.time), writes: byName(value.writes) };
    if (value?.data !== undefined && 'pos' in value && !value.duplicate && !isLogged)
      return { ...value, pos: undefined };
    return value;
  });
}

/** Values by scope, whatever their order. */
function canonical(results) {
  const sorted = (given, map) =>
    Object.keys(given)
      .sort()
      .map((name) => [name, map(given[name])]);
  return sorted(results, (values) => sorted(values, (value) => value));
}

/** The times of changes, and one for those of clocks. */
function clockless(time) {
  return time > 1e12 && time < 1e14 ? 'clock' : time;
}

/** Names like numbers come first in records, and only there. */
function byName(writes) {
  return [...writes].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, from, to }) => ({ name, from, to }));
}

/**
 * Makes so many steps with an open store and with the reference. Throws where they differ; answers how often the
 * changes came to what.
 */
export async function compareStores(store, { seed, length, reference = memoryStore() }) {
  // Workers can make a signal in a request only.
  const context = { signal: new AbortController().signal };
  const next = steps(randomFrom(seed), store);
  const isLogged = store.keeps?.includes('log') ?? false;
  const outcomes = {};
  for (let index = 0; index < length; index++) {
    const step = next();
    const [expected, actual] = [
      await answerOf(reference, step, isLogged, context),
      await answerOf(store, step, isLogged, context),
    ];
    if (actual !== expected) {
      throw new Error(`seed ${seed}, step ${index}, ${JSON.stringify(step)}: ${actual} instead of ${expected}`);
    }
    for (const [, outcome = 'duplicate'] of expected?.matchAll(/"refused":"([\w-]+)|"duplicate"/g) ?? []) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  }
  return outcomes;
}

/** Throws unless histories came to each end more than so often: otherwise they would say little. */
export function assertVaried(outcomes, least) {
  const rare = Object.entries(least).filter(([outcome, count]) => !(outcomes[outcome] > count));
  if (rare.length > 0) throw new Error(`too seldom ${rare.map(([outcome]) => outcome)}: ${JSON.stringify(outcomes)}`);
}
