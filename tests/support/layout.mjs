// The fingerprint of a layout: so much of the hash of its description as a store keeps beside its version.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** Fails when the description of a layout has not the fingerprint that is in the source. */
export function assertLayout(description, layout) {
  const found = createHash('sha256').update(description).digest('hex').slice(0, 8);
  assert.equal(layout, found, `the layout has changed: set LAYOUT to '${found}'`);
}
