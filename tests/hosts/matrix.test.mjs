// The table of docs/hosts.md has the rows that the suites of the hosts fill, and no other.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { blocksOf } from '../docs/pages.mjs';
import { ROWS, page, rowsOf, withTable } from './matrix.mjs';

test('every row of the table is filled by a suite, which is there', async () => {
  const text = readFileSync(page, 'utf8');
  assert.deepEqual(
    rowsOf(text).map(([row]) => row),
    Object.values(ROWS).flat(),
  );
  for (const [row, verdict] of rowsOf(text)) assert.match(verdict, /^(works$|works with .|fails: .)/, row);
  assert.equal(withTable(text, {}), text);
  for (const suite of Object.keys(ROWS)) assert.ok(sourceOf(suite).includes(`seenBy('${suite}')`), suite);
});

test('every section with a block is one whose blocks a suite runs', () => {
  const sources = Object.keys(ROWS).map(sourceOf).join('');
  const blocks = blocksOf(readFileSync(page, 'utf8'));
  assert.ok(blocks.length > 10);
  for (const { heading, language, code } of blocks) {
    const read = { sh: 'commandsOf', text: 'headerOf' }[language] ?? 'filesOf';
    assert.ok(sources.includes(`${read}('${heading}')`), `${heading}: ${code}`);
  }
});

function sourceOf(suite) {
  return readFileSync(new URL(`./${suite}/${suite}.test.mjs`, import.meta.url), 'utf8');
}
