// The host of the worker: workerd, by miniflare, with D1 and Durable Objects.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

/** A folder that is gone when the process ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-cloudflare-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let bundling;

/** The modules of the worker, bundled once. */
function bundle() {
  bundling ??= (async () => {
    const outdir = temporaryFolder();
    await build({
      entryPoints: [fileURLToPath(new URL('worker.js', import.meta.url))],
      outdir,
      bundle: true,
      logLevel: 'error',
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*'],
      loader: { '.wasm': 'copy' },
    });
    const names = readdirSync(outdir).sort(
      (one, other) => Number(one.endsWith('.wasm')) - Number(other.endsWith('.wasm')),
    );
    return {
      modulesRoot: outdir,
      modules: names.map((name) => ({
        type: name.endsWith('.wasm') ? 'CompiledWasm' : 'ESModule',
        path: join(outdir, name),
      })),
    };
  })();
  return bundling;
}

/**
 * Starts two workers that share their storage, which is in memory, or in a folder. `ask` sends one of them a request
 * and answers what came of it.
 */
export async function startHost({ folder } = {}) {
  const worker = {
    ...(await bundle()),
    compatibilityDate: '2025-01-01',
    d1Databases: { DB: 'db' },
  };
  const host = new Miniflare({
    cf: false,
    d1Persist: folder === undefined ? false : join(folder, 'd1'),
    durableObjectsPersist: folder === undefined ? false : join(folder, 'objects'),
    workers: [
      {
        ...worker,
        name: 'one',
        durableObjects: { OBJECT: { className: 'StoreObject', useSQLite: true }, PLAIN: { className: 'PlainObject' } },
      },
      { ...worker, name: 'two' },
    ],
  });
  return {
    ask: async (request, name = 'one') => {
      const worker = await host.getWorker(name);
      const response = await worker.fetch('http://localhost/', { method: 'POST', body: JSON.stringify(request) });
      const { answer, error } = await response.json();
      if (error !== undefined) {
        throw new Error(error);
      }
      return answer;
    },
    stop: () => host.dispose(),
  };
}
