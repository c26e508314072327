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
    plugins: [publicNames, templates, licenses, print],
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
 * Makes the templates of components smaller: styles are minified, and markup loses its indentation. Other texts stay
 * as they are: a program that is shown keeps its indentation.
 *
 * @type {import('vite').Plugin}
 */
const templates = {
  name: 'templates',
  enforce: 'pre',
  async transform(code, id) {
    if (!id.startsWith(src)) return null;
    const { transform } = await import('esbuild');
    let changed = code;
    for (const { tag, start, end } of (await partsOf(code)).reverse()) {
      const part = code.slice(start, end);
      const isWholeStyle = tag === 'css' && code[start - 1] === '`' && code[end] === '`' && !part.includes('\\');
      const small = isWholeStyle
        ? (await transform(part, { loader: 'css', minify: true, target: 'esnext' })).code
            .trim()
            .replaceAll('\\', '\\\\')
        : part.replaceAll(/\n\s+/g, '\n');
      changed = changed.slice(0, start) + small + changed.slice(end);
    }
    return changed === code ? null : { code: changed, map: null };
  },
};

/** The tags of templates that are drawn. */
const DRAWN = new Set(['css', 'html', 'svg']);

/**
 * The literal parts of the drawn templates of a module, in its order.
 *
 * @param {string} code @returns {Promise<{ tag: string, start: number, end: number }[]>}
 */
async function partsOf(code) {
  const { default: ts } = await import('typescript');
  const file = ts.createSourceFile('module.ts', code, ts.ScriptTarget.Latest, true);
  /** @type {{ tag: string, start: number, end: number }[]} */
  const parts = [];
  /** @param {import('typescript').Node} node */
  const visit = (node) => {
    if (ts.isTaggedTemplateExpression(node) && DRAWN.has(node.tag.getText(file))) {
      const { template } = node;
      const literals = ts.isNoSubstitutionTemplateLiteral(template)
        ? [template]
        : [template.head, ...template.templateSpans.map(({ literal }) => literal)];
      for (const literal of literals) {
        // Up to a backtick, or up to the two characters that begin a value.
        const isLast = code[literal.end - 1] === '`';
        parts.push({
          tag: node.tag.getText(file),
          start: literal.getStart(file) + 1,
          end: literal.end - (isLast ? 1 : 2),
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return parts.sort((one, other) => one.start - other.start);
}

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
 * Minified, without comments: the licences are in a file of their own.
 *
 * @type {import('vite').Plugin}
 */
const print = {
  name: 'print',
  async generateBundle(_, bundle) {
    const { transform } = await import('esbuild');
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk')
        file.code = (await transform(file.code, { ...printing, minify: true, lineLimit: 0 })).code;
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
