// The recordings of the real service, asked of this server.

import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { SessionService } from 'statepad';
import { MISSING, recordings } from '../../vertex/recordings.mjs';
import { replay } from '../../vertex/replay.mjs';
import { openServer } from './server.mjs';
import { RECORDED } from './differences.mjs';

describe('the server answers as Agent Engine did', () => {
  const idle = new Set(RECORDED);
  const skip = recordings === undefined && MISSING;

  for (const recording of recordings ?? []) {
    test(`in the recording ${recording.name}, but for what is listed`, async () => {
      // A clock that moves on whenever it is read: which times are equal does not depend on the speed of the host.
      let time = Date.parse('2026-01-01T00:00:00Z');
      const clock = mock.method(Date, 'now', () => (time += 1));
      const open = () => openServer({ service: new SessionService({ now: () => Date.now() }) });
      const differences = await replay(recording, open).finally(() => clock.mock.restore());
      const unlisted = differences.filter((difference) => {
        const lines = RECORDED.filter((line) => isMeant(line, difference));
        lines.forEach((line) => idle.delete(line));
        return lines.length === 0;
      });
      assert.deepEqual(unlisted, []);
    });
  }

  test('in all that is not listed, and in nothing that is', { skip }, () => {
    assert.deepEqual([...idle], [], 'these lines do not differ');
    assert.ok(RECORDED.every(({ reason }) => reason.length > 20));
  });
});

function isMeant(line, { method, path }) {
  return matches(line.method, method) && matches(line.path, path);
}

/** True when a text is that of a pattern, in which a `*` stands for any text. */
function matches(pattern, text) {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text);
}
