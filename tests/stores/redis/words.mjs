// Short words for these tests.

import assert from 'node:assert/strict';

export const context = { signal: new AbortController().signal };

export function keyOf(sessionId, userId = 'user', appName = 'app') {
  return { appName, userId, sessionId };
}

export function create(id, key, delta = {}, time = 1_000) {
  return { id, kind: 'create', key, time, delta };
}

export function append(id, key, delta = {}, more = {}) {
  const { time = 1_000, data = JSON.stringify({ id }), ...rest } = more;
  return { id, kind: 'append', key, time, event: { id, time, data }, delta, ...rest };
}

export function update(id, key, delta, more = {}) {
  return { id, kind: 'update', key, time: 1_000, delta, ...more };
}

/** A delta that sets these values. */
export const values = (set) => ({ set });

export { numbersFrom as numbers } from '../../support/random.js';

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
