// Tests of D1 alone, as it runs in workerd. Each function is a test; the error that it throws says what is wrong.

import { SessionService } from 'statepad';
import { d1Store } from 'statepad/stores/cloudflare';
import { memoryStore } from 'statepad/stores/memory';
import { openTables } from '../../../pkg/src/stores/cloudflare/d1/open.ts';
import { LAYOUT, TABLES } from '../../../pkg/src/stores/sqlite-core/schema.ts';
import {
  append,
  assert,
  assertCode,
  assertEqual,
  assertOtherLayout,
  bigOnes,
  corruptOnes,
  create,
  exactOnes,
  followCorrupt,
  KEY,
  keyOf,
  newerOnes,
  randomOnes,
  readMany,
  serve,
  thrown,
  toldOnes,
  update,
  writeMany,
  wrongOnes,
} from './data.js';

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

/** One change of each kind, with something in every part. */
function everyKind() {
  const delta = { app: { set: { a: 1 }, unset: ['b'] }, user: { set: { a: 1 }, unset: ['b'] } };
  const session = { set: { c: 1 }, unset: ['d'] };
  const guard = { fence: 0, pos: { app: 0 }, keys: { user: { unset: ['x'] } } };
  return [create(KEY, { ...delta, session }, { guard }), append('e1', { ...delta, session }), update('u1', delta)];
}

export const randomly = ({ database, context, seed, length }) =>
  randomOnes(d1Store(database), context, { seed, length });
export const service = ({ database }) => serve(() => new SessionService({ store: d1Store(database) }));
export const exact = ({ database, context }) => exactOnes(d1Store(database), context);
export const big = ({ database, context }) => bigOnes(d1Store(database), context);
export const corrupt = ({ database, context }) =>
  corruptOnes(d1Store(database), context, (sql) => database.prepare(sql).run());
export const follow = ({ database, part }) =>
  followCorrupt(
    () => d1Store(database),
    part,
    (sql) => database.prepare(sql).run(),
  );
export const newer = ({ database, context }) =>
  newerOnes(
    d1Store(database),
    context,
    (sql) => database.prepare(sql).run(),
    () => dump(database),
  );
export const told = ({ database, context }) => toldOnes(d1Store(database), memoryStore(), context);
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
export const write = ({ database, context, ...details }) => writeMany(d1Store(database), context, details);
export const read = ({ database, context }) => readMany(d1Store(database), context);

export async function begin({ database, context }) {
  const store = d1Store(database);
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(), context);
}

