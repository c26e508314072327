// The package in pkg/dist: the TypeScript of pkg/src put together into few modules, and its declarations.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { entryNames, exportedNames, runNames } from './entries.mjs';
import { printing } from './printing.mjs';
import { run } from './run.mjs';
import { sqlFiles } from './sql.mjs';
import { filesUnder, remade } from './step.mjs';
import { root } from './tools.mjs';

/** @param {...string} path */
const inPackage = (...path) => join(root, 'pkg', ...path);
const src = inPackage('src');
const dist = inPackage('dist');
/** All declarations, also of modules that are published in no type. */
const declared = join(root, 'target', 'declarations');
/** Declares what the sources import from the core. */
const coreTypes = inPackage('wasm', 'statepad.d.ts');

/** @param {string[]} recipe */
const inputs = (recipe) => [...filesUnder(src), inPackage('tsconfig.json'), inPackage('package.json'), ...recipe];

/**
 * Bundles the package when a source has changed since. Types are not looked at: that takes a second instead of ten.
 *
 * @param {string[]} recipe
 */
export async function bundlePackage(recipe) {
  await remade({ name: 'pkg/dist', seconds: 2 }, join(dist, '.made-from'), inputs(recipe), bundle);
}

/**
 * Checks the types of the package and writes the declarations that its entries need, when a source has changed since.
 *
 * @param {string[]} recipe
 */
export async function declarePackage(recipe) {
  const from = [...inputs(recipe), coreTypes];
  await remade({ name: 'the declarations of pkg/dist', seconds: 10 }, join(dist, '.declared-from'), from, () => {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const tellApart = ['--incremental', '--tsBuildInfoFile', join(declared, '.tsbuildinfo')];
    run(process.execPath, [
      tsc,
      '-p',
      inPackage(),
      '--emitDeclarationOnly',
      '--declarationDir',
      declared,
      ...tellApart,
    ]);
    /** @param {string} name */
    const isDeclaration = (name) => name.endsWith('.d.ts');
    if (existsSync(dist)) {
      for (const name of readdirSync(dist, { encoding: 'utf8', recursive: true }).filter(isDeclaration))
        rmSync(join(dist, name));
    }
    for (const name of neededDeclarations()) {
      mkdirSync(dirname(join(dist, name)), { recursive: true });
      copyFileSync(join(declared, name), join(dist, name));
    }
  });
}

/** The declarations of what users may import, and those that they refer to: most modules are in no public type. */
function neededDeclarations() {
  const needed = new Set(exportedNames(src, '.ts').map((name) => name.replace(/\.ts$/, '.d.ts')));
  for (const name of needed) {
    const text = readFileSync(join(declared, name), 'utf8');
    for (const [, path] of text.matchAll(/(?:from |import\()['"](\.{1,2}\/[^'"]+)\.js['"]/g)) {
      needed.add(join(dirname(name), `${path}.d.ts`));
    }
  }
  return needed;
}

/** Folders that never reach the core: stores and pages that only tell errors apart load nothing else. */
const BASE = ['async', 'checks', 'model', 'store'];
/** The folders of a service in memory. Stores do without them. */
const SERVICE = ['backend', 'context', 'engine', 'service', 'session', 'template'];
/** The modules that read the past: they are loaded at the first question about it, and with the adapter. */
const PAST = /^(engine\/(history|rewind)|session\/(history|session-scope)|service\/(current-log|fork|rewind))\.ts$/;
/** Modules of these folders that are loaded later, or stay by themselves: the loaders run before the service. */
const APART = new RegExp(
  [
    '^(engine/(core-error|load[.]|loading|module-text|wasm)',
    'service/(?!lifetime|options|session-directory|session-past|session-service)',
    'async/(handovers|reentrant-queues)',
    'lease/',
    'update/',
    'backend/(durable/|memory-access|memory-target))',
  ].join('|'),
);
/** Modules of the client that are loaded at their first call. */
const LATER_OF_CLIENT = /^client\/(update|leases)\.ts$/;

/**
 * The modules that the package's own entry imports, and those that these import: what a page loads at first.
 *
 * @param {string} from the folder of the sources
 */
function eagerModules(from) {
  const eager = new Set(['index.ts']);
  for (const path of eager) {
    const text = readFileSync(join(from, path), 'utf8');
    for (const [, names, target] of text.matchAll(/^(?:import|export) (?!type )([^;]*?) ?from '(\.[^']+)\.js';$/gm)) {
      const isOfTypes = /^\{[^}]*\}$/.test(names) && !/[{,]\s*(?!type )\w/.test(names);
      const file = posix.join(posix.dirname(path), `${target}.ts`);
      if (!isOfTypes && existsSync(join(from, file))) eager.add(file);
    }
  }
  return eager;
}

/**
 * Into which of the shared files a module goes; in none, where its importers decide.
 *
 * @param {string} path
 * @param {ReadonlySet<string>} eager
 */
