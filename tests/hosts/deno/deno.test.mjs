// The package in Deno, and its SQLite.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storeCases } from 'statepad/testing';
import { expected } from '../../packaging/project.mjs';
import { commandsOf, filesOf, hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';
import { conversing, sqliteCases } from '../programs.mjs';
import { handlerInMemory, handlerModule, itServes, lineOf } from '../served.mjs';

describe('Deno', () => {
  const seen = seenBy('deno');
  let host;
  before(async () => {
    host = await hostOf('deno', {
      ...filesOf('Deno'),
      'print.js': conversing,
      'cases.js': sqliteCases("import { DatabaseSync as Database } from 'node:sqlite';"),
      'served-handler.js': handlerModule,
      'handler.js': handlerInMemory(),
      'served.js': `
        import { handler } from './handler.js';
        ${lineOf('Deno.serve(handler)')};
      `,
    });
  });

  it('converses', async () => {
    assert.deepEqual(JSON.parse(await host.printed('deno run print.js')), expected);
    seen.saw('Deno', works());
  });

  it('keeps sessions by node:sqlite', async () => {
    const [command] = commandsOf('Deno');
    assert.equal(await host.printed(command), '1 tides');
    assert.equal(await host.printed(command), '2 tides');
  });

  it('passes the store cases over node:sqlite', async () => {
    const { cases, failed } = JSON.parse(await host.printed('deno run --allow-all cases.js'));
    assert.deepEqual(failed, []);
    assert.equal(cases, storeCases.filter(({ needs }) => !needs.includes('watch')).length);
    seen.saw('Deno, `node:sqlite`', works());
  });

  describe('with `serve`', () => {
    let server;
    before(async () => {
      server = await host.start('deno', ['run', '--allow-net=127.0.0.1', 'served.js'], {
        env: { DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0' },
        ready: /Listening on (http:\/\/[\w.:]+)/,
      });
    });
    after(async () => await server?.stop());

    const saw = () => seen.saw('Deno, `serve`', works());
    itServes(() => ({ url: server.found[1], output: server.output }), { saw });
  });

  it('is what docs/hosts.md says', () => seen.check());
});
