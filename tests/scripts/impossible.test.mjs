// The places of the crate that answer cheaply in WebAssembly where its state cannot be: a new one is deliberate.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { filesUnder } from '../../scripts/step.mjs';
import { root } from '../../scripts/tools.mjs';

const PLACES = {
  'event.rs': 1,
  'ids.rs': 1,
  'json.rs': 2,
  'list/index.rs': 3,
  'list/page.rs': 2,
  'list/sorted.rs': 2,
  'native/in_memory/memory.rs': 5,
  'native/ledger.rs': 2,
  'native/rewind.rs': 1,
  'operator.rs': 1,
  'registry.rs': 2,
  'session_log.rs': 1,
  'text.rs': 2,
  'values.rs': 2,
  'wasm/service/memory.rs': 1,
};

test('each state that cannot be is known, with its reason', () => {
  const files = filesUnder(join(root, 'src')).filter(
    (file) => file.endsWith('.rs') && !file.endsWith('impossible.rs'),
  );
  const found = files.map((file) => {
    const uses = readFileSync(file, 'utf8').match(/\bor_impossible!\(/g) ?? [];
    return [relative(join(root, 'src'), file).replaceAll('\\', '/'), uses.length];
  });
  assert.deepEqual(Object.fromEntries(found.filter(([, count]) => count > 0)), PLACES);
});
