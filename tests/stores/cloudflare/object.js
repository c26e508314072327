// Tests of Durable Objects alone. Each function is a test inside an object.

import { SessionService } from 'statepad';
import { durableObjectStore } from 'statepad/stores/cloudflare';
import { plain } from '../support/plain.js';
import { assertOtherLayout, commonTests, wrongOnes } from './common.js';
import { append, assertCode, assertEqual, thrown } from './words.js';

const dumpOf = (
  storage,
  tables = ['scopes', 'sessions', 'values', 'events', 'updates', 'changes', 'calls', 'creations', 'claims', 'log'],
) => tables.map((name) => storage.sql.exec(`SELECT * FROM statepad_${name}`).toArray());
/** The storage, which calls `before` ahead of each statement. */
const watched = (storage, before) => ({
  sql: { exec: (...all) => (before(), storage.sql.exec(...all)) },
  transactionSync: (write) => storage.transactionSync(write),
});

const tests = commonTests(({ storage }) => ({
  make: (options) => durableObjectStore(storage, options),
  run: (sql) => storage.sql.exec(sql).toArray(),
  dump: () => dumpOf(storage),
  failingAt: (place) => {
    let left = place;
    return durableObjectStore(watched(storage, () => left-- === 0 && storage.sql.exec('SELECT x FROM nowhere')));
  },
}));

export const common = { ...tests, big };

async function big(request) {
  await tests.big(request);
  const { storage } = request;
  const store = plain(durableObjectStore(storage));
  // The result of an operator may be too big although the change is not.
  const operators = { session: { list: { append: ['a'.repeat(1_200_000)] } } };
  await store.commit({ ...append('append 1'), operators });
  const before = dumpOf(storage);
  await assertCode(() => store.commit({ ...append('append 2'), operators }), 'rejected');
  const outcomes = await store.commitMany([{ ...append('append 2'), operators }]).catch((error) => [error]);
  assertEqual(outcomes[0].code, 'rejected', 'the outcome');
  assertEqual(dumpOf(storage), before, 'what is there');
}

export async function wrong({ storage }) {
  await wrongOnes(durableObjectStore, 'transactionSync');
  const error = await assertCode(async () => durableObjectStore(storage, { log: 1 }), 'INVALID_ARGUMENT');
  assertEqual(error.path, 'log', 'the path');
}

export async function layout({ storage }) {
  const open = (migrate) => plain(durableObjectStore(storage)).open({ migrate });
  await open('create');
  await assertOtherLayout(open, (sql) => storage.sql.exec(sql).toArray());
}

/** Two stores in one object write at once. */
export async function writeTwice({ storage }) {
  await tests.begin({ storage });
  await Promise.all(['one', 'two'].map((name) => tests.write({ storage, name, count: 200 })));
  return await tests.read({ storage });
}

/** The number of statements that the only service of an object runs to read a session again. */
export async function readAgain({ storage }) {
  let count = 0;
  const counting = watched(storage, () => count++);
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
export async function notDeclared({ storage }) {
  const store = plain(durableObjectStore(storage));
  const error = await assertCode(() => store.open({ migrate: 'create' }), 'rejected');
  const without = await thrown(async () => durableObjectStore({ transactionSync: storage.transactionSync }));
  assertEqual(without.code, 'rejected', 'the code without sql');
  return [error.message, without.message];
}
