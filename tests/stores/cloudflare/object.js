// Tests of Durable Objects alone. Each function is a test inside an object.

import { SessionService } from 'statepad';
import { durableObjectStore } from 'statepad/stores/cloudflare';
import { memoryStore } from 'statepad/stores/memory';
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

export const randomly = ({ storage, context, seed, length }) =>
  randomOnes(durableObjectStore(storage), context, { seed, length });
export const service = ({ storage }) => serve(() => new SessionService({ store: durableObjectStore(storage) }));
export const exact = ({ storage, context }) => exactOnes(durableObjectStore(storage), context);
export async function big({ storage, context }) {
  const store = durableObjectStore(storage);
  await bigOnes(store, context);
  // The result of an operator may be too big although the change is not.
  const operators = { session: { list: { append: ['a'.repeat(1_200_000)] } } };
  await store.commit({ ...append('append 1'), operators }, context);
  const before = dumpOf(storage);
  await assertCode(() => store.commit({ ...append('append 2'), operators }, context), 'rejected');
  const outcomes = await store.commitMany([{ ...append('append 2'), operators }], context).catch((error) => [error]);
  assertEqual(outcomes[0].code, 'rejected', 'the outcome');
  assertEqual(dumpOf(storage), before, 'what is there');
}
export const corrupt = ({ storage, context }) =>
  corruptOnes(durableObjectStore(storage), context, (sql) => storage.sql.exec(sql).toArray());
export const follow = ({ storage, part }) =>
  followCorrupt(
    () => durableObjectStore(storage),
    part,
    (sql) => storage.sql.exec(sql).toArray(),
  );
const dumpOf = (
  storage,
  tables = ['scopes', 'sessions', 'values', 'events', 'updates', 'changes', 'calls', 'creations', 'log'],
) => tables.map((name) => storage.sql.exec(`SELECT * FROM statepad_${name}`).toArray());
export const newer = ({ storage, context }) =>
  newerOnes(
    durableObjectStore(storage),
    context,
    (sql) => storage.sql.exec(sql).toArray(),
    () => dumpOf(storage),
  );
export const told = ({ storage, context }) => toldOnes(durableObjectStore(storage), memoryStore(), context);
export async function wrong({ storage }) {
  await wrongOnes(durableObjectStore, 'transactionSync');
  const error = await assertCode(async () => durableObjectStore(storage, { log: 1 }), 'INVALID_ARGUMENT');
  assertEqual(error.path, 'log', 'the path');
}

export async function layout({ storage, context }) {
  const open = (migrate) => durableObjectStore(storage).open({ migrate }, context);
  await open('create');
  await assertOtherLayout(open, (sql) => storage.sql.exec(sql).toArray());
}

export const write = ({ storage, context, ...details }) => writeMany(durableObjectStore(storage), context, details);
export const read = ({ storage, context }) => readMany(durableObjectStore(storage), context);

export async function begin({ storage, context }) {
  const store = durableObjectStore(storage);
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(), context);
}

/** Two stores in one object write at once. */
export async function writeTwice({ storage, context }) {
  await begin({ storage, context });
  await Promise.all(
    ['one', 'two'].map((name) => writeMany(durableObjectStore(storage), context, { name, count: 200 })),
  );
  return readMany(durableObjectStore(storage), context);
}

/** A change that fails at any of its statements leaves everything as it was. */
export async function failsInTheMiddle({ storage, context }) {
  let left = Infinity;
  const failing = {
    sql: {
      exec: (...all) => {
        if (left-- === 0) {
          return storage.sql.exec('SELECT x FROM nowhere');
        }
        return storage.sql.exec(...all);
      },
    },
    transactionSync: (write) => storage.transactionSync(write),
  };
  const dump = () => dumpOf(storage);
  const store = durableObjectStore(failing);
  await store.open({ migrate: 'create' }, context);
  const delta = { app: { set: { a: 1 } }, user: { set: { a: 1 } } };
  const session = { set: { c: 1 } };
  let tried = 0;
  for (const change of [
    create(KEY, { ...delta, session }),
    append('e1', { ...delta, session }),
    update('u1', delta),
  ]) {
    const before = dump();
    for (let place = 0, isDone = false; !isDone; place++) {
      left = place;
      try {
        await store.commit(change, context);
        isDone = true;
      } catch (error) {
        assert(
          error.code === undefined && /no such table/.test(error.message),
          `it throws ${error.code} ${error.message}`,
        );
        left = Infinity;
        assertEqual(dump(), before, `what is there after a failure at statement ${place}`);
        tried += 1;
      }
    }
  }
  left = Infinity;
  assertEqual((await store.load(KEY, {}, context)).rev, 1, 'the revision');
  return tried;
}

/** The number of statements that the only service of an object runs to read a session again. */
export async function readAgain({ storage }) {
  let count = 0;
  const counting = {
    sql: { exec: (...all) => (count++, storage.sql.exec(...all)) },
    transactionSync: (write) => storage.transactionSync(write),
  };
  const counts = [];
  for (const exclusive of [false, true]) {
    const service = new SessionService({ store: durableObjectStore(counting, { exclusive }) });
    const key = { appName: 'app', userId: 'user', sessionId: `${exclusive}` };
    await service.createSession(key);
    count = 0;
    await service.getSession(key);
    counts.push(count);
  }
  return counts;
}

/** The refusal of an object without SQLite. */
export async function notDeclared({ storage, context }) {
  const store = durableObjectStore(storage);
  const error = await assertCode(() => store.open({ migrate: 'create' }, context), 'rejected');
  const without = await thrown(async () => durableObjectStore({ transactionSync: storage.transactionSync }));
  assertEqual(without.code, 'rejected', 'the code without sql');
  return [error.message, without.message];
}
