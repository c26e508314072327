// Random histories: changes and questions, the same for two stores, whose answers have to be the same. They keep to
// the contract: ids of creations and updates are unique everywhere, and events are text that UTF-8 can say. They run
// in pages and workers, too: nothing of Node.

import { memoryStore } from 'statepad/stores/memory';
import { defined, plain } from './plain-answers.js';
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
const names = ['a', 'b', 'c', '1', '', '__proto__', '😀', '\0', 'quote"\\', 'NULL', '=', '-', '@1=m'];
const values = [null, true, 0, -1.5, '', 'text\0"\\', '{},', [], [1, { b: 1, a: 2 }], {}, { b: 1, a: [] }];
const texts = ['"', '\\', '{}', '\u0001', '😀'];
const apps = ['app', 'app\0', ''];
const users = ['user', '', 'ｕｓｅｒ', '😀'];
const digests = ['', 'one', 'two', 'three'];
const times = [0, 1, 2, 3, 1_000.5, -7, 1e15];

/** The values that a caller had, by what it says that it knows. */
const valuesOf = new WeakMap();

/** The outcomes of changes in the text of an answer, and the changes of others. */
const OUTCOMES = /"refused":"([\w-]+)|"(duplicate|changed|results|digest)":/g;

/** Two weeks, in milliseconds: no lease, and no session that lives for a time, ends by itself. */
const LONG = 14 * 24 * 60 * 60 * 1_000;
/** A time that no clock comes to; the small ones have passed on every clock. */
const FAR = 9e12;
const PAST = 1e9;

/**
 * The random calls of the stores. `next` makes one: a method, and its arguments; only methods that `store` has.
 * `remember` notes the answer of the reference: later calls know as much as the reader of an earlier one.
 */
