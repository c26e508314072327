// The recordings of the real service, asked of the fake. What they show for good is in tests/cases/vertex.json.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { MISSING, recordings } from '../recordings.mjs';
import { replay } from '../replay.mjs';

describe('the fake answers as the service did', () => {
  if (recordings === undefined) {
    test('in every recording', { skip: MISSING }, () => undefined);
  }
  for (const recording of recordings ?? []) {
    test(`in the recording ${recording.name}`, async () => assert.deepEqual(await replay(recording, open), []));
  }
});

function open(projects) {
  const { fetch, disturb } = fakeVertexAi({ projects });
  return { fetch, pending: (polls) => disturb({ kind: 'pending', polls }) };
}
