// The core as WebAssembly: compiled from the crate, and put into pkg/wasm with what JavaScript needs to call it.

import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { printing } from './printing.mjs';
import { run } from './run.mjs';
import { filesUnder, hashOf, step } from './step.mjs';
import { cargoHome, env, inRoot, root, wasmTarget } from './tools.mjs';
import { MODULE_DECLARATIONS, moduleScript } from './module-text.mjs';
import { splitModule } from './split-module.mjs';

/** @param {string} name */
const wasm = (name) => inRoot('pkg', 'wasm', name);
const compiled = inRoot('target', wasmTarget, 'release', 'statepad.wasm');
/** The crate as the package needs it. */
const PACKAGE = ['--no-default-features', '--features', 'package'];
/** Functions of up to this cost, as LLVM counts it, go into each of their callers; those with a hint as usual. */
const INLINED = 50;
/**
 * The functions that a panic ends in. Their messages reach nobody: a host gets no text from this module, only the news
 * that the module has ended. So they end it at once, and the code that makes their texts is left out.
 */
const PANICS =
  /panicking::panic|unwrap_failed|expect_failed|assert_failed|slice_index_fail|str::slice_error_fail|capacity_overflow|raw_vec::handle_error|handle_alloc_error|__rust_alloc_error_handler/;
/**
 * The functions that make formatted texts. Nothing else may use them: `src/text.rs` and `concat` make the texts of
 * errors, in a twentieth of the size.
 */
