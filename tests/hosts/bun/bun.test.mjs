// The package in Bun, and its SQLite.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { storeCases } from 'statepad/testing';
import { expected } from '../../packaging/project.mjs';
import { commandsOf, filesOf, hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';
import { conversing, sqliteCases } from '../programs.mjs';

describe('Bun', () => {
  const seen = seenBy('bun');
  let host;
  before(async () => {
    host = await hostOf('bun', {
      ...filesOf('Bun'),
      'print.js': conversing,
      'cases.js': sqliteCases("import { Database } from 'bun:sqlite';"),
      // A connection may have other defaults.
      'strict-cases.js': sqliteCases(`
        import { Database as Plain } from 'bun:sqlite';
        class Database extends Plain {
          constructor(path) {
            super(path, { create: true, strict: true, safeIntegers: true });
          }
        }
      `),
    });
  });

  it('converses', async () => {
    assert.deepEqual(JSON.parse(await host.printed('bun print.js')), expected);
    seen.saw('Bun', works());
  });

  it('keeps sessions by bun:sqlite', async () => {
    const [command] = commandsOf('Bun');
    assert.equal(await host.printed(command), '1 tides');
    assert.equal(await host.printed(command), '2 tides');
  });

  for (const program of ['cases.js', 'strict-cases.js']) {
    it(`passes the store cases over bun:sqlite, ${program}`, async () => {
      const { cases, failed } = JSON.parse(await host.printed(`bun ${program}`));
      assert.deepEqual(failed, []);
      assert.equal(cases, storeCases.filter(({ needs }) => !needs.includes('watch')).length);
      seen.saw('Bun, `bun:sqlite`', works());
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});
