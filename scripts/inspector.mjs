// The inspector: the entry `statepad/inspector`, bundled with its libraries into pkg/dist/inspector.js and the files
// that it loads, and the page that `statepad serve` and `statepad inspect` serve, in pkg/dist/page/.

import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { printing } from './printing.mjs';
import { filesUnder, remade } from './step.mjs';
import { inRoot } from './tools.mjs';

const src = inRoot('pkg', 'src');
const dist = inRoot('pkg', 'dist');
const pageSources = inRoot('www', 'inspector');
/** The names of the bundle's own files: the entry, and parts that are loaded at their first use. */
const OWN = /^inspector(-[\w-]+)?\.js$/;
/** The licences of the libraries that are in the bundle. */
const LICENSES = 'inspector-licenses.txt';

/**
 * Bundles both when a source has changed since. The package has to be built before: the page is made of it.
 *
 * @param {string[]} recipe
 */
export async function bundleInspector(recipe) {
  const inputs = [...filesUnder(join(src, 'inspector')), join(src, 'inspector.ts'), ...recipe];
  await remade({ name: 'pkg/dist/inspector.js', seconds: 3 }, join(dist, '.inspector-from'), inputs, bundle);
  const sources = [...filesUnder(pageSources), ...filesUnder(inRoot('www', 'shared'))];
  const page = [...sources, join(dist, '.made-from'), join(dist, '.inspector-from'), ...recipe];
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
    plugins: [publicNames, styles, licenses, print],
    // Libraries ask for it, and a page without a bundler has no `process`.
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: 'es2022',
      minify: false,
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

/**
 * Minifies the styles of components: nothing else looks into the texts of templates.
 *
 * @type {import('vite').Plugin}
 */
const styles = {
  name: 'styles',
  enforce: 'pre',
  async transform(code, id) {
    if (!id.startsWith(src)) return null;
    const { transform } = await import('esbuild');
    let changed = code;
    for (const [whole, text = ''] of code.matchAll(/\bcss`([^`$\\]*)`/g)) {
      const { code: small } = await transform(text, { loader: 'css', minify: true, target: 'esnext' });
      changed = changed.replace(whole, () => `css\`${small.trim().replaceAll('\\', '\\\\')}\``);
    }
    return changed === code ? null : { code: changed, map: null };
  },
};

/**
 * Writes the licences of the libraries that are in the bundle beside it: they ask for that.
 *
 * @type {import('vite').Plugin}
 */
const licenses = {
  name: 'licenses',
  writeBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
    const texts = [...folders].sort().map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      if (file === undefined) throw new Error(`${name} has no file with its licence`);
      return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    });
    writeFileSync(join(dist, LICENSES), texts.join(`\n${'-'.repeat(80)}\n\n`));
  },
};

/**
 * Minified, without comments: the licences are in a file of their own. The only line ends that are left then are those
 * in templates, where blanks behind them only indent the markup.
 *
 * @type {import('vite').Plugin}
 */
const print = {
  name: 'print',
  async generateBundle(_, bundle) {
    const { transform } = await import('esbuild');
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') {
        const { code } = await transform(file.code, { ...printing, minify: true, lineLimit: 0 });
        file.code = code.replaceAll(/\n\s+/g, '\n');
      }
    }
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
    plugins: [print],
    build: {
      outDir: join(dist, 'page'),
      emptyOutDir: true,
      target: 'es2022',
      minify: false,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', assetFileNames: '[name][extname]' },
      },
    },
  });
}
