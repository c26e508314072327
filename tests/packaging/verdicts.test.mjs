// The verdicts of tools that judge packages.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { publint } from 'publint';
import { pack, root, run } from './project.mjs';

const { exports: exported } = JSON.parse(readFileSync(join(root, 'pkg', 'package.json'), 'utf8'));

it('publint finds nothing to mend', async () => {
  const { path } = await pack();
  const bytes = readFileSync(path);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ pack: { tarball }, level: 'suggestion', strict: true });
  assert.deepEqual(messages, []);
});

it('the types are right for every way to import it that there is', async () => {
  const { path } = await pack();
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
  const printed = await run(process.execPath, [attw, path, '--profile', 'esm-only', '--format', 'json'], {
    cwd: root,
  });
  const { analysis } = JSON.parse(printed);
  assert.deepEqual(Object.keys(analysis.entrypoints).sort(), Object.keys(exported).sort());
  const supported = analysis.problems.filter(({ resolutionKind }) =>
    ['node16-esm', 'bundler'].includes(resolutionKind),
  );
  assert.deepEqual(supported, []);
});
