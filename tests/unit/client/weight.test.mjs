// The code that a page loads with a client: nothing of the core, and the code of what it does not do later or never.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

it('a client loads no WebAssembly, and no part of a service', async () => {
  const { metafile } = await build({
    stdin: {
      contents: "export * from 'statepad/client';",
      resolveDir: fileURLToPath(new URL('../../..', import.meta.url)),
    },
    bundle: true,
    splitting: true,
    outdir: 'out',
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
  });
  const loaded = Object.keys(metafile.inputs).map((path) => path.replace(/^.*pkg\//, ''));
  assert.ok(loaded.includes('dist/client.js'), loaded.join());
  assert.deepEqual(
    loaded.filter((path) => /wasm|engine|service|backend|session|stores\//.test(path)),
    [],
  );
});
