// The fingerprint of a layout: of the text that describes it, with all that is new each time taken out.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * Throws when `layout`, the fingerprint in the source, is not that of `description`.
 *
 * @param {string} layout @param {string} description
 */
export function assertLayout(layout, description) {
  const text = description.replaceAll(IDS, 'id').replaceAll(layout, 'layout');
  const found = createHash('sha256').update(text).digest('hex').slice(0, 8);
  assert.equal(layout, found, `the layout has changed: set LAYOUT to '${found}'`);
}
