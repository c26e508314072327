// The module as text: what the build writes is read again by the loader, whatever bytes there are.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeModule, moduleScript } from '../../../scripts/module-text.mjs';
import { source } from '../../support/source.mjs';

const { decodeModule } = await source('engine/module-text.ts');

test('what was written as text is read as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      assert.deepEqual(decodeModule(encodeModule(bytes)), bytes);
    }),
  );
  const all = Uint8Array.from({ length: 65_536 }, (_, index) => index ^ (index >> 8));
  assert.deepEqual(decodeModule(encodeModule(all)), all);
});

test('the script has only characters that nobody has to escape', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  assert.match(moduleScript(bytes), /^(export const \w+ = ('[^'"`\\$<\n]*'|[\d,[\]]+);\n){4}$/);
  assert.match(moduleScript(bytes), /^[\n\x20-\x7e]*$/);
});

test('the script of the package is the module', async () => {
  const module = readFileSync(new URL('../../../pkg/wasm/statepad_bg.wasm', import.meta.url));
  const read = decodeModule(await import('../../../pkg/wasm/statepad_text.js'));
  assert.ok(module.equals(read));
});
