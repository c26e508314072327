// The kit of the pages and workers of the IndexedDB tests, as `kit`.

/* global IDBDatabase, indexedDB */

import { indexedDBStore } from 'statepad/stores/indexeddb';
import { runStoreCase, storeCases } from 'statepad/testing';
import { Connection } from '../../../pkg/src/stores/indexeddb/connection.ts';
import { TABLES } from '../../../pkg/src/stores/indexeddb/schema.ts';
import * as changes from '../../support/changes.js';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { logLaws } from '../support/log-laws.js';
import { compareStores } from '../support/random.js';

const { keyOf } = changes;
const context = { signal: new AbortController().signal };
let databases = 0;

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Fresh storage for one store case. */
function openHarness() {
  const name = `case ${++databases}`;
  const make = () => indexedDBStore(name);
  return { store: make(), reopen: make, another: make, dispose: () => settled(indexedDB.deleteDatabase(name)) };
}

/** Runs one store case. Answers what is wrong, or nothing. */
async function runCase(name) {
  const storeCase = storeCases.find((each) => each.name === name);
  try {
    await runStoreCase(storeCase, openHarness);
    return undefined;
  } catch (error) {
    return error.message;
  }
}

/** Opens a store. */
async function open(name, options, migrate = 'create') {
  const store = indexedDBStore(name, options);
  await store.open({ migrate }, context);
  return store;
}

/** A version that there is only here, with one more object store and one more index. */
const later = {
  version: 2,
  layout: 'later',
  tables: {
    ...TABLES,
    sessions: { ...TABLES.sessions, indexes: { ...TABLES.sessions.indexes, created: ['created'] } },
    colours: { key: 'name' },
  },
};

/** Opens a database as a later version does. */
async function openLater(name, migrate, factory) {
  const connection = new Connection(name, factory, later);
  await connection.open(migrate);
  return connection;
}

/** The content of a database: IndexedDB's own number of its version, and all rows by their object stores. */
async function dump(name) {
  const database = await settled(indexedDB.open(name));
  const rows = {};
  for (const table of database.objectStoreNames) {
    rows[table] = await settled(database.transaction(table).objectStore(table).getAll());
  }
  database.close();
  return { number: database.version, rows };
}

/** The outcome of a promise: `{ value }`, or the members of its error. */
async function outcome(promise) {
  try {
    return { value: await promise };
  } catch (error) {
    return told(error);
  }
}

function told({ name, code, message, cause }) {
  return { name, code, message, cause: cause?.name };
}

function create(sessionId, delta = {}, time = 1_000, more = {}) {
  return changes.create(`create ${sessionId}`, keyOf(sessionId), delta, { time, ...more });
}

/** Sessions that have ended at small times, each later than the one before. */
function createEnded(count, prefix = 'x', delta = {}) {
  return Array.from({ length: count }, (_, index) =>
    create(`${prefix}${String(index).padStart(3, '0')}`, delta, 1_000 + index, { expires: { at: 1_000 + index } }),
  );
}

/** Counts the transactions that write while something runs. */
async function writesDuring(run) {
  const begin = IDBDatabase.prototype.transaction;
  let writes = 0;
  IDBDatabase.prototype.transaction = function (names, mode, ...rest) {
    writes += mode === 'readwrite' ? 1 : 0;
    return begin.call(this, names, mode, ...rest);
  };
  try {
    const answer = await run();
    return { answer, writes };
  } finally {
    IDBDatabase.prototype.transaction = begin;
  }
}

function append(sessionId, id, delta = {}, more = {}) {
  return changes.append(id, keyOf(sessionId), delta, more);
}

/** Appends until somebody ends the page: each event also sets its name in the session, and counts it for the app. */
async function appendForever(store, sessionId, tab) {
  for (let count = 0; ; count++) {
    const id = `${tab} ${count}`;
    const delta = { session: { set: { [id]: count } }, app: { set: { [id]: count } } };
    await store.commit(append(sessionId, id, delta, { data: id.padEnd(20_000) }), context);
    globalThis.acknowledged?.(id);
  }
}

/** Compares a store with the reference: see `compareStores`. */
async function compare(seed, length) {
  const store = await open(`random ${seed}`, { durability: 'relaxed' });
  const found = await compareStores(store, { seed, length });
  await store.close();
  return found;
}

/** Holds the store to a law of the log. */
async function checkLog(title) {
  const logged = await open(title);
  const unlogged = await open(title, { log: false });
  const database = await settled(indexedDB.open(title));
  const log = () => database.transaction('log', 'readwrite').objectStore('log');
  const spoil = async (position) => {
    const entry = (await settled(log().getAll())).find(({ pos }) => pos === position);
    await settled(log().put({ ...entry, writes: [{ name: 'n', to: '{' }] }));
  };
  try {
    await logLaws[title]({ logged, unlogged, spoil, stored: () => settled(log().count()) });
  } finally {
    database.close();
    await logged.close();
    await unlogged.close();
  }
}

/** Spoils a value of sessions, or of their users, and follows the list. */
async function corruptPages(part) {
  const name = `corrupt pages, ${part}`;
  const damage = async (keys) => {
    const database = await settled(indexedDB.open(name));
    const values = database.transaction('values', 'readwrite').objectStore('values');
    const spoilt = new Set(keys.map((key) => JSON.stringify(part === 'session' ? key.sessionId : key.userId)));
    for (const row of await settled(values.getAll())) {
      if (spoilt.has(row.text)) await settled(values.put({ ...row, text: '{' }));
    }
    database.close();
  };
  await checkCorruptPages({ part, open: () => indexedDBStore(name, { durability: 'relaxed' }), damage });
}

globalThis.kit = {
  append,
  appendForever,
  checkLog,
  compare,
  context,
  corruptPages,
  create,
  createEnded,
  dump,
  indexedDBStore,
  keyOf,
  open,
  openLater,
  outcome,
  runCase,
  settled,
  update: changes.update,
  writesDuring,
};
