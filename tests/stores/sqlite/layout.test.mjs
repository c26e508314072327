// The fingerprint of the tables of the SQLite stores: it follows their statements, and other ones are refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import { assertLayout } from '../../support/layout.mjs';
import { source } from '../../support/source.mjs';
import { dump, libraries, madeBy, plain, withFile } from './libraries.mjs';

const { LAYOUT, META, TABLES } = await source('stores/sqlite-core/schema.ts');

test('the fingerprint is that of the statements', () => assertLayout(LAYOUT, [META, ...TABLES].join(';\n')));

const others = {
  'without a fingerprint': ["DELETE FROM statepad_meta WHERE name = 'layout'", 'a layout without a fingerprint'],
  'with another fingerprint': [
    "UPDATE statepad_meta SET value = '1a2b3c4d' WHERE name = 'layout'",
    'the layout 1a2b3c4d',
  ],
  'without a fingerprint, and with fewer tables': [
    "DELETE FROM statepad_meta WHERE name = 'layout'; DROP TABLE statepad_log",
    'a layout without a fingerprint',
  ],
};

for (const name of Object.keys(libraries)) {
  const made = await madeBy(name);
  for (const [what, [statements, found]] of Object.entries(others)) {
    test(`${name}: tables ${what} are refused by name, and stay as they are`, () =>
      withFile(name, async (file) => {
        const database = file.connect();
        database.exec(`${made}; ${statements}`);
        const before = dump(database);
        const message =
          `the database has ${found}, written by an unreleased build of statepad; this build reads ${LAYOUT}: ` +
          'open it with the build that made it, or delete it';
        for (const migrate of ['create', 'upgrade', 'check']) {
          await assert.rejects(plain(sqliteStore(database)).open({ migrate }), { code: 'rejected', message });
        }
        assert.deepEqual(dump(database), before);
      }));
  }
}
