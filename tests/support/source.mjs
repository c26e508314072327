// A source file of the package by itself: what is not exported can be held against cases, too.

import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

/** @param {string} name */
const pathOf = (name) => fileURLToPath(new URL(`../../pkg/src/${name}`, import.meta.url));

/**
 * The exports of a file of pkg/src, or of several; with a module of their own, where they need WebAssembly.
 *
 * @param {...string} names
 */
export async function source(...names) {
  const { outputFiles } = await build({
    stdin: {
      contents: names.map((name) => `export * from ${JSON.stringify(pathOf(name))};`).join('\n'),
      resolveDir: pathOf(''),
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    loader: { '.sql': 'text' },
    alias: { '#load': pathOf('engine/load.node.ts') },
    target: 'es2022',
    write: false,
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
