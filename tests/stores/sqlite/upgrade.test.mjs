// Upgrades of tables from an older version to a later one, by versions that there are only here; and a process that
// goes on after others have upgraded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import { source } from '../../support/source.mjs';
import {
  creation,
  dump,
  event,
  failure,
  key,
  libraries,
  observed,
  plain,
  rows,
  update,
  withFile,
} from './libraries.mjs';

const { openSchema, sqliteClient, TABLES } = await source(
  'stores/sqlite-core/client.ts',
  'stores/sqlite-core/open.ts',
  'stores/sqlite-core/schema.ts',
);
const namesOf = (tables) => tables.map((statement) => statement.split(' ', 3)[2]);
const colours = 'CREATE TABLE statepad_colours (n INTEGER)';

/** Version 3. A step of the way to it must not be made twice. */
const later = {
  version: 3,
  layout: 'later',
  tables: [...TABLES, colours],
  upgrades: {
    1: ['ALTER TABLE statepad_sessions ADD COLUMN colour TEXT', 'UPDATE statepad_values SET value = value + 1'],
    2: [colours],
  },
  names: { 1: namesOf(TABLES), 2: namesOf(TABLES) },
};

const open = (database, migrate, schema = later) => openSchema(sqliteClient(database), migrate, schema);
const metaOf = (database) => rows(database, 'SELECT value FROM statepad_meta ORDER BY name').map(({ value }) => value);
const valueOf = (database) => rows(database, 'SELECT value FROM statepad_values')[0].value;

/** A connection to a file of this version, with a session and a value. */
async function written(file) {
  const database = file.connect();
  const store = plain(sqliteStore(database));
  await store.open({ migrate: 'create' });
  await store.commit(creation('s', { user: { set: { n: 1 } } }));
  await store.commit(event('e1'));
  return database;
}

for (const name of Object.keys(libraries)) {
  test(`${name}: 'upgrade' takes all the steps to a later version, once`, () =>
    withFile(name, async (file) => {
      const database = await written(file);
      open(database, 'upgrade');
      assert.deepEqual(metaOf(database), ['later', '3']);
      assert.equal(valueOf(database), '2');
      assert.deepEqual(rows(database, 'SELECT id, colour FROM statepad_sessions'), [{ id: 's', colour: null }]);
      const upgraded = dump(database);
      for (const migrate of ['create', 'upgrade', 'check']) {
        open(database, migrate);
        assert.deepEqual(dump(database), upgraded);
      }
      assert.equal(await failure(plain(file.store()).open({ migrate: 'upgrade' })), 'rejected');
    }));

  test(`${name}: tables that cannot be upgraded are refused, and stay as they are`, () =>
    withFile(name, async (file) => {
      const database = await written(file);
      const before = dump(database);
      for (const migrate of ['create', 'check']) {
        const line = "open it once with new SessionService({ store, migrate: 'upgrade' })";
        const message = `the database has version 1, older than 3: ${line}`;
        assert.throws(() => open(database, migrate), { code: 'rejected', message });
      }
      const [first, second] = [later.upgrades[1], later.upgrades[2]];
      const without = { ...later, upgrades: { 1: first } };
      assert.throws(() => open(database, 'upgrade', without), /no upgrade from version 2 of the tables to version 3/);
      const broken = { ...later, upgrades: { 1: first, 2: [...second, 'no SQL'] } };
      assert.throws(() => open(database, 'upgrade', broken), /no SQL|syntax error/);
      const foreign = { ...later, names: { 1: namesOf(TABLES).slice(1) } };
      assert.throws(() => open(database, 'upgrade', foreign), /"statepad_scopes" does not belong to statepad/);
      assert.deepEqual(dump(database), before);
    }));

  test(`${name}: an upgrade that is cut off at any statement has done nothing, and the next one does all`, () =>
    withFile(name, async (file) => {
      const database = await written(file);
      const before = dump(database);
      let steps = 0;
      for (; ; steps++) {
        let left = steps;
        const cut = (sql) => {
          if (/^(ALTER|CREATE|UPDATE|INSERT|COMMIT)/.test(sql) && left-- === 0) {
            throw new Error('torn');
          }
        };
        const torn = await failure((async () => open(observed(database, { before: cut }), 'upgrade'))());
        if (torn === 'nothing is thrown') {
          break;
        }
        assert.equal(torn, 'torn');
        assert.deepEqual(dump(database), before);
      }
      assert.ok(steps > 4, `${steps} steps`);
      assert.deepEqual([...metaOf(database), valueOf(database)], ['later', '3', '2']);
    }));

  test(`${name}: what another upgrades between the look and the transaction is taken as it is found`, () =>
    withFile(name, async (file) => {
      const database = await written(file);
      const other = file.connect();
      let isUpgraded = false;
      const before = (sql) => {
        if (sql === 'BEGIN IMMEDIATE' && !isUpgraded) {
          isUpgraded = true;
          open(other, 'upgrade');
        }
      };
      open(observed(database, { before }), 'upgrade');
      assert.ok(isUpgraded);
      assert.deepEqual([...metaOf(database), valueOf(database)], ['later', '3', '2']);
    }));

  test(`${name}: a process of an older version writes nothing once a later one has upgraded`, () =>
    withFile(name, async (file) => {
      const database = await written(file);
      const store = sqliteStore(database);
      const context = { signal: new AbortController().signal };
      await store.open({ migrate: 'check' }, context);
      open(file.connect(), 'upgrade');
      const before = dump(database);
      const refused = { code: 'rejected', message: 'the database has version 3, newer than 1: update statepad' };
      const changes = [event('e2'), event('e1'), creation('t'), update('u', { userId: 'u', user: { set: { n: 3 } } })];
      for (const change of changes) {
        await assert.rejects(store.commit(change, context), refused);
        await assert.rejects(store.commit({ ...change, attempt: 2 }, context), refused);
      }
      const outcomes = await store.commitMany(changes, context);
      assert.deepEqual(
        outcomes.map(({ code, message }) => ({ code, message })),
        changes.map(() => refused),
      );
      await assert.rejects(store.remove(key(), context), refused);
      await assert.rejects(store.remove(key(), context, { created: 's' }), refused);
      await assert.rejects(store.removeScope({ app: 'a', user: 'u' }, context), refused);
      await assert.rejects(store.removeScope({ app: 'a' }, context), refused);
      await assert.rejects(store.trimLog({ app: 'a', user: 'u' }, 1, context), refused);
      await assert.rejects(store.lease(key(), { holder: 'one', ttl: 1 }, context), refused);
      assert.deepEqual(dump(database), before);
      database.exec('DELETE FROM statepad_meta');
      assert.equal(await failure(store.commit(event('e2'), context)), 'rejected');
    }));
}
