// The README's example runs as printed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));

test('the example prints what the README says', () => {
  const at = blocks.findIndex(({ language }) => language === 'js');
  // Inside of the repository, where `statepad` is found, and out of the way of its linters.
  const program = fileURLToPath(new URL('../../target/readme-example.mjs', import.meta.url));
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, blocks[at].text);
  try {
    const printed = execFileSync(process.execPath, [program], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    assert.equal(blocks[at + 1].language, 'text');
    assert.equal(printed, blocks[at + 1].text);
  } finally {
    rmSync(program);
  }
});
