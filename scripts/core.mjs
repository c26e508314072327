// The core as WebAssembly: compiled from the crate, and put into pkg/wasm with what JavaScript needs to call it.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { printing } from './printing.mjs';
import { run } from './run.mjs';
import { filesUnder, hashOf, step } from './step.mjs';
import { cargoHome, env, inRoot, root, wasmTarget } from './tools.mjs';
import { MODULE_DECLARATIONS, moduleScript } from './module-text.mjs';

/** @param {string} name */
const wasm = (name) => inRoot('pkg', 'wasm', name);
const compiled = inRoot('target', wasmTarget, 'release', 'statepad.wasm');
/** The crate as the package needs it. */
const PACKAGE = ['--no-default-features', '--features', 'package'];
/** Functions of up to this cost, as LLVM counts it, go into each of their callers; those with a hint as usual. */
const INLINED = 50;
/**
 * The functions that a panic ends in. What they tell reaches nobody: no host gets a text from this module, it is told
 * that the module has ended. So they end it at once, and what makes their texts is left out.
 */
const PANICS =
  /panicking::panic|unwrap_failed|expect_failed|assert_failed|slice_index_fail|str::slice_error_fail|capacity_overflow|raw_vec::handle_error|handle_alloc_error|__rust_alloc_error_handler/;
/**
 * The functions that make formatted texts. Nothing else may use them: `src/text.rs` and `concat` make the texts of
 * errors, in a twentieth of the size.
 */
const FORMATTING = /\b(core|alloc)(\[\w+\])?::fmt::/;
/** Names the sources of Rust that pkg/wasm was built from: to compare with them needs no compiler. */
const sourcesMark = wasm('.built-from-rust');

/**
 * Compiles the core, and generates pkg/wasm anew when the module has changed or the `recipe`, the files that say how.
 *
 * @param {string[]} recipe
 */
export async function buildCore(recipe) {
  compileCore();
  await step({ name: 'pkg/wasm', seconds: 15 }, wasm(''), [compiled, ...recipe], bindCore);
  writeFileSync(sourcesMark, rustSources());
}

/**
 * Says whether pkg/wasm is there and was built from the current Rust.
 *
 * @returns {'current' | 'stale' | 'missing'}
 */
export function stateOfCore() {
  if (!existsSync(wasm('.made-from')) || !existsSync(sourcesMark)) return 'missing';
  return readFileSync(sourcesMark, 'utf8') === rustSources() ? 'current' : 'stale';
}

function rustSources() {
  return hashOf([
    inRoot('Cargo.toml'),
    inRoot('Cargo.lock'),
    ...filesUnder(inRoot('src')).filter((file) => file.endsWith('.rs')),
  ]);
}

/**
 * Compiles the crate: smaller than a release of it would be for others, and about as fast. A panic message names its
 * source file: the paths of this machine are taken out of it.
 */
function compileCore() {
  if (stateOfCore() !== 'current') {
    console.log('build: the core, which takes about a minute at first, and half of that when the Rust has changed');
  }
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
    [
      'build',
      '--locked',
      '--quiet',
      '--release',
      '--lib',
      ...PACKAGE,
      '--config',
      'profile.release.opt-level=2',
      '--target',
      wasmTarget,
      '--target-dir',
      inRoot('target'),
    ],
    {
      env: {
        ...env,
        CARGO_ENCODED_RUSTFLAGS: [
          ...remapped.map(([from, to]) => `--remap-path-prefix=${from}=${to}`),
          `-Cllvm-args=--inline-threshold=${INLINED}`,
        ].join('\x1f'),
      },
    },
  );
}

