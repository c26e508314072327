// Reading what `service.watch` tells.

import assert from 'node:assert/strict';

/**
 * The next so many changes.
 *
 * @template T
 * @param {AsyncIterator<T>} changes @param {number} count
 */
export async function take(changes, count) {
  const told = [];
  while (told.length < count) {
    const { done, value } = await changes.next();
    assert.ok(!done, `it ended after ${told.length} of ${count} changes`);
    told.push(value);
  }
  return told;
}

/**
 * All changes until one makes `isEnough` true, which is the last.
 *
 * @template T
 * @param {AsyncIterator<T>} changes @param {(change: T) => boolean} isEnough
 */
export async function takeUntil(changes, isEnough) {
  const told = [];
  for (;;) {
    const [change] = await take(changes, 1);
    told.push(change);
    if (isEnough(change)) {
      return told;
    }
  }
}

/**
 * The changes, as short as can be: a revision, a position, or the type.
 *
 * @param {{ type: string, revision?: number, position?: number }[]} told
 */
export const brief = (told) =>
  told.map(({ type, revision, position }) => (type === 'event' ? revision : (position ?? type)));

/**
 * Returns true if a promise is settled within some milliseconds.
 *
 * @param {Promise<unknown>} promise
 */
export async function settles(promise, time = 30) {
  const late = Symbol('late');
  return (await Promise.race([promise, new Promise((resolve) => setTimeout(resolve, time, late))])) !== late;
}

/**
 * Applies a change of values to a record of them.
 *
 * @param {Record<string, unknown>} values @param {{ delta: Record<string, unknown> }} change
 * @param {(value: unknown) => boolean} isDeleted
 */
export function applied(values, { delta }, isDeleted) {
  const after = { ...values };
  for (const [key, value] of Object.entries(delta)) {
    if (isDeleted(value)) {
      delete after[key];
    } else {
      after[key] = value;
    }
  }
  return after;
}
