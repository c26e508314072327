// The package in the first Node that it supports, and in the newest of each line.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { expected } from '../../packaging/project.mjs';
import { hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';
import { conversing } from '../programs.mjs';
import { handlerInMemory, handlerModule, itServes, lineOf } from '../served.mjs';

const files = {
  'served-handler.js': handlerModule,
  'handler.js': handlerInMemory(),
  'served.mjs': `
    import { createServer } from 'node:http';
    import { nodeListener } from 'statepad/serve';
    import { handler } from './handler.js';
    const server = ${lineOf('createServer(nodeListener(handler))')};
    server.listen(0, '127.0.0.1', () => console.log('on http://127.0.0.1:' + server.address().port));
  `,
  'print.mjs': conversing,
  'both.cjs': `
    const required = require('statepad');
    const { memoryStore } = require('statepad/stores/memory');
    (async () => {
      const imported = await import('statepad');
      const service = new required.SessionService({ store: memoryStore() });
      const { state } = await service.createSession({ appName: 'tutor', userId: 'ana', state: { topic: 'tides' } });
      console.log(JSON.stringify({ state, same: imported.SessionService === required.SessionService }));
    })();
  `,
};

files['kept.mjs'] = `
  import { SessionService } from 'statepad';
  import { sqliteStore } from 'statepad/stores/sqlite';
  const service = new SessionService({ store: sqliteStore('sessions.db') });
  const session = await service.getOrCreateSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' });
  await service.appendEvent({ session, event: { author: 'ana' } });
  console.log(session.events.length);
  await service.close();
`;

const skip =
  process.platform === 'linux' && process.arch === 'x64'
    ? false
    : 'these versions are installed for Linux on x64 only';

/** The output of a program that gives a path to the SQLite store, run after run, where Node has SQLite of its own. */
const KEPT = {
  node22: /^1\n\(.*ExperimentalWarning: SQLite is an experimental feature/,
  node24: /^2\n$/,
  node26: /^3\n$/,
};

describe('Node', { skip }, () => {
  const seen = seenBy('node');
  let host;
  before(async () => {
    host = await hostOf('node', files);
  });

  const nodeOf = (name) => join(host.folder, 'node_modules', name, 'bin', 'node');
  const versions = [
    ['Node 20.19', 'node20'],
    ['Node 22', 'node22'],
    ['Node 24', 'node24'],
    ['Node 26', 'node26'],
  ];

  for (const [row, name] of versions) {
    it(`imports and requires it in ${row}`, async () => {
      const node = nodeOf(name);
      // Node 20 says that require() of a module is an experiment.
      const printed = (program) => host.printed(`"${node}" --no-warnings ${program}`);
      assert.ok((await printed('--version')).startsWith(row.replace('Node ', 'v')));
      assert.deepEqual(JSON.parse(await printed('print.mjs')), expected);
      assert.deepEqual(JSON.parse(await printed('both.cjs')), { state: { topic: 'tides' }, same: true });
      if (name in KEPT) assert.match((await host.run(`"${node}" kept.mjs`)).output, KEPT[name]);
      seen.saw(row, works());
    });
  }

  for (const [row, name] of versions) {
    describe(`with \`serve\`, in ${row}`, () => {
      let server;
      before(async () => {
        server = await host.start(nodeOf(name), ['served.mjs'], { ready: /on (\S+)/ });
      });
      after(async () => await server?.stop());

      const saw = () => seen.saw(`${row}, \`serve\``, works());
      itServes(() => ({ url: server.found[1], output: server.output }), { saw });
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});