function groupOf(path, eager) {
  const folder = path.split('/')[0];
  if (PAST.test(path)) return 'past';
  if (APART.test(path)) return null;
  // The loaders must not need the service, which needs them.
  if (path === 'engine/loading.ts') return 'base';
  if (path.startsWith('stores/shared/')) return 'stores';
  // A client of a server needs it, and no core.
  if (folder === 'input') return 'input';
  // Its own files are loaded at once, those of its folders with a command; `cli/commands` are data.
  if (folder === 'cli') return /^cli\/(commands\/)?[^/]+$/.test(path) ? 'cli' : `cli-${path.split('/')[1]}`;
  if (BASE.includes(folder)) return eager.has(path) ? 'base' : 'later';
  // The checks that a client shares with the service: the client must not load the core.
  if (folder === 'input') return 'input';
  if (folder === 'client') return LATER_OF_CLIENT.test(path) ? null : 'connection';
  return SERVICE.includes(folder) ? 'service' : null;
}

/**
 * Puts together the modules of a package that lies in `folder`: an entry, what all of them share and the service are
 * a file each, so that a host that starts loads nine files in place of a hundred. `engine/wasm.js` stays by itself,
 * so that a bundler leaves the core out where only errors are told apart; so does each host's loader. All are without
 * blanks and comments; their names stay, for the sake of stack traces, and beside each lies its source map, except of
 * those {@link WITHOUT_MAP}.
 *
 * @param {string} folder
 */
export async function bundleInto(folder) {
  const { build } = await import('vite');
  const from = join(folder, 'src');
  const eager = eagerModules(from);
  /** @param {string} file */
  const pathOf = (file) => relative(from, file).replaceAll('\\', '/');
  /** @param {string} name */
  const stem = (name) => name.replace(/\.ts$/, '').replaceAll('\\', '/');
  await build({
    configFile: false,
    root: folder,
    publicDir: false,
    logLevel: 'error',
    plugins: [sqlFiles, { name: 'print', renderChunk: print, generateBundle: dropMaps }],
    build: {
      outDir: join(folder, 'dist'),
      emptyOutDir: false,
      target: 'es2022',
      minify: false,
      sourcemap: true,
      modulePreload: false,
      lib: {
        entry: Object.fromEntries(entryNames(from, '.ts').map((name) => [stem(name), join(from, name)])),
        formats: ['es'],
      },
      rolldownOptions: {
        external: [
          /^#load$/,
          /[\\/]wasm[\\/]statepad\w*\.(js|wasm)(\?module)?$/,
          /^@google\/adk/,
          /^react$/,
          /^node:/,
        ],
        // An entry may show what its file shares with others, under short names.
        preserveEntrySignatures: 'allow-extension',
        // None but the loaders and the guards of `engine/wasm`, which are never left out where they are imported.
        treeshake: false,
        output: {
          entryFileNames: '[name].js',
          // As deep as engine/, so that the way to the module is the same from both.
          chunkFileNames: 'chunks/[name].js',
          minify: false,
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [{ name: (file) => groupOf(pathOf(file), eager) }],
          },
        },
      },
    },
  });
}

/**
 * A script without comments and blanks, in lines that a terminal can show. Its names stay.
 *
 * @param {string} code @param {{ fileName: string }} chunk
 */
async function print(code, { fileName }) {
  const { transform } = await import('esbuild');
  const { code: printed, map } = await transform(code, {
    sourcefile: fileName,
    sourcemap: 'external',
    sourcesContent: false,
    ...printing,
  });
  return { code: printed.replace(/(?<![#.\w$])import\((?!["'`])/g, `import(${NOT_BUNDLED} `), map };
}

/**
 * The files without a source map: nobody steps through the store cases in a program, and theirs is a twentieth of all
 * that is published.
 */
const WITHOUT_MAP = ['testing.js'];

/** @param {unknown} _options @param {Record<string, { type: string, code?: string }>} files of a bundle */
function dropMaps(_options, files) {
  for (const name of WITHOUT_MAP) {
    delete files[`${name}.map`];
    const file = files[name];
    if (file?.code !== undefined) file.code = file.code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  }
}

/**
 * The comment before a name that is known at run time alone, such as that of a driver that may be installed: it is
 * looked for then, and by no bundler. esbuild leaves such comments out.
 */
const NOT_BUNDLED = '/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */';

/** The files of the inspector and of the page of servers, which scripts/inspector.mjs makes. */
const OF_INSPECTOR = /^(inspector(-[\w-]+)?\.js$|page[\\/])/;

async function bundle() {
  const isOwn = (/** @type {string} */ name) => /\.js(\.map)?$/.test(name) && !OF_INSPECTOR.test(name);
  const names = existsSync(dist) ? readdirSync(dist, { encoding: 'utf8', recursive: true }) : [];
  names.filter(isOwn).forEach((name) => rmSync(join(dist, name)));
  await bundleInto(inPackage());
  // As npm makes them when it installs the package: those of the tree lie there from before they are built.
  for (const name of runNames(dist)) chmodSync(join(dist, name), 0o755);
}
