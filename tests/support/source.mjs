// Modules of the package that are no export, for tests of what is inside.

import { build } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What a module of the sources exports, bundled with all that it imports. */
export async function moduleOf(path) {
  const entryPoints = [join(root, path)];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', platform: 'neutral', write: false });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
