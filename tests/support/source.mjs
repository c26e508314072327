// A source file of the package by itself: what is not exported can be held against cases, too.

import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

/** The exports of a file of pkg/src that needs no WebAssembly. */
export async function source(name) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../pkg/src/${name}`, import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
