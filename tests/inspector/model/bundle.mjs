// The inspector's model in Node: it needs no page.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The entries of the package, which the model imports as its files lie: the tests have the package itself. */
const ENTRIES = { index: 'statepad', client: 'statepad/client', store: 'statepad/store' };

/** @type {import('esbuild').Plugin} */
const packageItself = {
  name: 'the package itself',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/\.\.\/(index|client|store)\.js$/ }, ({ path }) => {
      const name = path.slice('../../'.length, -'.js'.length);
      return { path: import.meta.resolve(ENTRIES[/** @type {keyof typeof ENTRIES} */ (name)]), external: true };
    });
  },
};

/**
 * All names of some files of `pkg/src/inspector/model`.
 *
 * @param {...string} names without `.ts`
 */
export async function modelOf(...names) {
  const { outputFiles } = await build({
    stdin: {
      contents: names.map((name) => `export * from './${name}.js';`).join('\n'),
      resolveDir: fileURLToPath(new URL('../../../pkg/src/inspector/model', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'error',
    plugins: [packageItself],
  });
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`);
}
