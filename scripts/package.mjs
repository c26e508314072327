// The package in pkg/dist: the TypeScript of pkg/src put together into few modules, and its declarations.

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryNames, exportedNames } from './entries.mjs';
import { run } from './run.mjs';
import { filesUnder, remade } from './step.mjs';
import { root } from './tools.mjs';

const inPackage = (...path) => join(root, 'pkg', ...path);
const src = inPackage('src');
const dist = inPackage('dist');
/** All declarations, also of modules that are published in no type. */
const declared = join(root, 'target', 'declarations');
/** Declares what the sources import from the core. */
const coreTypes = inPackage('wasm', 'statepad.d.ts');

const inputs = (recipe) => [...filesUnder(src), inPackage('tsconfig.json'), inPackage('package.json'), ...recipe];

/**
 * Bundles the package when a source has changed since. Types are not looked at: that takes a second instead of ten.
 */
export async function bundlePackage(recipe) {
  await remade('pkg/dist', join(dist, '.made-from'), inputs(recipe), bundle);
}

/**
 * Checks the types of the package and writes the declarations that its entries need, when a source has changed since.
 */
export async function declarePackage(recipe) {
  const from = [...inputs(recipe), coreTypes];
  await remade('the declarations of pkg/dist', join(dist, '.declared-from'), from, () => {
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
    const isDeclaration = (name) => name.endsWith('.d.ts');
    if (existsSync(dist)) {
      for (const name of readdirSync(dist, { recursive: true }).filter(isDeclaration)) rmSync(join(dist, name));
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

/**
 * How esbuild puts together the modules of a package that lies in `folder`: which are files of their own, and what
 * stays outside.
 */
export function bundleOptions(folder) {
  const from = join(folder, 'src');
  return {
    entryPoints: entryNames(from, '.ts').map((name) => join(from, name)),
    outdir: join(folder, 'dist'),
    outbase: from,
    tsconfig: inPackage('tsconfig.json'),
    // As deep as engine/, so that the way to the module is the same from both.
    chunkNames: 'chunks/[hash]',
    external: ['#load', '../../wasm/*', '@google/adk', 'node:*'],
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
  };
}

/**
 * Puts the modules together: a host that starts loads four files in place of a hundred, in a third of the time.
 * `engine/wasm.js` stays by itself, so that a bundler leaves the core out where only errors are told apart; so does
 * each host's loader.
 */
async function bundle() {
  const { build } = await import('esbuild');
  const { default: ts } = await import('typescript');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(inPackage('tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    inPackage(),
  );
  // As tsc itself would do it, without looking at types: esbuild would leave the comments of members in.
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, declaration: false, removeComments: true };
  const translate = ({ path }) => ({
    contents: ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions, fileName: path }).outputText,
  });
  const typescript = { name: 'typescript', setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, translate) };
  const { outputFiles } = await build({
    ...bundleOptions(inPackage()),
    charset: 'utf8',
    legalComments: 'none',
    write: false,
    plugins: [typescript],
  });
  if (existsSync(dist)) {
    for (const name of readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.js')))
      rmSync(join(dist, name));
  }
  // Chunks have no effects but their exports; bundlers would wonder why one is imported without them.
  const clean = (text) => text.replace(/^\/\/ .*\.ts\n/gm, '').replace(/^import "[./]+\/(chunks\/)?\w+\.js";\n/gm, '');
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, clean(text));
  }
}
