// Operators, as they are written in deltas.

import { admitValue } from './admit.js';
import { StatepadError } from '../model/errors.js';
import { describe } from '../model/value-types.js';
import { OperatorWrite } from '../model/operator-write.js';
import type { Json } from '../model/types.js';

/**
 * In a delta, adds to a number: `{ 'app:visits': increment() }`. A missing key counts as 0. It is resolved against the
 * value at commit, so that increments of any number of writers add up. Throws `INVALID_ARGUMENT` unless `by` is a
 * finite number.
 */
export function increment(by = 1): OperatorWrite {
  if (!Number.isFinite(by)) {
    throw new StatepadError('INVALID_ARGUMENT', `by must be a finite number, not ${describe(by)}`, { path: 'by' });
  }
  return new OperatorWrite({ increment: by + 0 });
}

/**
 * In a delta, adds items to the end of a list: `{ notes: append('tides') }`. A missing key counts as an empty list.
 * Throws `VALUE_NOT_JSON`.
 */
export function append(...items: readonly unknown[]): OperatorWrite {
  return new OperatorWrite({ append: admitValue(items, 'items') as readonly Json[] });
}

/** In a delta, sets a key if it is missing; `null` is a value. Throws `VALUE_NOT_JSON`. */
export function setOnce(value: unknown): OperatorWrite {
  return new OperatorWrite({ setOnce: admitValue(value, 'value') });
}

/**
 * In a delta, sets a key to `value` if it has the value `expected`, compared as `JSON.stringify` writes both;
 * `undefined` expects a missing key. Otherwise nothing of the delta is written: `STATE_CONFLICT`, with the `key`.
 * Throws `VALUE_NOT_JSON`.
 */
export function compareAndSet(expected: unknown, value: unknown): OperatorWrite {
  const before = expected === undefined ? {} : { expected: admitValue(expected, 'expected') };
  return new OperatorWrite({ compareAndSet: Object.freeze({ ...before, value: admitValue(value, 'value') }) });
}
