// The README's example runs as printed, and the figures in its third line are those of this tree.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));

test('the example prints what the README says', () => {
  const at = blocks.findIndex(({ language }) => language === 'js');
  const program = fileURLToPath(new URL('readme-example.mjs', import.meta.url));
  writeFileSync(program, blocks[at].text);
  try {
    const printed = execFileSync(process.execPath, [program], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' } });
    assert.equal(blocks[at + 1].language, 'text');
    assert.equal(printed, blocks[at + 1].text);
  } finally {
    rmSync(program);
  }
});
