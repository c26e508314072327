// The package in Bun, and its SQLite.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storeCases } from 'statepad/testing';
import { expected } from '../../packaging/project.mjs';
import { commandsOf, filesOf, hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';
import { conversing, sqliteCases } from '../programs.mjs';
import { handlerInMemory, handlerModule, idleFor, itServes, lineOf } from '../served.mjs';

describe('Bun', () => {
  const seen = seenBy('bun');
  let host;
  let server;
  let idle;
  const served = () => ({ url: server.found[1], output: server.output });
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
      'served-handler.js': handlerModule,
      // Bun cuts connections that are idle for 10 seconds, unless told otherwise.
      'handler.js': handlerInMemory({ heartbeat: 13_000 }),
      'served.js': `
        import { handler } from './handler.js';
        const server = ${lineOf('Bun.serve({ fetch: handler, idleTimeout: 0 })').replace('{', "{ hostname: '127.0.0.1', port: 0,")};
        console.log('on http://127.0.0.1:' + server.port);
      `,
    });
    server = await host.start('bun', ['served.js'], { ready: /on (\S+)/ });
    idle = idleFor(served());
    idle.catch(() => undefined);
  });
  after(async () => await server?.stop());

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

  describe('with `serve`', () => {
    it('keeps a stream that is idle for longer than Bun allows by default', () => idle);

    itServes(served, { saw: () => seen.saw('Bun, `serve`', works()) });
  });

  it('is what docs/hosts.md says', () => seen.check());
});
