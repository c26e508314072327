// The arguments of the store in Postgres, and its demands on the server.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { SessionService } from 'statepad';
import { postgresStore } from 'statepad/stores/postgres';
import { codeOf, context, create, keyOf, withDatabase } from './database.mjs';

const client = { query: async () => ({ rows: [] }) };
class Pool {
  query() {}
}

for (const [what, given, told] of [
  ['a URL', 'postgres://user:secret@server/database', 'a string'],
  ['null', null, 'null'],
  ['nothing', undefined, 'undefined'],
  ['a class', Pool, 'the class Pool'],
  ['a class of pg', pg.Pool, /the (class|function) \w+/],
  ['a function', () => client, 'the function without a name'],
  ['options', { connectionString: 'postgres://user:secret@server/database' }, 'an object without one'],
  ['a client that queries otherwise', { query: 'select 1' }, 'an object without one'],
]) {
  test(`${what} in place of a client is refused at once, and what to pass is said`, () => {
    assert.throws(
      () => postgresStore(given),
      (error) => {
        assert.equal(error.name, 'StatepadError');
        assert.equal(error.code, 'INVALID_ARGUMENT');
        assert.equal(error.path, 'client');
        assert.match(
          error.message,
          typeof told === 'string' ? new RegExp(`has a query method, not ${told}: pass a pool`) : told,
        );
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  });
}

for (const [options, message] of [
  [{ scheme: 'a' }, /no option "scheme": it has schema, prepare, listen, log/],
  [{ schema: 'a', Listen: client }, /no option "Listen"/],
  [null, /an object, not null/],
  ['statepad', /an object, not a string/],
  [[], /an object, not an array/],
  [{ schema: null }, /name of a schema, not null/],
  [{ schema: 5 }, /name of a schema, not a number/],
  [{ prepare: 'no' }, /true or false, not a string/],
  [{ log: 0 }, /the option log is true or false, not a number/],
  [{ listen: true }, /a separate connected client.* not a boolean/],
  [{ listen: client }, /a separate connected client.* not an object/],
  [{ listen: new pg.Pool() }, /a separate connected client.* not a pool/],
]) {
  test(`options that are none are refused at once: ${message.source}`, () => {
    assert.throws(() => postgresStore(client, options), { name: 'StatepadError', code: 'INVALID_ARGUMENT', message });
  });
}

test('options that are undefined are none', () => {
  postgresStore(client, { schema: undefined, prepare: undefined, listen: undefined, log: undefined });
  postgresStore(client, undefined);
});

/** A client whose server says this of itself, and that it is empty. */
function serverThat(says) {
  const statements = [];
  const server = {
    role: 'ann',
    database: 'data',
    isolation: 'read committed',
    isolation_source: 'default',
    is_replica: 'false',
    read_only: 'off',
    fsync: 'on',
    synchronous_commit: 'on',
    standbys: '',
    ...says,
  };
  return {
    statements,
    query: async (text) => (statements.push(text), { rows: text.includes('pg_is_in_recovery') ? [server] : [] }),
  };
}

for (const [says, durability] of [
  [{}, 'disk'],
  [{ synchronous_commit: 'local' }, 'disk'],
  [{ fsync: 'off' }, 'os'],
  [{ synchronous_commit: 'off' }, 'memory'],
  [{ synchronous_commit: 'off', standbys: 'ANY 1 (*)' }, 'memory'],
  [{ standbys: 'ANY 1 (*)' }, 'replicated'],
  [{ standbys: 'walproposer', fsync: 'off' }, 'replicated'],
  [{ standbys: 'b', synchronous_commit: 'remote_write' }, 'replicated'],
  [{ standbys: 'b', synchronous_commit: 'local', fsync: 'off' }, 'os'],
]) {
  test(`a server with ${JSON.stringify(says)} keeps what is committed: ${durability}`, async () => {
    const store = postgresStore(serverThat(says));
    assert.equal(store.durability, undefined);
    await store.open({ migrate: 'create' }, context);
    assert.equal(store.durability, durability);
  });
}

for (const [says, code, message] of [
  [
    { isolation: 'serializable', role: 'an"n' },
    'rejected',
    /"serializable".*: alter role "an""n" set default_transaction_isolation = 'read committed', and reconnect/,
  ],
  [{ isolation: 'repeatable read', isolation_source: 'database' }, 'rejected', /: alter role "ann" set default/],
  [
    { isolation: 'serializable', isolation_source: 'database user' },
    'rejected',
    /: alter role "ann" in database "data" set default/,
  ],
  [{ isolation: 'serializable', isolation_source: 'client' }, 'rejected', /: take .* out of the connection's options/],
  [{ is_replica: 'true' }, 'unavailable', /replica.*: connect to the primary/],
  [{ read_only: 'on' }, 'unavailable', /role "ann" has default_transaction_read_only = on/],
]) {
  test(`a server with ${JSON.stringify(says)} is refused before anything is made: ${code}`, async () => {
    for (const migrate of ['create', 'upgrade']) {
      const client = serverThat(says);
      await assert.rejects(postgresStore(client).open({ migrate }, context), { name: 'StoreError', code, message });
      assert.equal(client.statements.length, 1);
    }
    // A server that can only be read is good enough for `check`.
    const client = serverThat(says);
    assert.equal(
      await codeOf(postgresStore(client).open({ migrate: 'check' }, context)),
      code === 'rejected' ? 'rejected' : 'none',
    );
  });
}

test('PGlite says where it has its files', async () => {
  for (const [dataDir, durability] of [
    [undefined, 'memory'],
    ['memory://x', 'memory'],
    ['./folder', 'os'],
    ['idb://x', 'os'],
  ]) {
    const store = postgresStore({ ...serverThat({ fsync: 'off' }), waitReady: Promise.resolve(), dataDir });
    await store.open({ migrate: 'create' }, context);
    assert.equal(store.durability, durability, dataDir);
  }
  const lite = new PGlite();
  after(() => lite.close());
  const store = postgresStore(lite);
  await store.open({ migrate: 'create' }, context);
  assert.equal(store.durability, 'memory');
});

await withDatabase((database) => {
  const pool = database.pool();

  test('a server as it is made keeps what is committed on disk', async () => {
    const store = postgresStore(pool, { schema: database.schema() });
    await store.open({ migrate: 'create' }, context);
    assert.equal(store.durability, 'disk');
    const careless = postgresStore(database.pool({ options: '-c synchronous_commit=off' }), {
      schema: database.schema(),
    });
    await careless.open({ migrate: 'create' }, context);
    assert.equal(careless.durability, 'memory');
  });

  for (const isolation of ['serializable', 'repeatable read']) {
    test(`a role whose transactions are ${isolation} is refused, and the line that is told helps`, async () => {
      const role = `statepad_${isolation.replace(' ', '_')}_${process.pid}`;
      const schema = database.schema();
      await pool.query(
        `create role ${role} login superuser; alter role ${role} set default_transaction_isolation = '${isolation}'`,
      );
      try {
        const url = new URL(database.url);
        url.username = role;
        const connectionString = url.href;
        const service = new SessionService({ store: postgresStore(database.pool({ connectionString }), { schema }) });
        const error = await service.createSession({ appName: 'a', userId: 'u' }).catch((error) => error);
        assert.equal(error.code, 'STORE_UNSUITABLE', error.stack);
        const [, line] = /: (alter role .*), and reconnect$/.exec(error.message) ?? assert.fail(error.message);
        assert.equal((await pool.query('select to_regnamespace($1) as schema', [schema])).rows[0].schema, null);
        await pool.query(line);
        const anew = new SessionService({ store: postgresStore(database.pool({ connectionString }), { schema }) });
        await anew.createSession({ appName: 'a', userId: 'u' });
        await anew.close();
        await assert.rejects(
          postgresStore(
            database.pool({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` }),
            { schema },
          ).open({ migrate: 'check' }, context),
          { code: 'rejected', message: /out of the connection's options/ },
        );
      } finally {
        await pool
          .query(`drop schema if exists ${schema} cascade; drop owned by ${role}; drop role ${role}`)
          .catch(() => {});
      }
    });
  }

  test('a role that only reads cannot open a store to write, and can look at what is there', async () => {
    const schema = database.schema();
    const reader = database.pool({ options: '-c default_transaction_read_only=on' });
    const open = async (migrate) => {
      const store = postgresStore(reader, { schema });
      await store.open({ migrate }, context);
      return store;
    };
    await assert.rejects(open('create'), {
      code: 'unavailable',
      message: /default_transaction_read_only = on here: nothing can be written/,
    });
    const store = postgresStore(pool, { schema });
    await store.open({ migrate: 'create' }, context);
    await store.commit(create(), context);
    await assert.rejects(open('upgrade'), { code: 'unavailable' });
    assert.equal((await (await open('check')).load(keyOf(), {}, context)).created, 'c');
  });
});
