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

test('the scripts of the package are two modules: the primary one has all that the secondary one imports', async () => {
  const [primary, secondary] = await Promise.all(
    ['primary', 'secondary'].map(async (part) => {
      const text = await import(`../../../pkg/wasm/statepad_${part}.js`);
      return new WebAssembly.Module(decodeModule(text));
    }),
  );
  const exported = WebAssembly.Module.exports(primary).map(({ name, kind }) => `primary ${kind} ${name}`);
  const imported = WebAssembly.Module.imports(secondary).map(({ module, name, kind }) => `${module} ${kind} ${name}`);
  assert.ok(imported.length > 10);
  assert.deepEqual(
    imported.filter((each) => !exported.includes(each)),
    [],
  );
  const whole = new WebAssembly.Module(readFileSync(new URL('../../../pkg/wasm/statepad_bg.wasm', import.meta.url)));
  const named = [primary, secondary].flatMap((part) => WebAssembly.Module.exports(part).map(({ name }) => name));
  assert.deepEqual(
    WebAssembly.Module.exports(whole)
      .map(({ name }) => name)
      .filter((name) => !named.includes(name)),
    [],
  );
});