function steps(random, store) {
  const { keeps = [], resolves = [], lease, sweep, claim, readLog, trimLog, owners, listApps, listUsers } = store;
  const pick = (items) => items[Math.floor(random() * items.length)];
  const often = (probability, make) => (random() < probability ? make() : undefined);
  const some = (items, most) => [
    ...new Set(Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(items))),
  ];
  const record = (entries) => {
    const made = Object.create(null);
    entries.forEach(([name, value]) => (made[name] = value));
    return made;
  };
  const sets = () => defined({ set: often(0.8, () => record(some(names, 3).map((name) => [name, pick(values)]))) });
  const delta = () => defined({ ...sets(), unset: often(0.3, () => some(names, 2)) });
  const deltas = (shared = delta) =>
    defined({ app: often(0.4, shared), user: often(0.4, shared), session: often(0.6, delta) });
  const count = () => Math.floor(random() * 12);
  // One that has many events, among many that have few.
  const usual = { appName: 'app', userId: 'user', sessionId: 'a' };
  const other = () => ({
    appName: pick(apps),
    userId: pick(users),
    sessionId: pick(ids),
  });
  /** The sessions as they were loaded once or more, by their keys as text. */
  const readers = new Map();
  const readerOf = (target) => pick(readers.get(plain(target)) ?? [undefined]);
  const isRead = () => readers.size > 0 && random() < 0.3;
  const key = () => (random() < 0.4 ? usual : isRead() ? pick([...readers.values()])[0].key : other());
  const pos = () => defined({ app: often(0.5, count), user: often(0.5, count) });
  /** The id of a change of a session, or of its user or app. */
  const idOf = (kind, target, number) => `${kind}${number} of ${JSON.stringify(target)}`;
  const created = (target) => readerOf(target)?.created ?? idOf('c', target, count());
  const knownTo = ({ pos, marks, state }, more = {}) => {
    const known = { ...more, pos, marks: random() < 0.9 ? marks : { app: 'another', user: 'another' } };
    valuesOf.set(known, state);
    return known;
  };
  /** The scopes as a reader of the session knows them. */
  const known = (target) => {
    const reader = keeps.includes('changed') ? readerOf(target) : undefined;
    return reader && often(0.7, () => knownTo(reader));
  };
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
  const eventOf = (id) => ({ id, time: pick(times), data: `${id} ${pick(texts)} ${random()}` });
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
    return defined({
      ...{ id, kind, time, key: target, delta: written },
      operators: Object.keys(operated).length > 0 ? operated : undefined,
      event: kind === 'append' || (kind === 'create' && random() < 0.7) ? eventOf(id) : undefined,
      guard: often(0.3, () => guard(target)),
      known: known({ appName, userId, sessionId }),
      limits: keeps.includes('limits') ? often(0.25, limits) : undefined,
      expires: keeps.includes('expiry') && kind === 'create' ? often(0.4, end) : undefined,
      ...(keeps.includes('digests') && kind !== 'append' && digested()),
    });
  };
  const limits = () =>
    defined({
      value: often(0.4, () => pick([2, 6, 12])),
      state: often(0.4, () => pick([8, 16, 32, 64])),
      keys: often(0.4, () => 1 + Math.floor(random() * 5)),
      events: often(0.3, count),
    });
  /** No two sessions expire at the same time: a sweep goes by that. */
  const end = () => pick([{ at: 1 + Math.floor(random() * PAST) }, { at: FAR }, { ttl: LONG }]);
  const sweeping = () => {
    const dry = often(0.3, () => true);
    return random() < 0.3
      ? [defined({ limit: 1_000, userTtl: 0, app: often(0.7, () => key().appName), dry })]
      : [
          defined({
            limit: pick([1, 2, 5, 100]),
            userTtl: often(0.3, () => LONG),
            app: often(0.5, () => key().appName),
            dry,
          }),
        ];
  };
  const claiming = () => {
    const { holder, ttl, fence } = request(key());
    return [pick(['sweep', 'Sweep', '', '\0']), defined({ holder, ttl, fence })];
  };
  const digested = () =>
    defined({ digest: often(0.6, () => pick(digests)), attempt: often(0.2, () => 2 + Math.floor(random() * 3)) });
  const named = (all) => defined({ after: often(0.5, () => pick(all)), limit: often(0.6, () => pick([1, 2, 3])) });
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
    const reader = readerOf(target);
    const guessed = () => defined({ created: created(target), rev: count(), pos: often(0.7, pos) });
    const told = () => knownTo(reader, { created: reader.created, rev: reader.rev });
    return defined({ events: often(0.7, events), known: often(0.4, reader && random() < 0.8 ? told : guessed) });
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
  const odd = () => (random() < 0.8 ? count() : pick([1.5, 1e12]));
  /** Events of sessions that are there, with nothing that a store has to look at one by one. */
  const appends = () =>
    [...readers.values()]
      .filter(() => random() < 0.6)
      .map(([{ key: target }]) => {
        const id = `a${Math.floor(random() * 200)}`;
        return defined({
          ...{ id, kind: 'append', key: target, time: pick(times), event: eventOf(id), delta: deltas(sets) },
          guard: often(0.7, () =>
            defined({ created: created(target), rev: often(0.1, odd), fence: lease && often(0.1, odd) }),
          ),
          known: known(target),
          call: often(0.5, () => `call ${random()}`),
        });
      });
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
    commitMany: () => [random() < 0.5 ? appends() : batch()],
    load: () => about(question),
    list: () => [page()],
    loadScope: () => [scope()],
    remove: () => [key()],
    removeScope: () => [scope()],
    lease: () => about(request),
    sweep: sweeping,
    claim: claiming,
    readLog: () => [scope(), part()],
    trimLog: () => [scope(), count()],
    owners: () => [key().appName, key().sessionId],
    listApps: () => [named([...apps, 'ap', 'b'])],
    listUsers: () => [key().appName, named([...users, 'us', 'v'])],
  };
  const methods = Object.entries({
    commit: 40,
    commitMany: 15,
    load: 15,
    list: 20,
    loadScope: 6,
    remove: 2,
    removeScope: 2,
    ...(lease && { lease: 16 }),
    ...(sweep && { sweep: 3 }),
    ...(claim && { claim: 4 }),
    ...(readLog && { readLog: 8 }),
    ...(trimLog && { trimLog: 1 }),
    ...(owners && { owners: 8 }),
    ...(listApps && { listApps: 3 }),
    ...(listUsers && { listUsers: 6 }),
  });
  const weighted = methods.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  return {
    next: () => {
      const name = pick(weighted);
      return { name, args: make[name]() };
    },
    remember: ({ name, args: [first, asked] }, answer) => {
      const told = { load: readBy, commit: createdBy }[name]?.(first, answer, asked);
      if (told) readers.set(plain(told.key), [...(readers.get(plain(told.key)) ?? []).slice(-3), told]);
    },
  };
}

