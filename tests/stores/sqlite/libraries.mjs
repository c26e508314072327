// The libraries that the SQLite store runs over, and files to try them on.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'statepad/stores/sqlite';
import * as changes from '../../support/changes.js';
import { plain } from '../support/plain.js';

export { plain } from '../support/plain.js';

/** The folder of other versions of the libraries, when these are to be tried. */
const modules = process.env.STATEPAD_TEST_SQLITE_MODULES;
const require = createRequire(modules ? join(modules, 'package.json') : import.meta.url);

/** The way in which each library opens a file; `:memory:` is one, too. */
const all = {
  'better-sqlite3': (path, options = {}) => new (require('better-sqlite3'))(path, options),
  libsql: (path, options = {}) => new (require('libsql'))(path, options),
  'node-sqlite3-wasm': (path, options = {}) => new (require('node-sqlite3-wasm').Database)(path, options),
  'node:sqlite': (path, options = {}) => new (require('node:sqlite').DatabaseSync)(path, options),
};

/** The only library to try, when there is one: a newer Node runs the tests for `node:sqlite` alone. */
export const only = process.env.STATEPAD_TEST_SQLITE;

/** The libraries to try here. */
export const libraries = Object.fromEntries(
  Object.entries(all).filter(([name]) =>
    only === undefined ? name !== 'node:sqlite' || isBuiltin(name) : name === only,
  ),
);

/**
 * Only node-sqlite3-wasm cannot have a write-ahead log: with it, readers wait for writers, and a killed process keeps
 * its lock.
 */
export const hasLog = (name) => name !== 'node-sqlite3-wasm';

/**
 * A new file that goes away with everything that was opened on it. In memory where there is a place for that: much
 * faster.
 */
export function newFile(name) {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'statepad-sqlite-'));
  const path = join(folder, 'sessions.db');
  const connections = [];
  const file = {
    path,
    connect: (options) => {
      connections.push(libraries[name](path, options));
      return connections.at(-1);
    },
    store: (options) => sqliteStore(file.connect(), options),
    disconnect: () => connections.splice(0).forEach((database) => database.close()),
    [Symbol.dispose]: () => {
      file.disconnect();
      rmSync(folder, { recursive: true });
    },
  };
  return file;
}

/** Calls a function with a new file. */
export async function withFile(name, use) {
  const file = newFile(name);
  try {
    return await use(file);
  } finally {
    file[Symbol.dispose]();
  }
}

/** All rows that a statement answers, as plain objects. */
export function rows(database, sql, values = []) {
  const statement = database.prepare(sql);
  try {
    const found = 'setReadBigInts' in statement ? statement.all(...values) : statement.all(values);
    return found.map((row) => ({ ...row }));
  } finally {
    statement.finalize?.();
  }
}

/** Everything that lies in a database, or in its tables whose name suits. */
export function dump(database, suits = () => true) {
  const made = rows(database, 'SELECT type, name, sql FROM sqlite_master ORDER BY name').filter(({ name }) =>
    suits(name),
  );
  const contents = made
    .filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'))
    .map(({ name }) => [name, rows(database, `SELECT * FROM ${name}`)]);
  return { made, contents };
}

/** A name as the store has put it into a column. */
const nameIn = (column) => column.replaceAll('\x01\x01', '\0').replaceAll('\x01\x02', '\x01');

/** The scopes and sessions whose sizes are not those of their values. */
export function miscounted(database) {
  const sizes = new Map();
  for (const { owner, name, value, size } of rows(database, 'SELECT owner, name, value, size FROM statepad_values')) {
    const { keys, bytes } = sizes.get(owner) ?? { keys: 0, bytes: 0 };
    const length = Buffer.byteLength(value);
    const extra = Buffer.byteLength(nameIn(name)) + (size === length ? length : NaN);
    sizes.set(owner, { keys: keys + 1, bytes: bytes + extra });
  }
  return ['scopes', 'sessions']
    .flatMap((table) => rows(database, `SELECT n, keys, bytes FROM statepad_${table}`))
    .map((row) => ({ ...row, counted: sizes.get(row.n) ?? { keys: 0, bytes: 0 } }))
    .filter(({ keys, bytes, counted }) => keys !== counted.keys || bytes !== counted.bytes);
}

/** The statements that make the tables as the store makes them, and fill `statepad_meta`. */
export function madeBy(name) {
  return withFile(name, async (file) => {
    const database = file.connect();
    await plain(sqliteStore(database)).open({ migrate: 'create' });
    const tables = rows(database, 'SELECT sql FROM sqlite_master WHERE sql IS NOT NULL').map(({ sql }) => sql);
    const meta = rows(database, 'SELECT name, value FROM statepad_meta');
    const inserts = meta.map(
      (row) => `INSERT INTO statepad_meta (name, value) VALUES ('${row.name}', '${row.value}')`,
    );
    return [...tables, ...inserts].join('; ');
  });
}

/**
 * A connection that tells of everything it runs: `before` and `after` are called with each text, and what they throw
 * is thrown.
 */
export function observed(database, { before = () => {}, after = () => {}, prepared = () => {} }) {
  const around = (sql, run) => {
    before(sql);
    const result = run();
    after(sql);
    return result;
  };
  return {
    exec: (sql) => around(sql, () => database.exec(sql)),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      prepared(sql, statement);
      return new Proxy(statement, {
        get(target, member) {
          const value = target[member];
          if (typeof value !== 'function') {
            return value;
          }
          return ['run', 'all'].includes(member)
            ? (...values) => around(sql, () => target[member](...values))
            : value.bind(target);
        },
      });
    },
  };
}

/** The fault of a promise in one text: the code of a store error, or the message of any other. */
export async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error.name === 'StoreError' ? error.code : error.message;
  }
  return 'nothing is thrown';
}

export const key = (sessionId = 's', userId = 'u', appName = 'a') => changes.keyOf(sessionId, userId, appName);

export const creation = (id, { sessionId = id, userId, time = 1, ...delta } = {}) =>
  changes.create(id, key(sessionId, userId), delta, { time });

export const event = (id, { sessionId, userId, time = 2, data, guard, ...delta } = {}) =>
  changes.append(id, key(sessionId, userId), delta, { time, data, ...(guard && { guard }) });

export const update = (id, { userId, ...delta } = {}) =>
  changes.update(id, { appName: 'a', ...(userId !== undefined && { userId }) }, delta, { time: 3 });

/** The outcome of a change, without its news of the time before. */
export async function outcome(promise) {
  const told = ['before', 'changed'];
  return Object.fromEntries(Object.entries(await promise).filter(([member]) => !told.includes(member)));
}

/** The options that open a store and make its tables. */
export const create = { migrate: 'create' };

/** A list of the app, from its oldest session on. */
export const ascending = { app: 'a', descending: false };

/** A store with a session `s` of the user `u`, at revision 1. */
export async function filled(database, options) {
  const store = plain(sqliteStore(database, options));
  await store.open(create);
  await store.commit(creation('s', { session: { set: { n: 1 } }, user: { set: { u: 1 } }, app: { set: { a: 1 } } }));
  await store.commit(event('e1', { session: { set: { n: 2 } } }));
  return store;
}

/** Values as a store gives them: without a prototype. */
export function bare(values) {
  return Object.assign(Object.create(null), values);
}
