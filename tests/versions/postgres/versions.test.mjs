// The versions of Postgres that the docs name: all are there, and are what they are called.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { startPostgres } from '../../support/postgres.mjs';
import { assertSays } from '../suites.mjs';
import { newest, oldest, versions } from './installed.mjs';

test('all versions between the oldest and the newest are tested, and the docs name these two', () => {
  const majors = [...versions.map(({ major }) => major), newest];
  assert.deepEqual(
    majors,
    majors.map((_, index) => oldest.major + index),
  );
  assertSays('docs/stores.md', `Postgres ${oldest.major} to ${newest}`);
  assertSays('docs/adk-database.md', `Postgres ${oldest.major} to ${newest}`);
});

/** Calls a function with a pool of connections to a server of a version. */
async function withServer(from, use) {
  const server = await startPostgres({ from });
  const pool = new pg.Pool({ connectionString: server.url });
  // The server may end before the last connection is closed.
  pool.on('error', () => {});
  try {
    await use(pool);
  } finally {
    await pool.end();
    await server.stop();
  }
}

for (const { major, from } of versions) {
  test(`Postgres ${major} is a server of this version`, () =>
    withServer(from, async (pool) => {
      const { rows } = await pool.query('show server_version');
      assert.equal(Number.parseInt(rows[0].server_version, 10), major);
    }));
}
