// Tests of D1 alone, as it runs in workerd. Each function is a test; the error that it throws says what is wrong.

import { d1Store } from 'statepad/stores/cloudflare';
import { openTables } from '../../../pkg/src/stores/cloudflare/d1/open.ts';
import { LAYOUT, TABLES } from '../../../pkg/src/stores/sqlite-core/schema.ts';
import { plain } from '../support/plain.js';
import { assertOtherLayout, commonTests, wrongOnes } from './common.js';
import { append, assert, assertCode, assertEqual, create, everyKind, KEY, keyOf, thrown } from './words.js';

/**
 * A binding whose batches go through `send`, which gets the statements as `{ sql, values }`, and what really sends
 * them.
 */
function wrapped(database, send) {
  const statement = (sql, values) => ({ sql, values, bind: (...more) => statement(sql, more) });
  const really = (statements) =>
    database.batch(statements.map(({ sql, values }) => database.prepare(sql).bind(...values)));
  return { prepare: (sql) => statement(sql, []), batch: (statements) => send(statements, really) };
}

const FIND_TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'statepad_%'`;

/** A binding of its own for the same database, as another isolate has it. */
function another(database) {
  return wrapped(database, (statements, send) => send(statements));
}

/** All rows of all tables. */
async function dump(database) {
  const { results } = await database.prepare(FIND_TABLES).all();
  const queries = results.map(({ name }) => database.prepare(`SELECT * FROM ${name}`));
  return queries.length === 0 ? [] : (await database.batch(queries)).map(({ results: rows }) => rows);
}

export const common = commonTests(({ database }) => ({
  make: (options) => d1Store(database, options),
  run: async (sql) => (await database.prepare(sql).all()).results,
  dump: () => dump(database),
  failingAt: (place) =>
    d1Store(
      wrapped(database, (statements, send) => {
        const failing = place > statements.length ? [] : [{ sql: 'SELECT x FROM nowhere', values: [] }];
        return send([...statements.slice(0, place), ...failing, ...statements.slice(place)]);
      }),
    ),
}));

/** A store whose batches go through `send`: see {@link wrapped}. */
const storeOver = (database, send) => plain(d1Store(wrapped(database, send)));

export async function wrong({ database }) {
  await wrongOnes(d1Store, 'prepare');
  for (const [options, path] of [
    [null, 'options'],
    ['log', 'options'],
    [{ log: 'no' }, 'log'],
  ]) {
    const error = await assertCode(async () => d1Store(database, options), 'INVALID_ARGUMENT');
    assertEqual(error.path, path, 'the path');
  }
}

/** Each operation is one round trip; no statement is longer, or takes more parameters, than D1 allows. */
export async function roundTrips({ database }) {
  const trips = [];
  const binding = wrapped(database, (statements, send) => {
    trips.push(statements);
    return send(statements);
  });
  const store = plain(d1Store(binding));
  const counts = async (action) => {
    trips.length = 0;
    await action();
    return trips.map(({ length }) => length);
  };
  await store.open({ migrate: 'create' });
  // A binding is looked at once, whatever is made of it.
  assertEqual(await counts(() => plain(d1Store(binding)).open({ migrate: 'create' })), [], 'open for the second time');
  assertEqual(await counts(() => plain(d1Store(another(binding))).open({ migrate: 'check' })), [2], 'open');
  const [creation, event, change] = everyKind();
  assertEqual((await counts(() => store.commit(creation))).length, 1, 'a creation');
  assertEqual(await counts(() => store.commit(append('plain'))), [3], 'an append');
  assertEqual((await counts(() => store.commit(event))).length, 1, 'an append with deltas');
  assertEqual((await counts(() => store.commit(change))).length, 1, 'an update');
  const keys = Array.from({ length: 500 }, (_, index) => keyOf(`s${index}`, `u${index % 7}`));
  const creations = keys.map((key) => create(key, { user: { set: { [key.sessionId]: 1 } } }));
  const created = await counts(() => store.commitMany(creations));
  assertEqual(created.length, 1, 'many creations');
  assert(created[0] < 10, `many creations take ${created[0]} statements`);
  const set = Object.fromEntries(keys.map((_, index) => [`name ${index}`, 'value'.repeat(100)]));
  const appends = keys.map((key, index) => append('e', index < 10 ? { session: { set } } : {}, { key }));
  const appended = await counts(() => store.commitMany(appends));
  assertEqual(appended.length, 1, 'many appends');
  // One more than the least: sizes are counted by what is there before values are written, in a table of their own.
  assert(appended[0] < 11, `many appends take ${appended[0]} statements`);
  assertEqual(Object.keys((await store.load(keys[9], {})).state.session).length, 500, 'the names');
  // Each looks at what the one before it has written.
  const chain = keys.slice(0, 50).map((key, index) => {
    const guard = index === 0 ? {} : { keys: { app: { set: { last: index - 1 } } } };
    return append('f', { app: { set: { last: index } } }, { key, guard });
  });
  const outcomes = await store.commitMany(chain);
  assertEqual(
    outcomes.map(({ code, rev }) => code ?? rev),
    chain.map(() => 2),
    'the outcomes of a chain',
  );
  assertEqual((await counts(() => store.load(KEY, { events: { since: 1, last: 3 } }))).length, 1, 'a load');
  assertEqual((await counts(() => store.list({ app: 'app', descending: true, limit: 20 }))).length, 1, 'a list');
  assertEqual(await counts(() => store.owners('app', 's1')), [1], 'owners');
  assertEqual(await counts(() => store.listApps({ limit: 2 })), [1], 'apps');
  assertEqual(await counts(() => store.listUsers('app', { after: 'u1', limit: 2 })), [1], 'users');
  assertEqual((await counts(() => store.loadScope({ app: 'app' }))).length, 1, 'a scope');
  assertEqual((await counts(() => store.readLog({ app: 'app' }, { name: 'a' }))).length, 1, 'a log');
  assertEqual((await counts(() => store.trimLog({ app: 'app' }, 3))).length, 1, 'trimming a log');
  assertEqual((await counts(() => store.lease(KEY, { holder: 'one', ttl: 9 }))).length, 1, 'a lease');
  assertEqual((await counts(() => store.removeScope({ app: 'app' }))).length, 1, 'removing a scope');
  assertEqual((await counts(() => store.remove(KEY))).length, 1, 'removing a session');
  return { created: created[0], appended: appended[0] };
}

/** A statement that is lost on the way there, or whose answer is lost, is sent again and stored once. */
export async function lostAndSentAgain({ database }) {
  let isLost = () => false;
  const loseIf = (where) => {
    if (isLost() === where) throw new Error('D1_ERROR: Network connection lost.');
  };
  const store = storeOver(database, async (statements, send) => {
    loseIf('before');
    const answers = await send(statements);
    loseIf('after');
    return answers;
  });
  await store.open({ migrate: 'create' });
  for (const change of everyKind()) {
    for (const where of ['before', 'after']) {
      isLost = () => where;
      const error = await thrown(() => store.commit(change));
      assert(error.code === undefined, `it throws ${error.code}`);
      isLost = () => false;
      const { duplicate, data } = await store.commit({ ...change, guard: undefined });
      assertEqual(duplicate, where === 'after' || undefined, `duplicate of ${change.kind}`);
      assertEqual(data, where === 'after' ? change.event?.data : undefined, `data of ${change.kind}`);
      if (where === 'before') {
        // Another one, for the other way.
        change.id = `${change.id} again`;
        change.key = change.kind === 'create' ? keyOf('again') : change.key;
        change.event &&= { ...change.event, id: change.id };
        change.guard = undefined;
      }
    }
  }
  const { rev, events } = await store.load(KEY, {});
  assertEqual([rev, events.length], [2, 2], 'the events');
  assertEqual((await store.loadScope({ app: 'app' })).pos, 6, 'the position of the app');
}

/** A sweep goes in batches of few rows, whatever its limit is: of at least one session, and then of users. */
export async function sweptInSlices({ database }) {
  let marked = [];
  const store = storeOver(database, async (statements, send) => {
    const answers = await send(statements);
    marked.push(...(/^UPDATE .*RETURNING/s.test(statements[1]?.sql ?? '') ? [answers[1].results.length] : []));
    return answers;
  });
  await store.open({ migrate: 'create' });
  const set = (count) => ({
    set: Object.fromEntries(Array.from({ length: count }, (_, nth) => [`name ${nth}`, nth])),
  });
  const expired = (id, at, names) => ({
    ...create(keyOf(id, id), { session: set(names), user: set(names) }),
    id,
    expires: { at },
  });
  await store.commitMany(
    [10, 1_500, 10, 700, 3_000, 10].map((names, index) => expired(`s${index}`, 1_000 + index, names)),
  );
  assertEqual(await store.sweep({ limit: 2 }), { sessions: 2, users: 0, more: true }, 'two');
  assertEqual(marked, [2], 'the batch of two');
  marked = [];
  assertEqual(
    await store.sweep({ limit: 99, userTtl: -60_000 }),
    { sessions: 4, users: 6, more: false },
    'all that is left',
  );
  assertEqual(marked, [3, 1, 2, 3, 1], 'the batches of sessions and of users');
  assertEqual(await store.sweep({ limit: 99, userTtl: -60_000 }), { sessions: 0, users: 0, more: false }, 'nothing');
}

/** A session that expires while the batch of a creation goes on is still in its way, for this attempt and others. */
export async function expiringMeanwhile({ database }) {
  let isMeanwhile = false;
  const store = storeOver(database, async (statements, send) => {
    if (!isMeanwhile) {
      return send(statements);
    }
    const expire = { sql: 'UPDATE statepad_sessions SET expires = 1 WHERE expires IS NOT NULL', values: [] };
    const [first, , ...others] = await send([statements[0], expire, ...statements.slice(1)]);
    return [first, ...others];
  });
  await store.open({ migrate: 'create' });
  for (const [commit, attempt] of [
    [(change) => store.commit(change), undefined],
    [(change) => store.commit(change), 2],
    [async (change) => (await store.commitMany([change, append('e', {}, { key: keyOf('none') })]))[0], undefined],
  ]) {
    isMeanwhile = false;
    await store.remove(KEY);
    const id = `c${Math.random()}`;
    await store.commit({ ...create(), id, expires: { at: 9_000_000_000_000 } });
    isMeanwhile = true;
    const change = { ...create(), id: `${id} again`, attempt };
    const { code } = await commit(change).catch((error) => error);
    assertEqual(code, 'exists', `the outcome of attempt ${attempt}`);
    isMeanwhile = false;
    const earlier = await store.commit({ ...change, attempt: undefined }).catch((error) => error);
    assertEqual(earlier.code, attempt === undefined ? undefined : 'conflict', 'an earlier attempt, or another one');
  }
}

/** The errors that the store throws for the messages of D1. */
export async function errors({ messages }) {
  const answers = [];
  for (const message of messages) {
    const store = storeOver(undefined, () => Promise.reject(new Error(message)));
    const error = await thrown(() => store.commit(create()));
    assert(error.message.includes(message), `the message is ${error.message}`);
    answers.push(error.code ?? 'unknown');
  }
  return answers;
}

/** Several open the same empty database at once. */
export async function openAtOnce({ database }) {
  const open = () => plain(d1Store(another(database))).open({ migrate: 'create' });
  await Promise.all(Array.from({ length: 8 }, open));
  const store = plain(d1Store(database));
  await store.open({ migrate: 'check' });
  await store.commit(create());
}

export async function openWhatDoesNotSuit({ database }) {
  const open = (migrate) => plain(d1Store(another(database))).open({ migrate });
  await assertCode(() => open('check'), 'rejected');
  assertEqual(await dump(database), [], 'what a look has made');
  await database.prepare('CREATE TABLE statepad_meta (name TEXT)').run();
  await assertCode(() => open('create'), 'rejected');
  await database.prepare('DROP TABLE statepad_meta').run();
  await open('create');
  await database.prepare(`UPDATE statepad_meta SET value = '99' WHERE name = 'version'`).run();
  for (const migrate of ['create', 'upgrade', 'check']) {
    await assertCode(() => open(migrate), 'rejected');
  }
  await database.prepare(`UPDATE statepad_meta SET value = '1' WHERE name = 'version'`).run();
  await assertOtherLayout(open, (sql) => database.prepare(sql).run());
  await database.prepare(`INSERT INTO statepad_meta VALUES ('layout', '${LAYOUT}')`).run();
  await open('check');
}

/** An upgrade that must not be made twice is made once, whoever else upgrades at the same time. */
export async function upgradeAtOnce({ database }) {
  const store = plain(d1Store(database));
  await store.open({ migrate: 'create' });
  await store.commit(create(KEY, { app: { set: { count: 1 } } }));
  const schema = {
    version: 3,
    layout: 'later',
    tables: TABLES,
    upgrades: {
      1: ['UPDATE statepad_values SET value = value + 1'],
      2: ['UPDATE statepad_values SET value = value * 10'],
    },
    names: {},
  };
  await assertCode(() => openTables(database, 'create', schema), 'rejected');
  await Promise.all(Array.from({ length: 5 }, () => openTables(database, 'upgrade', schema)));
  const [values] = await database.batch([database.prepare('SELECT value FROM statepad_values')]);
  assertEqual(values.results, [{ value: '20' }], 'the value');
  await openTables(database, 'check', schema);
}

/** The plans of every statement that an operation sends. */
export async function plans({ database }) {
  let seen = [];
  const store = storeOver(database, (statements, send) => {
    seen.push(...statements);
    return send(statements);
  });
  await store.open({ migrate: 'create' });
  const keys = Array.from({ length: 50 }, (_, index) => keyOf(`s${index}`, `u${index}`));
  await store.commitMany(keys.map((key) => create(key, { user: { set: { a: 1 } } })));
  await store.commit(create(KEY));
  await store.commitMany([append('e0')]);
  const after = { time: 1_000, sessionId: 's1', userId: 'u1' };
  const [creation, event, change] = everyKind();
  const page = { app: 'app', limit: 20 };
  const known = {
    created: KEY.sessionId,
    rev: 1,
    last: 'e0',
    pos: { app: 1, user: 1 },
    marks: { app: 'a', user: 'u' },
  };
  const operations = {
    'append by one who was there': () => store.commit({ ...append('e1'), known }),
    'append that is refused': () =>
      assertCode(() => store.commit(append('e2', {}, { attempt: 2, guard: { rev: 9 } })), 'conflict'),
    'load by one who was there': () => store.load(KEY, { known }),
    'load, last 20': () => store.load(KEY, { events: { last: 20 } }),
    'load, since, last 20': () => store.load(KEY, { events: { since: 1_000, last: 20 } }),
    'list of an app': () => store.list({ ...page, descending: false }),
    'list of an app, descending': () => store.list({ ...page, descending: true }),
    'list of an app, behind a place': () => store.list({ ...page, descending: false, after }),
    'list of an app, descending, behind a place': () => store.list({ ...page, descending: true, after }),
    'list of a user': () => store.list({ ...page, user: 'user', descending: false }),
    'list of a user, descending, behind a place': () => store.list({ ...page, user: 'user', descending: true, after }),
    create: () => store.commit({ ...creation, key: keyOf('new'), guard: { keys: { app: { unset: ['x'] } } } }),
    append: () => store.commit(event),
    update: () => store.commit(change),
    scope: () => store.loadScope({ app: 'app', user: 'user' }),
    log: () => store.readLog({ app: 'app', user: 'user' }, {}),
    'log of a name': () => store.readLog({ app: 'app', user: 'user' }, { name: 'a', limit: 2 }),
    'trim log': () => store.trimLog({ app: 'app', user: 'user' }, 1),
    lease: () => store.lease(KEY, { holder: 'one', ttl: 1 }),
    renew: () => store.lease(KEY, { holder: 'one', ttl: 0, fence: 1 }),
    'many changes': () =>
      store.commitMany(
        keys
          .slice(0, 3)
          .map((key, at) => append('many', { app: { set: { a: at } }, user: { unset: ['b'] } }, { key })),
      ),
    'remove scope': () => store.removeScope({ app: 'app', user: 'user' }),
    remove: () => store.remove(KEY),
  };
  const found = {};
  for (const [name, operate] of Object.entries(operations)) {
    seen = [];
    await operate();
    const queries = seen.map(({ sql, values }) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values));
    const explained = await database.batch(queries);
    found[name] = explained.map(({ results }) => results.map(({ detail }) => detail));
  }
  return found;
}
