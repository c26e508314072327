// Recordings of the real service, which lie beside the project where they are there at all.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const path = join(root, '..', 'shared', 'vertex', 'recordings.jsonl');

/** The recordings, `{ name, calls }`; `undefined` where there are none. */
export const recordings = existsSync(path)
  ? readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : undefined;

/** The reason of tests that are skipped without them. */
export const MISSING = 'skipped: no ../shared';
