// The inspector: the entry `statepad/inspector`, bundled with its libraries into pkg/dist/inspector.js, and the page
// that `statepad serve` and `statepad inspect` serve, in pkg/dist/inspector/.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filesUnder, remade } from './step.mjs';
import { inRoot } from './tools.mjs';

const src = inRoot('pkg', 'src');
const dist = inRoot('pkg', 'dist');
const pageSources = inRoot('www', 'inspector');
/** The names of the bundle's own files: the entry, and parts that are loaded at their first use. */
const OWN = /^inspector(-[\w-]+)?\.js(\.map)?$/;

/**
 * Bundles both when a source has changed since. The package has to be built before: the page is made of it.
 *
 * @param {string[]} recipe
 */
export async function bundleInspector(recipe) {
  const inputs = [...filesUnder(join(src, 'inspector')), join(src, 'inspector.ts'), ...recipe];
  await remade({ name: 'pkg/dist/inspector.js', seconds: 3 }, join(dist, '.inspector-from'), inputs, bundle);
  const page = [...filesUnder(pageSources), join(dist, '.made-from'), join(dist, '.inspector-from'), ...recipe];
  await remade({ name: 'pkg/dist/page', seconds: 3 }, join(dist, '.page-from'), page, bundlePage);
}

async function bundle() {
  const { build } = await import('vite');
  for (const name of existsSync(dist) ? readdirSync(dist).filter((name) => OWN.test(name)) : [])
    rmSync(join(dist, name));
  await build({
    configFile: false,
    root: inRoot('pkg'),
    publicDir: false,
    logLevel: 'error',
    plugins: [publicNames],
    // Libraries ask for it, and a page without a bundler has no `process`.
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: 'es2022',
      minify: true,
      sourcemap: true,
      modulePreload: false,
      lib: { entry: { inspector: join(src, 'inspector.ts') }, formats: ['es'] },
      rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: 'inspector-[name].js' } },
    },
  });
}

/**
 * Imports of the package's other entries stay imports of them. The modules of the inspector define elements: the
 * `sideEffects` of the package, which say otherwise, are about what is published. Its libraries say it for themselves.
 *
 * @type {import('vite').Plugin}
 */
const publicNames = {
  name: 'public-names',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (!importer?.startsWith(src) || !source.startsWith('.')) return null;
    const path = relative(src, join(dirname(importer), source)).replaceAll('\\', '/');
    if (/^(index|client|store)\.js$/.test(path)) return { id: `./${path}`, external: true };
    const found = await this.resolve(source, importer, { skipSelf: true });
    return found === null ? null : { ...found, moduleSideEffects: true };
  },
};

async function bundlePage() {
  const { build } = await import('vite');
  await build({
    configFile: false,
    root: pageSources,
    base: './',
    publicDir: false,
    logLevel: 'error',
    build: {
      outDir: join(dist, 'page'),
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      sourcemap: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', assetFileNames: '[name][extname]' },
      },
    },
  });
}