/** Each operation is one round trip; no statement is longer, or takes more parameters, than D1 allows. */
export async function roundTrips({ database, context }) {
  const trips = [];
  const binding = wrapped(database, (statements, send) => {
    trips.push(statements);
    return send(statements);
  });
  const store = d1Store(binding);
  const counts = async (action) => {
    trips.length = 0;
    await action();
    return trips.map(({ length }) => length);
  };
  await store.open({ migrate: 'create' }, context);
  // A binding is looked at once, whatever is made of it.
  assertEqual(
    await counts(() => d1Store(binding).open({ migrate: 'create' }, context)),
    [],
    'open for the second time',
  );
  assertEqual(await counts(() => d1Store(another(binding)).open({ migrate: 'check' }, context)), [2], 'open');
  const [creation, event, change] = everyKind();
  assertEqual((await counts(() => store.commit(creation, context))).length, 1, 'a creation');
  assertEqual(await counts(() => store.commit(append('plain'), context)), [3], 'an append');
  assertEqual((await counts(() => store.commit(event, context))).length, 1, 'an append with deltas');
  assertEqual((await counts(() => store.commit(change, context))).length, 1, 'an update');
  const keys = Array.from({ length: 500 }, (_, index) => keyOf(`s${index}`, `u${index % 7}`));
  const creations = keys.map((key) => create(key, { user: { set: { [key.sessionId]: 1 } } }));
  const created = await counts(() => store.commitMany(creations, context));
  assertEqual(created.length, 1, 'many creations');
  assert(created[0] < 10, `many creations take ${created[0]} statements`);
  const set = Object.fromEntries(keys.map((_, index) => [`name ${index}`, 'value'.repeat(100)]));
  const appends = keys.map((key, index) => append('e', index < 10 ? { session: { set } } : {}, { key }));
  const appended = await counts(() => store.commitMany(appends, context));
  assertEqual(appended.length, 1, 'many appends');
  assert(appended[0] < 10, `many appends take ${appended[0]} statements`);
  assertEqual(Object.keys((await store.load(keys[9], {}, context)).state.session).length, 500, 'the names');
  // Each looks at what the one before it has written.
  const chain = keys.slice(0, 50).map((key, index) => {
    const guard = index === 0 ? {} : { keys: { app: { set: { last: index - 1 } } } };
    return append('f', { app: { set: { last: index } } }, { key, guard });
  });
  const outcomes = await store.commitMany(chain, context);
  assertEqual(
    outcomes.map(({ code, rev }) => code ?? rev),
    chain.map(() => 2),
    'the outcomes of a chain',
  );
  assertEqual((await counts(() => store.load(KEY, { events: { since: 1, last: 3 } }, context))).length, 1, 'a load');
  assertEqual(
    (await counts(() => store.list({ app: 'app', descending: true, limit: 20 }, context))).length,
    1,
    'a list',
  );
  assertEqual((await counts(() => store.loadScope({ app: 'app' }, context))).length, 1, 'a scope');
  assertEqual((await counts(() => store.readLog({ app: 'app' }, { name: 'a' }, context))).length, 1, 'a log');
  assertEqual((await counts(() => store.trimLog({ app: 'app' }, 3, context))).length, 1, 'trimming a log');
  assertEqual((await counts(() => store.lease(KEY, { holder: 'one', ttl: 9 }, context))).length, 1, 'a lease');
  assertEqual((await counts(() => store.removeScope({ app: 'app' }, context))).length, 1, 'removing a scope');
  assertEqual((await counts(() => store.remove(KEY, context))).length, 1, 'removing a session');
  return { created: created[0], appended: appended[0] };
}

/** A batch that fails at any of its statements leaves everything as it was. */
export async function failsInTheMiddle({ database, context }) {
  const store = d1Store(database);
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(keyOf('other'), { user: { set: { b: 1 } }, app: {} }), context);
  let tried = 0;
  for (const change of everyKind()) {
    const before = await dump(database);
    for (let place = 0, length = 1; place <= length; place++) {
      const failing = d1Store(
        wrapped(database, (statements, send) => {
          length = statements.length;
          return send([
            ...statements.slice(0, place),
            { sql: 'SELECT x FROM nowhere', values: [] },
            ...statements.slice(place),
          ]);
        }),
      );
      const error = await thrown(() => failing.commit(change, context));
      assert(
        error.code === undefined && /no such table/.test(error.message),
        `it throws ${error.code} ${error.message}`,
      );
      assertEqual(await dump(database), before, `what is there after a failure at statement ${place}`);
      tried += 1;
    }
    await store.commit(change, context);
  }
  return tried;
}

