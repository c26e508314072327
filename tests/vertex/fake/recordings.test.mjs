// Recordings of the real service, which lie beside the project where they are there at all. What they show for good
// is in tests/cases/vertex.json.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { replay } from './replay.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const path = join(root, '..', 'shared', 'vertex', 'recordings.jsonl');
const recordings = existsSync(path)
  ? readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : undefined;

describe('the fake answers as the service did', () => {
  if (recordings === undefined) {
    test('in every recording', { skip: 'skipped: no ../shared' }, () => undefined);
  }
  for (const recording of recordings ?? []) {
    test(`in the recording ${recording.name}`, () => replay(recording));
  }
});
