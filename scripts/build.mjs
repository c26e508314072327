// Builds the npm package in pkg/: the core as WebAssembly into pkg/wasm, the TypeScript into pkg/dist, and the documents
// that are published with them; then the page, into www/dist. What is up to date is left alone. `setup.mjs build` has installed what this needs.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { entryNames } from './entries.mjs';
import { page } from './page.mjs';
import { filesUnder, step } from './step.mjs';
import { publishedReadme } from './readme.mjs';
import { run } from './run.mjs';
import { cargoHome, env, root, wasmTarget } from './tools.mjs';

const inRoot = (...path) => join(root, ...path);
const wasm = (name) => inRoot('pkg', 'wasm', name);
/** What each step depends on besides its sources: how it is done, and by which versions of the tools. */
const recipe = [...filesUnder(inRoot('scripts')), inRoot('package-lock.json')];

const compiled = inRoot('target', wasmTarget, 'release', 'statepad.wasm');
compileCore();
await step('pkg/wasm', inRoot('pkg', 'wasm'), [compiled, ...recipe], bindCore);
await step(
  'pkg/dist',
  inRoot('pkg', 'dist'),
  [...filesUnder(inRoot('pkg', 'src')), inRoot('pkg', 'tsconfig.json'), inRoot('pkg', 'package.json'), wasm('statepad.d.ts'), ...recipe],
  compileTypeScript,
);
await step(
  'www/dist',
  inRoot('www', 'dist'),
  [...sourcesOfPage(), inRoot('pkg', 'dist', '.made-from'), wasm('.made-from'), inRoot('examples', 'conversations.jsonl'), ...recipe],
  buildPage,
);
writeFileSync(inRoot('pkg', 'README.md'), publishedReadme(readFileSync(inRoot('README.md'), 'utf8')));
for (const name of ['CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT'].filter((name) => existsSync(inRoot(name)))) {
  copyFileSync(inRoot(name), inRoot('pkg', name));
}

cpSync(inRoot('docs'), inRoot('pkg', 'docs'), { recursive: true });

/** Compiles the crate. A panic message names its source file: the paths of this machine are taken out of it. */
function compileCore() {
  console.log('build: the core');
  run('cargo', ['fetch', '--locked', '--quiet', '--target', wasmTarget]);
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, env, encoding: 'utf8' }).trim();
  const sources = join(cargoHome, 'registry', 'src');
  const registries = existsSync(sources) ? readdirSync(sources).map((name) => join(sources, name)) : [];
  // Of several that fit, the last one wins.
  const remapped = [
    [cargoHome, '/cargo'],
    ...registries.map((folder) => [folder, '/crates']),
    [sysroot, '/rust'],
    [root, '/statepad'],
  ];
  run(
    'cargo',
    ['build', '--locked', '--quiet', '--release', '--lib', '--target', wasmTarget, '--target-dir', inRoot('target')],
    { env: { ...env, CARGO_ENCODED_RUSTFLAGS: remapped.map(([from, to]) => `--remap-path-prefix=${from}=${to}`).join('\x1f') } },
  );
}

/** Generates the glue between JavaScript and the module, makes both small, and writes the module as text, too. */
async function bindCore() {
  run('wasm-bindgen', [
    '--target', 'web',
    '--omit-default-module-path',
    '--remove-producers-section',
    '--remove-name-section',
    '--out-name', 'statepad',
    '--out-dir', wasm(''),
    compiled,
  ]);
  // What rustc may use, and every host since 2022 understands.
  const features = ['bulk-memory', 'bulk-memory-opt', 'multivalue', 'mutable-globals', 'nontrapping-float-to-int', 'reference-types', 'sign-ext'];
  run(process.execPath, [
    inRoot('node_modules', 'binaryen', 'bin', 'wasm-opt'),
    ...features.map((feature) => `--enable-${feature}`),
    '-Os',
    wasm('statepad_bg.wasm'),
    '-o', wasm('statepad_bg.wasm'),
  ]);
  await minify(wasm('statepad.js'));

  const module = readFileSync(wasm('statepad_bg.wasm'));
  // Two digits a byte: unlike base64 they keep the bytes apart, so that a compressed bundle is a fifth smaller.
  writeFileSync(wasm('statepad_hex.js'), `export const hex = '${module.toString('hex')}';\n`);
  writeFileSync(wasm('statepad_hex.d.ts'), '/** The module as text, for a host that cannot read it from a file. */\nexport declare const hex: string;\n');
  console.log(`build: the module has ${module.length} bytes, ${brotliCompressSync(module).length} compressed`);
}

/** Checks and translates the TypeScript, and puts it together. Comments stay in the declarations, where editors show them. */
async function compileTypeScript() {
  const dist = inRoot('pkg', 'dist');
  rmSync(dist, { recursive: true, force: true });
  const tsc = (...args) => run(process.execPath, [inRoot('node_modules', 'typescript', 'bin', 'tsc'), '-p', inRoot('pkg'), ...args]);
  tsc('--emitDeclarationOnly');
  tsc('--noCheck', '--declaration', 'false', '--removeComments');
  await bundle(dist);
}

function sourcesOfPage() {
  return filesUnder(inRoot('www')).filter((file) => !file.startsWith(inRoot('www', 'dist')));
}

/** Puts the page together, from the package that was just built. */
async function buildPage() {
  const { build } = await import('vite');
  await build(page);
}

/**
 * Puts the modules together: a host that starts loads four files in place of a hundred, in a third of the time. `engine/wasm.js`
 * stays by itself, so that a bundler leaves the core out where only errors are told apart; so does each host's loader.
 */
async function bundle(dist) {
  const { build } = await import('esbuild');
  const modules = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.js'));
  const entries = entryNames(dist, '.js');
  const { outputFiles } = await build({
    entryPoints: entries.map((name) => join(dist, name)),
    outdir: dist,
    outbase: dist,
    // As deep as engine/, so that the way to the module is the same from both.
    chunkNames: 'chunks/[hash]',
    external: ['#load', '../../wasm/*', '@google/adk', 'node:*'],
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  });
  modules.forEach((name) => rmSync(join(dist, name)));
  // Chunks have no effects but their exports; bundlers would wonder why one is imported without them.
  const clean = (text) => text.replace(/^\/\/ .*\.js\n/gm, '').replace(/^import "[./]+\/(chunks\/)?\w+\.js";\n/gm, '');
  mkdirSync(join(dist, 'chunks'), { recursive: true });
  outputFiles.forEach(({ path, text }) => writeFileSync(path, clean(text)));
}

/** Prints a generated script anew, without its comments and blanks. Its names stay, for the sake of stack traces. */
async function minify(file) {
  const { transform } = await import('esbuild');
  const { code } = await transform(readFileSync(file, 'utf8'), {
    target: 'es2022',
    format: 'esm',
    charset: 'utf8',
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
  });
  writeFileSync(file, code);
}