/** A statement that is lost on the way there, or whose answer is lost, is sent again and stored once. */
export async function lostAndSentAgain({ database, context }) {
  let isLost = () => false;
  const store = d1Store(
    wrapped(database, async (statements, send) => {
      const lost = isLost();
      if (lost === 'before') {
        throw new Error('D1_ERROR: Network connection lost.');
      }
      const answers = await send(statements);
      if (lost === 'after') {
        throw new Error('D1_ERROR: Network connection lost.');
      }
      return answers;
    }),
  );
  await store.open({ migrate: 'create' }, context);
  for (const change of everyKind()) {
    for (const where of ['before', 'after']) {
      isLost = () => where;
      const error = await thrown(() => store.commit(change, context));
      assert(error.code === undefined, `it throws ${error.code}`);
      isLost = () => false;
      const { duplicate, data } = await store.commit({ ...change, guard: undefined }, context);
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
  const { rev, events } = await store.load(KEY, {}, context);
  assertEqual([rev, events.length], [2, 2], 'the events');
  assertEqual((await store.loadScope({ app: 'app' }, context)).pos, 6, 'the position of the app');
}

/** The errors that the store throws for the messages of D1. */
export async function errors({ context, messages }) {
  const answers = [];
  for (const message of messages) {
    const store = d1Store(
      wrapped(undefined, async () => {
        throw new Error(message);
      }),
    );
    const error = await thrown(() => store.commit(create(), context));
    assert(error.message.includes(message), `the message is ${error.message}`);
    answers.push(error.code ?? 'unknown');
  }
  return answers;
}

/** Several open the same empty database at once. */
export async function openAtOnce({ database, context }) {
  await Promise.all(Array.from({ length: 8 }, () => d1Store(another(database)).open({ migrate: 'create' }, context)));
  const store = d1Store(database);
  await store.open({ migrate: 'check' }, context);
  await store.commit(create(), context);
}

export async function openWhatDoesNotSuit({ database, context }) {
  const open = (migrate) => d1Store(another(database)).open({ migrate }, context);
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
export async function upgradeAtOnce({ database, context }) {
  const store = d1Store(database);
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(KEY, { app: { set: { count: 1 } } }), context);
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
export async function plans({ database, context }) {
  let seen = [];
  const store = d1Store(
    wrapped(database, (statements, send) => {
      seen.push(...statements);
      return send(statements);
    }),
  );
  await store.open({ migrate: 'create' }, context);
  const keys = Array.from({ length: 50 }, (_, index) => keyOf(`s${index}`, `u${index}`));
  await store.commitMany(
    keys.map((key) => create(key, { user: { set: { a: 1 } } })),
    context,
  );
  await store.commit(create(KEY), context);
  await store.commitMany([append('e0')], context);
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
    'append by one who was there': () => store.commit({ ...append('e1'), known }, context),
    'append that is refused': () =>
      assertCode(() => store.commit(append('e2', {}, { attempt: 2, guard: { rev: 9 } }), context), 'conflict'),
    'load by one who was there': () => store.load(KEY, { known }, context),
    'load, last 20': () => store.load(KEY, { events: { last: 20 } }, context),
    'load, since, last 20': () => store.load(KEY, { events: { since: 1_000, last: 20 } }, context),
    'list of an app': () => store.list({ ...page, descending: false }, context),
    'list of an app, descending': () => store.list({ ...page, descending: true }, context),
    'list of an app, behind a place': () => store.list({ ...page, descending: false, after }, context),
    'list of an app, descending, behind a place': () => store.list({ ...page, descending: true, after }, context),
    'list of a user': () => store.list({ ...page, user: 'user', descending: false }, context),
    'list of a user, descending, behind a place': () =>
      store.list({ ...page, user: 'user', descending: true, after }, context),
    create: () =>
      store.commit({ ...creation, key: keyOf('new'), guard: { keys: { app: { unset: ['x'] } } } }, context),
    append: () => store.commit(event, context),
    update: () => store.commit(change, context),
    scope: () => store.loadScope({ app: 'app', user: 'user' }, context),
    log: () => store.readLog({ app: 'app', user: 'user' }, {}, context),
    'log of a name': () => store.readLog({ app: 'app', user: 'user' }, { name: 'a', limit: 2 }, context),
    'trim log': () => store.trimLog({ app: 'app', user: 'user' }, 1, context),
    lease: () => store.lease(KEY, { holder: 'one', ttl: 1 }, context),
    renew: () => store.lease(KEY, { holder: 'one', ttl: 0, fence: 1 }, context),
    'many changes': () =>
      store.commitMany(
        keys
          .slice(0, 3)
          .map((key, at) => append('many', { app: { set: { a: at } }, user: { unset: ['b'] } }, { key })),
        context,
      ),
    'remove scope': () => store.removeScope({ app: 'app', user: 'user' }, context),
    remove: () => store.remove(KEY, context),
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
