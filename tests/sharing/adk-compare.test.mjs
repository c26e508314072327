// A small run of what adk-compare.mjs measures: ours loses and refuses nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './adk-compare.mjs';

test('two processes lose nothing, and nothing is refused; of ADK, every append is told done or refused', async () => {
  const rows = await compare(20);
  console.table(rows);
  assert.ok(rows.length === 12 || rows.length === 6);
  for (const { service, asked, acknowledged, rejected, lost } of rows) {
    assert.equal(acknowledged + rejected, asked);
    if (service === 'statepad') {
      assert.deepEqual({ acknowledged, lost }, { acknowledged: 40, lost: 0 });
    }
  }
});
