// The size of each entry, as docs/measurements.md has it: the table there is the budget.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { entrySizes } from '../../bench/size.mjs';

/** By how much a size may differ: other versions of the compilers write other bytes. */
const MORE = 1.03;
const LESS = 0.95;

const page = readFileSync(new URL('../../docs/measurements.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('\n## Sizes\n'));
const documented = new Map(
  Array.from(
    section.matchAll(/^\| `([^`]+)`(, [^|]+?)? +\| +([\d.]+) +\| +([\d.]+) +\|$/gm),
    ([, name, part, ...kB]) => [
      `${name}${part?.replaceAll('`', '') ?? ''}`,
      { first: Number(kB[0]), later: Number(kB[1]) },
    ],
  ),
);

describe('what a page loads', () => {
  let sizes;
  before(async () => {
    sizes = await entrySizes();
  });

  it('is documented for every entry', () => {
    assert.deepEqual(
      sizes.map(({ name }) => name),
      [...documented.keys()],
    );
  });

  for (const [name, { first }] of documented) {
    it(`of ${name}: about ${first} kB at first`, () => {
      const size = sizes.find((each) => each.name === name);
      const kB = size.first / 1000;
      assert.ok(kB <= first * MORE, `${kB} kB: make it smaller, or say in docs/measurements.md what is worth it`);
      assert.ok(kB >= first * LESS, `${kB} kB: the table in docs/measurements.md promises less than there is`);
    });
  }
});

describe('the inspector', () => {
  /** The most that it may have, in kB, brotli, without the renderer of Markdown, which is loaded at its first use. */
  const MOST = 90;
  const dist = new URL('../../pkg/dist/', import.meta.url);
  const scripts = readdirSync(dist).filter((name) => /^inspector(-[\w-]+)?\.js$/.test(name));
  const sizeOf = (name) => brotliCompressSync(readFileSync(new URL(name, dist))).length / 1000;

  it(`has less than ${MOST} kB without the renderer of Markdown`, (t) => {
    const first = scripts.filter((name) => !name.includes('markdown'));
    assert.ok(first.length > 1);
    const size = first.reduce((sum, name) => sum + sizeOf(name), 0);
    t.diagnostic(`${size.toFixed(1)} kB`);
    assert.ok(size < MOST, `${size} kB`);
  });
});