/** Generates the glue between JavaScript and the module, makes both small, and writes the module as text, too. */
async function bindCore() {
  run('wasm-bindgen', [
    '--target',
    'web',
    '--omit-default-module-path',
    '--remove-producers-section',
    '--out-name',
    'statepad',
    '--out-dir',
    wasm(''),
    compiled,
  ]);
  // The features that rustc may use, and every host since 2022 understands.
  const features = [
    'bulk-memory',
    'bulk-memory-opt',
    'multivalue',
    'mutable-globals',
    'nontrapping-float-to-int',
    'reference-types',
    'sign-ext',
  ];
  await endAtPanics(wasm('statepad_bg.wasm'));
  run(process.execPath, [
    inRoot('node_modules', 'binaryen', 'bin', 'wasm-opt'),
    ...features.map((feature) => `--enable-${feature}`),
    ...[
      '--one-caller-inline-max-function-size=1',
      '-O4',
      '--flatten',
      '--rereloop',
      '-Oz',
      '-Oz',
      '--strip-debug',
      '--strip-target-features',
    ],
    wasm('statepad_bg.wasm'),
    '-o',
    wasm('statepad_bg.wasm'),
  ]);
  await minify(wasm('statepad.js'));

  const module = readFileSync(wasm('statepad_bg.wasm'));
  writeFileSync(wasm('statepad_text.js'), moduleScript(module));
  writeFileSync(wasm('statepad_text.d.ts'), MODULE_DECLARATIONS);
  // For Node, which reads it by one call: nobody downloads it with a page.
  writeFileSync(wasm('statepad_hex.js'), `export const hex = '${module.toString('hex')}';\n`);
  writeFileSync(
    wasm('statepad_hex.d.ts'),
    '/** The module as text, for a host that cannot read it from a file. */\nexport declare const hex: string;\n',
  );
  console.log(`build: the module has ${module.length} bytes, ${brotliCompressSync(module).length} compressed`);
}

/**
 * Makes panics end the module, without a text. The names of functions are in the module still.
 *
 * @param {string} file
 */
async function endAtPanics(file) {
  const { default: binaryen } = await import('binaryen');
  // Its types have the functions in a module, where they are not.
  const { Function: inModule } = /** @type {typeof binaryen & Pick<import('binaryen').default.Module, 'Function'>} */ (
    binaryen
  );
  const module = binaryen.readBinary(readFileSync(file));
  const functions = Array.from({ length: module.getNumFunctions() }, (_, place) => module.getFunctionByIndex(place));
  /** @param {RegExp} pattern */
  const named = (pattern) => functions.filter((each) => pattern.test(binaryen.getFunctionInfo(each).name));
  const [panics, formatting] = [named(PANICS), named(FORMATTING)];
  if (panics.length === 0) throw new Error('the module has no function of a panic: are their names called otherwise?');
  for (const each of panics) inModule.setBody(each, module.unreachable());
  const callers = module
    .emitText()
    .split(/^ \(func /m)
    .filter((text) => !FORMATTING.test(text.split('\n')[0]) && text.split('\n').some(isFormatting))
    .map((text) => text.split('\n')[0]);
  if (callers.length > 0) {
    throw new Error(`the module has texts made by core::fmt, which the build leaves out, in ${callers.join(', ')}`);
  }
  for (const each of formatting) inModule.setBody(each, module.unreachable());
  writeFileSync(file, module.emitBinary());
  module.dispose();
}

/** @param {string} line */
const isFormatting = (line) => /\(call \$/.test(line) && FORMATTING.test(line);

/**
 * The objects that the generated script makes as soon as it is imported. A host that lacks one must not fail then: the
 * package reports it to its callers, in `pkg/src/engine/loading.ts`.
 */
const AT_IMPORT = ['TextDecoder', 'TextEncoder'];

/**
 * Prints a generated script anew, without its comments and blanks. Its names stay, for the sake of stack traces; those
 * by the numbers of an enum do not.
 *
 * @param {string} file
 */
async function minify(file) {
  const { transform } = await import('esbuild');
  const { code } = await transform(readFileSync(file, 'utf8'), {
    ...printing,
    minifySyntax: true,
    define: Object.fromEntries(AT_IMPORT.map((name) => [name, `Host${name}`])),
    banner: AT_IMPORT.map((name) => `const Host${name}=globalThis.${name}??class{decode(){}};`).join(''),
  });
  /** @param {string} text */
  const ofNumbers = (text) => text.replace(/,\s*(?:\d+|"-?\d+"):"\w+"/g, '');
  writeFileSync(file, code.replace(/Object\.freeze\(\{[^{}]*\}\)/g, ofNumbers));
}
