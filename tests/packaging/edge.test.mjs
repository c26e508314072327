// The installed package on hosts that compile no WebAssembly at run time and import a compiled module instead.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { EdgeVM } from '@edge-runtime/vm';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { conversation, expected, project } from './project.mjs';

const files = {
  'conversation.js': conversation,
  'worker.js': `
    import { converse } from './conversation.js';
    export default { fetch: async () => Response.json(await converse()) };
  `,
  'edge.js': `
    import { converse } from './conversation.js';
    globalThis.told = converse();
  `,
};

describe('at the edge', () => {
  let folder;
  before(async () => {
    folder = await project(files);
  });

  it('runs in workerd', async () => {
    const built = join(folder, 'built-workerd');
    await build({
      entryPoints: [join(folder, 'worker.js')],
      outdir: built,
      bundle: true,
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      loader: { '.wasm': 'copy' },
    });
    const modules = readdirSync(built).map((name) => ({
      type: name.endsWith('.wasm') ? 'CompiledWasm' : 'ESModule',
      path: join(built, name),
    }));
    assert.deepEqual(modules.map(({ type }) => type).sort(), ['CompiledWasm', 'ESModule']);
    const worker = new Miniflare({
      modules: modules.sort((one, other) => other.type.localeCompare(one.type)),
      modulesRoot: built,
      compatibilityDate: '2025-01-01',
      cf: false,
    });
    try {
      const response = await worker.dispatchFetch('http://localhost/');
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), expected);
    } finally {
      await worker.dispose();
    }
  });

  it('runs in the edge runtime, wherever the module was compiled', async () => {
    let module;
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'edge.js')],
      bundle: true,
      write: false,
      format: 'iife',
      conditions: ['edge-light', 'browser'],
      plugins: [
        {
          // As the host's own build does it: the import becomes a module that was compiled before.
          name: 'compiled-before',
          setup({ onResolve, onLoad }) {
            onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
              path: join(resolveDir, path.replace('?module', '')),
              namespace: 'compiled',
            }));
            onLoad({ filter: /.*/, namespace: 'compiled' }, ({ path }) => {
              module = readFileSync(path);
              return { contents: 'export default globalThis.compiledBefore;' };
            });
          },
        },
      ],
    });
    const inside = new EdgeVM();
    inside.context.bytes = new Uint8Array(module);
    inside.evaluate('globalThis.compiledBefore = new WebAssembly.Module(bytes)');
    // Next compiles it outside of the realm that the script runs in.
    const outside = new EdgeVM();
    outside.context.compiledBefore = new WebAssembly.Module(module);
    for (const host of [inside, outside]) {
      host.evaluate(outputFiles[0].text);
      assert.deepEqual({ ...(await host.evaluate('told')) }, expected);
    }
  });
});
