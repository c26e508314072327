// Databases in MySQL, by mysql2: the tables are made by hand, as the ADKs make them; the server is MariaDB.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { adkReadStore, identifyAdk, importAdk } from 'statepad/import-adk';
import { GO, JAVA, goRows, goTables, held, javaRows, javaTables } from '../../import-adk/adk-go-java.mjs';
import { mariadbForTests } from '../../support/mariadb.mjs';
import { hostOf } from '../host.mjs';

const statepad = { adkReadStore, identifyAdk, importAdk, SessionService };
const { skip, port, stop } = await mariadbForTests();

/** As SQLAlchemy makes the tables of adk-python, with rows of its own. */
const PYTHON = [
  'CREATE TABLE adk_internal_metadata (`key` VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY (`key`))',
  "INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')",
  `CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state LONGTEXT NOT NULL, update_time DATETIME(6) NOT NULL,
    PRIMARY KEY (app_name))`,
  `CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state LONGTEXT NOT NULL,
    update_time DATETIME(6) NOT NULL, PRIMARY KEY (app_name, user_id))`,
  `CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
    state LONGTEXT NOT NULL, create_time DATETIME(6) NOT NULL, update_time DATETIME(6) NOT NULL,
    PRIMARY KEY (app_name, user_id, id))`,
  `CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME(6) NOT NULL,
    event_data LONGTEXT, PRIMARY KEY (id, app_name, user_id, session_id))`,
];
const PYTHON_ROWS = [
  ['app_states', ['app_name', 'state', 'update_time'], ['shop', '{"theme":"dark"}', '2026-01-31 00:00:00']],
  [
    'sessions',
    ['app_name', 'user_id', 'id', 'state', 'create_time', 'update_time'],
    ['shop', 'ana', 'python', '{"begun":"😀","n":1}', '1969-12-31 23:59:58.500000', '2026-01-31 00:00:00'],
  ],
  [
    'events',
    ['id', 'app_name', 'user_id', 'session_id', 'invocation_id', 'timestamp', 'event_data'],
    [
      ...['e', 'shop', 'ana', 'python', 'i', '1969-12-31 23:59:59.250000'],
      '{"author":"x","timestamp":-0.75,"actions":{"state_delta":{"n":1}}}',
    ],
  ],
];
const EXPECTED = {
  id: 'python',
  state: { begun: '😀', n: 1, 'app:theme': 'dark' },
  events: [
    {
      ...{ author: 'x', timestamp: -750, id: 'e', invocationId: 'i' },
      actions: { stateDelta: { n: 1 }, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    },
  ],
};
const JAVA_TABLES = javaTables({
  json: 'JSON',
  time: 'TIMESTAMP(3)',
  sequence: 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
});

describe('a MySQL database', { skip }, () => {
  let byPromise;
  let byCallback;
  const config = { host: '127.0.0.1', port, user: 'root', database: 'test', charset: 'utf8mb4' };
  before(async () => {
    const { folder } = await hostOf('mysql', {});
    const load = async (file) =>
      (await import(pathToFileURL(join(folder, 'node_modules', 'mysql2', file)).href)).default;
    [byPromise, byCallback] = [await load('promise.js'), await load('index.js')];
  });
  after(() => stop?.());

  for (const [kind, tables, rows, expected] of [
    ['adk-python-v1', PYTHON, PYTHON_ROWS, EXPECTED],
    ['adk-go', goTables('mysql'), goRows('mysql'), GO],
    ['adk-java', JAVA_TABLES, javaRows(), JAVA],
  ]) {
    test(`of ${kind} comes over by each form of mysql2, whatever the zone of the server is`, async () => {
      const maker = await byPromise.createConnection(config);
      await maker.query('DROP DATABASE test');
      await maker.query('CREATE DATABASE test CHARACTER SET utf8mb4');
      await maker.query('USE test');
      await maker.query("SET time_zone = '+00:00'");
      for (const sql of tables) await maker.query(sql);
      for (const [table, names, values] of rows) {
        await maker.query(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`, values);
      }
      await maker.end();

      const pool = byPromise.createPool(config);
      await held(assert, statepad, pool, kind, expected);
      await pool.end();
      const connection = await byPromise.createConnection(config);
      await held(assert, statepad, connection, kind, expected);
      await connection.end();
      const old = byCallback.createPool(config);
      await held(assert, statepad, old, kind, expected);
      await new Promise((resolve) => old.end(resolve));
    });
  }
});