/** A session as it was loaded, unless the load said what its caller knows. */
function readBy(key, answer, { known }) {
  if (!answer?.marks || known) return undefined;
  const { created, rev, pos, marks, state } = answer;
  return { key, created, rev, pos, marks, state };
}

/** A session as its creator knows it: nothing of its scopes. */
function createdBy({ id, kind, key }, { prev, duplicate }) {
  const isNew = kind === 'create' && prev === null && !duplicate;
  return isNew ? { key, created: id, rev: 0, pos: {}, marks: {} } : undefined;
}

async function answerOf(store, { name, args }, context) {
  try {
    return name === 'listApps' || name === 'listUsers'
      ? await walk(store, name, args, context)
      : await store[name](...args, context);
  } catch (error) {
    return error;
  }
}

/** Reads a list of names from a page on to its end. */
async function walk(store, name, args, context) {
  const [query, ...before] = args.toReversed();
  const names = [];
  let [isFull, after, more] = [true, query.after, true];
  while (more) {
    const page = await store[name](...before, defined({ ...query, after }), context);
    names.push(...page.names);
    isFull &&= query.limit === undefined || (page.more ? page.names.length === query.limit : true);
    after = page.names.at(-1);
    more = page.more && page.names.length > 0;
  }
  return { list: name, names, isFull };
}

/** A list without the names that a store may have or not: those that have lost everything. */
function withoutLost(actual, expected) {
  const known = actual?.list === 'listApps' ? apps : actual?.list === 'listUsers' ? users : undefined;
  return known === undefined || !expected?.names
    ? actual
    : { ...actual, names: actual.names.filter((name) => expected.names.includes(name) || !known.includes(name)) };
}

/** An answer with the changes of others applied to the values that its caller had. */
function followed(answer, known) {
  if (!answer?.changed) return answer;
  const { changed, ...rest } = answer;
  const scopes = ['app', 'user'].filter((scope) => changed[scope]);
  const values = scopes.map((scope) => {
    const { set = {}, unset = [] } = changed[scope];
    const copy = new Map(Object.entries(valuesOf.get(known)[scope]));
    unset.forEach((name) => copy.delete(name));
    Object.entries(set).forEach(([name, value]) => copy.set(name, value));
    return [scope, [...copy]];
  });
  return { ...rest, ...(values.length > 0 && { changed: values }) };
}

/** The answers to a step, each {@link followed}. */
function followedBy(answer, { name, args: [first, asked] }) {
  if (name === 'sweep' && answer.sessions + answer.users >= first.limit) {
    // There may be more, or not.
    return { ...answer, more: undefined };
  }
  return name === 'commitMany' && Array.isArray(answer)
    ? answer.map((each, index) => followed(each, first[index].known))
    : followed(answer, name === 'load' ? asked.known : first.known);
}

/**
 * Makes so many steps with an open store and with the reference. Throws where they differ; answers how often the
 * changes came to what.
 */
export async function compareStores(store, { seed, length, reference = memoryStore() }) {
  // Workers can make a signal in a request only.
  const context = { signal: new AbortController().signal };
  const { next, remember } = steps(randomFrom(seed), store);
  const isLogged = store.keeps?.includes('log') ?? false;
  const outcomes = {};
  for (let index = 0; index < length; index++) {
    const step = next();
    const answer = await answerOf(reference, step, context);
    const given = withoutLost(await answerOf(store, step, context), answer);
    const [expected, actual] = [answer, given].map((each) => plain(followedBy(each, step), isLogged));
    if (actual !== expected) {
      throw new Error(`seed ${seed}, step ${index}, ${JSON.stringify(step)}: ${actual} instead of ${expected}`);
    }
    remember(step, answer);
    for (const [, refused, outcome = refused] of expected?.matchAll(OUTCOMES) ?? []) {
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
