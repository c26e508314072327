// Programs under zone.js: its promises are not those of async functions, and `instanceof Promise` is false for these.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const { stdout } = await promisify(execFile)(process.execPath, [`${import.meta.dirname}/zone-js-child.mjs`], {
  maxBuffer: 1 << 24,
});
const { isReplaced, functions, targets, places, unhandled, heard } = JSON.parse(stdout);

test('zone.js has taken the place of the global promise, and nothing was thrown where nobody listens', () => {
  assert.equal(isReplaced, true);
  assert.deepEqual({ unhandled, heard }, { unhandled: [], heard: [] });
});

for (const [place, sides] of Object.entries(places)) {
  describe(place, () => {
    for (const [side, { counted, refused, rendered, handle, stored, revision }] of Object.entries(sides)) {
      const where = side === 'inside' ? 'in a zone of its own' : 'in the outermost zone';

      test(`every update counts, whatever its function answers with: ${where}`, () => {
        const updates = functions * (targets + 1);
        assert.deepEqual(
          counted,
          Array.from({ length: updates }, (_, index) => index + 1),
        );
        assert.equal(stored['app:n'], updates);
        // Those of the session, one after the other and at once, and two events.
        assert.equal(revision, functions * 2 + 2);
      });

      test(`answers of agents are taken over, and asked to be awaited where they have to be: ${where}`, () => {
        assert.equal(refused, 'INVALID_ARGUMENT');
        const { text, parsed, awaited, 'user:own': own } = stored;
        assert.deepEqual(
          { text, parsed, awaited, own },
          { text: '{"a": 1}', parsed: { a: 1 }, awaited: { a: 1 }, own: true },
        );
        assert.deepEqual(handle, stored);
      });

      test(`texts that come later are awaited: ${where}`, () => {
        assert.deepEqual(rendered, ['a promise', '{"a": 1} <f>']);
      });
    }
  });
}