const FORMATTING = /\b(core|alloc)(\[\w+\])?::fmt::/;
/** Texts of the standard library that those functions alone read, and the paths of source files. */
const PANIC_TEXTS =
  /\/(?:rustc\/[0-9a-f]{40}|rust|crates)\/[\w./-]+?\.rs|src\/[\w/]+\.rs|called `(?:Option|Result)::unwrap\(\)` on an? `\w+` value|attempt to join into collection with len > usize::MAX|Hash table capacity overflow|cannot access a Thread Local Storage value during or after destruction: |RefCell already (?:mutably )?borrowed|(?:slice index starts|range start index|range end index|insertion index \(is|removal index \(is|Tried to shrink to a larger capacity)(?: at)? ?| ?index out of bounds: the len is | out of range for slice of length /g;
/**
 * The functions that browsers load at the first need: histories and rewinding, pages of sessions, updates outside of
 * sessions, and those that only sessions of a store use. `wholeCore` in `pkg/src/engine/wasm.ts` waits for it.
 */
const SECONDARY = {
  exports:
    /^(?:historylog_|__wbg_historylog_free$|rewind_events$|core_(?:list|cursor|prepare_update|restore|replace|forget)$)/,
  // Lists are kept in order only after a first page.
  indirect:
    /::wasm::package::history::|::list::page::|::sessions::Sessions<\(\)>>::list::|::list::sorted::Sorted>::(?:insert|remove)"|::list::index::ListIndex>::change::/,
};
/** The features that rustc may use, and every host since 2022 understands. */
const FEATURES = [
  'bulk-memory',
  'bulk-memory-opt',
  'multivalue',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'sign-ext',
];
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
          // The names of closures say whose they are: see `SECONDARY`.
          '-Csymbol-mangling-version=v0',
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
  await endAtPanics(wasm('statepad_bg.wasm'));
  const named = intermediate('named.wasm');
  optimize(wasm('statepad_bg.wasm'), named, [
    '--debuginfo',
    '--one-caller-inline-max-function-size=1',
    '-O4',
    '--flatten',
    '--rereloop',
    '-Oz',
    '-Oz',
    '--strip-target-features',
  ]);
  optimize(named, wasm('statepad_bg.wasm'), ['--strip-debug']);
  forgetPanicTexts(wasm('statepad_bg.wasm'));
  const { exported } = await splitForBrowsers(named);
  await minify(wasm('statepad.js'), exported);

  // For Node, which reads it by one call: nobody downloads it with a page.
  const module = readFileSync(wasm('statepad_bg.wasm'));
  writeFileSync(wasm('statepad_hex.js'), `export const hex = '${module.toString('hex')}';\n`);
  writeFileSync(
    wasm('statepad_hex.d.ts'),
    '/** The module as text, for a host that cannot read it from a file. */\nexport declare const hex: string;\n',
  );
  console.log(`build: the module has ${sizeOf(module)}`);
}

/** @param {string} name */
function intermediate(name) {
  mkdirSync(inRoot('target', 'core'), { recursive: true });
  return inRoot('target', 'core', name);
}

/**
 * @param {string} from a module or its text
 * @param {string} to
 * @param {readonly string[]} passes
 */
function optimize(from, to, passes) {
  const optimizer = inRoot('node_modules', 'binaryen', 'bin', 'wasm-opt');
  run(process.execPath, [optimizer, ...FEATURES.map((feature) => `--enable-${feature}`), ...passes, from, '-o', to]);
}

/**
 * Overwrites the texts of panics, which no function reads any more, with zeros: these take no room when compressed.
 *
 * @param {string} file
 */
function forgetPanicTexts(file) {
  const text = readFileSync(file, 'latin1');
  writeFileSync(
    file,
    text.replace(PANIC_TEXTS, (dead) => '\0'.repeat(dead.length)),
    'latin1',
  );
}

/**
 * Writes the two modules that browsers load, each as the text of a script.
 *
 * @param {string} named the whole module, with the names of its functions
 */
async function splitForBrowsers(named) {
  const { default: binaryen } = await import('binaryen');
  binaryen.setDebugInfo(true);
  const whole = binaryen.readBinary(readFileSync(named));
  const { exported, ...parts } = splitModule(whole.emitText(), SECONDARY);
  whole.dispose();
  for (const [part, text] of Object.entries(parts)) {
    const [source, file] = [intermediate(`${part}.wat`), intermediate(`${part}.wasm`)];
    writeFileSync(source, text);
    optimize(source, file, ['-Oz', '--strip-debug']);
    forgetPanicTexts(file);
    const module = readFileSync(file);
    writeFileSync(wasm(`statepad_${part}.js`), moduleScript(module));
    writeFileSync(wasm(`statepad_${part}.d.ts`), MODULE_DECLARATIONS);
    console.log(`build: the ${part} module of browsers has ${sizeOf(module)}`);
  }
  return { exported };
}

/** @param {Uint8Array} bytes */
const sizeOf = (bytes) => `${bytes.length} bytes, ${brotliCompressSync(bytes).length} compressed`;

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
  binaryen.setDebugInfo(true);
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
 * Lets the glue call functions of the secondary module: until it is there, those of the whole one. `initSync` and its
 * like set `wasm`.
 */
const COMPLETION = 'let secondary;export function completeWith(exports){secondary=exports}';
const COMPLETION_DECLARATION = `
/** Calls what the primary module lacks in the secondary one, by its exports. */
export function completeWith(exports: WebAssembly.Exports): void;
`;

/**
 * Prints a generated script anew, without its comments and blanks. Its names stay, for the sake of stack traces; those
 * by the numbers of an enum do not.
 *
 * @param {string} file
 * @param {readonly string[]} secondary the exports of the secondary module
 */
async function minify(file, secondary) {
  const { transform } = await import('esbuild');
  const glue = readFileSync(file, 'utf8').replace(
    new RegExp(`\\bwasm\\.(${secondary.join('|')})\\b`, 'g'),
    '(secondary ?? wasm).$1',
  );
  const { code } = await transform(`${glue}\n${COMPLETION}`, {
    ...printing,
    minifySyntax: true,
    define: Object.fromEntries(AT_IMPORT.map((name) => [name, `Host${name}`])),
    banner: AT_IMPORT.map((name) => `const Host${name}=globalThis.${name}??class{decode(){}};`).join(''),
  });
  /** @param {string} text */
  const ofNumbers = (text) => text.replace(/,\s*(?:\d+|"-?\d+"):"\w+"/g, '');
  writeFileSync(file, code.replace(/Object\.freeze\(\{[^{}]*\}\)/g, ofNumbers));
  appendFileSync(file.replace(/\.js$/, '.d.ts'), COMPLETION_DECLARATION);
}
