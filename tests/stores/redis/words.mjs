// Short words for these tests.

import assert from 'node:assert/strict';
import * as changes from '../../support/changes.js';

export { append, keyOf, update } from '../../support/changes.js';
export { numbersFrom as numbers } from '../../support/random.js';

export const context = { signal: new AbortController().signal };

export const create = (id, key, delta, time = 1_000) => changes.create(id, key, delta, { time });
export const values = (set) => ({ set });

/** Compares two answers, the order of names included; says no more than where they begin to differ. */
export function assertSame(actual, expected, what = '') {
  const [left, right] = [actual, expected].map((answer) =>
    JSON.stringify(answer, (_, value) =>
      value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value,
    ),
  );
  let place = 0;
  while (place < left.length && left[place] === right[place]) place++;
  const around = (text) => text.slice(Math.max(0, place - 100), place + 100);
  assert.ok(left === right, `${what} differs at ${place}:\n${around(left)}\nis not\n${around(right)}`);
}
