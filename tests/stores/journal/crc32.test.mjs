// The two ways to count the checksum of a line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { build } from 'esbuild';

const entry = fileURLToPath(new URL('../../../pkg/src/stores/journal/crc32.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
const { crc32, countBy, countCrc32 } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

test('the checksum is that of zip and PNG, whoever counts it', () => {
  assert.equal(crc32('123456789'), 0xcbf43926);
  countBy(() => 7);
  assert.equal(crc32('123456789'), 7);
});

test('the checksum of any text, well-formed or not, is the one that Node counts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.string(), (unit, rest) => {
      for (const text of [unit, `${unit}\ud800${rest}`, `\udc00${rest}`, `${unit}\0\u{10ffff}${rest}`]) {
        assert.equal(countCrc32(text), zlib.crc32(text));
      }
    }),
  );
});
