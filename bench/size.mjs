/**
 * The download of a browser: everything that the package exports, and the same two things of ADK, bundled and
 * minified.
 */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { importedNames } from './entries.mjs';

const OURS = "export * from 'statepad';";
const root = fileURLToPath(new URL('..', import.meta.url));
/** As ADK's users would write it. The function is exported nowhere: it comes from its own module, as on Node. */
const THEIRS = `
  export { InMemorySessionService } from '@google/adk';
  export { injectSessionState } from '@google/adk/dist/web/agents/instructions.js';
`;
/** The two modules alone, past the package's entry. */
const THEIR_MODULES = `
  export { InMemorySessionService } from '@google/adk/dist/web/sessions/in_memory_session_service.js';
  export { injectSessionState } from '@google/adk/dist/web/agents/instructions.js';
`;

/**
 * The bytes that a page loads at first, and those that it loads later, when it uses a store; and the modules that
 * esbuild cannot find for a browser. `external` are left out and not looked for.
 */
async function bundle(contents, external = [], plugins = []) {
  const { build } = await import('esbuild');
  try {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: root, loader: 'js' },
      bundle: true,
      splitting: true,
      outdir: 'out',
      metafile: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      legalComments: 'none',
      logLevel: 'silent',
      external,
      plugins,
    });
    const first = reachable(metafile.outputs, 'out/stdin.js');
    const join = (isFirst) =>
      Buffer.concat(
        Object.keys(metafile.outputs).flatMap((path, index) =>
          first.has(path) === isFirst ? [withoutHashes(outputFiles[index].text)] : [],
        ),
      );
    return { bytes: join(true), later: join(false), faults: [] };
  } catch (error) {
    return {
      bytes: undefined,
      faults: error.errors.map(({ text, location }) => `${text} in ${location?.file.split('node_modules/').at(-1)}`),
    };
  }
}

/** A file names others by the hashes of their contents: its size must not change with what is in those. */
const withoutHashes = (text) => Buffer.from(text.replaceAll(/-[A-Z0-9]{8}\.js\b/g, '.js'));

/** The module is text in a script of its own: without it, what is left are the scripts that people wrote. */
const withoutModule = {
  name: 'without-module',
  setup: ({ onLoad }) =>
    onLoad({ filter: /statepad_(primary|secondary)\.js$/ }, () => ({
      contents: "export const characters = '', frequent = [], length = 0, text = '';",
    })),
};

/** The files that a file imports at once, and itself. */
function reachable(outputs, path, paths = new Set()) {
  if (!paths.has(path)) {
    paths.add(path);
    outputs[path].imports
      .filter(({ kind }) => kind === 'import-statement')
      .forEach((each) => outputs[each.path] && reachable(outputs, each.path, paths));
  }
  return paths;
}

const brotli = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length;

const sizes = (bytes) => ({ raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli(bytes) });

/**
 * Raw, gzipped and brotlied bytes of both bundles, of what ours loads later (for a store, for histories), of its first
 * load without the module, and of the module alone.
 * If ADK's entry does not bundle, `faults` says why, and its bytes are those of the two modules alone with every
 * module of Node left out: they would not run.
 */
export async function bundleSizes() {
  const [ours, script, theirs] = [await bundle(OURS), await bundle(OURS, [], [withoutModule]), await bundle(THEIRS)];
  if (ours.bytes === undefined) throw new Error(ours.faults[0]);
  const rest = theirs.bytes ?? (await bundle(THEIR_MODULES, [...builtinModules, 'node:*'])).bytes;
  const module = readFileSync(new URL('../target/core/primary.wasm', import.meta.url));
  return {
    statepad: sizes(ours.bytes),
    later: sizes(ours.later),
    module: sizes(module),
    script: sizes(script.bytes),
    adk: rest && sizes(rest),
    faults: theirs.faults,
  };
}

/** A page that keeps sessions in memory and uses nothing else of the package. */
const SERVICE_ALONE = 'statepad, SessionService alone';

/**
 * The first load of a page for each entry that it may import, and the later loads, in bytes, brotli. The kits and
 * drivers that an entry serves are not counted.
 *
 * @returns {Promise<{ name: string, first: number, later: number }[]>}
 */
export async function entrySizes() {
  const imports = [
    [SERVICE_ALONE, "export { SessionService } from 'statepad';"],
    ...importedNames().map((name) => [name, `export * from '${name}';`]),
  ];
  const { peerDependencies } = JSON.parse(readFileSync(new URL('../pkg/package.json', import.meta.url), 'utf8'));
  const foreign = Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]);
  const sizes = [];
  for (const [name, text] of imports) {
    const { bytes, later, faults } = await bundle(text, [
      ...builtinModules,
      'node:*',
      'bun:*',
      'cloudflare:*',
      ...foreign,
    ]);
    if (bytes === undefined) throw new Error(`${name}: ${faults[0]}`);
    sizes.push({ name, first: brotli(bytes), later: later.length === 0 ? 0 : brotli(later) });
  }
  return sizes;
}
