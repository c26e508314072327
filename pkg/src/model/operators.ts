// Operators: writes that are resolved against the value at commit. The same rules as in the core (src/operator.rs).

import { isList, isPlain } from './value-types.js';
import type { Json } from './types.js';

/**
 * An operation on the value of a key, as JSON:
 *
 * - `increment`: adds a number, as IEEE doubles do; a missing key counts as 0
 * - `append`: adds items to the end of a list; a missing key counts as an empty list
 * - `setOnce`: sets the key if it is missing; `null` is a value
 * - `compareAndSet`: sets the key to `value` if it has the value `expected`, as `JSON.stringify` writes both; without
 *   `expected`: if it is missing
 */
export type Operator =
  | { readonly increment: number }
  | { readonly append: readonly Json[] }
  | { readonly setOnce: Json }
  | { readonly compareAndSet: { readonly expected?: Json; readonly value: Json } };

/** True when JSON is a known operator. */
export function isOperator(json: unknown): json is Operator {
  if (!isPlain(json)) {
    return false;
  }
  const [name, ...rest] = Object.keys(json);
  if (rest.length > 0) {
    return false;
  }
  switch (name) {
    case 'increment':
      return Number.isFinite(json[name]);
    case 'append':
      return isList(json[name]);
    case 'setOnce':
      return json[name] !== undefined;
    case 'compareAndSet':
      return isComparison(json[name]);
    default:
      return false;
  }
}

function isComparison(json: unknown): boolean {
  return (
    isPlain(json) &&
    json['value'] !== undefined &&
    Object.keys(json).every((member) => member === 'value' || member === 'expected')
  );
}

/** The names of the operators. */
export type OperatorName = 'increment' | 'append' | 'setOnce' | 'compareAndSet';

/** The reason why an operator does not fit the current value. */
export type OperatorFault =
  /** `compareAndSet`: the value differs. A new attempt may succeed: a conflict. */
  | 'changed'
  /** `increment` of a value that is no number, or `append` to one that is no list. */
  | 'kind'
  /** `increment` beyond what a double holds. */
  | 'overflow';

/** The value after an operator, or the fault. `undefined` stands for a missing key. */
export function resolveOperator(
  operator: Operator,
  current: Json | undefined,
): { readonly value: Json } | { readonly fault: OperatorFault } {
  if ('increment' in operator) {
    if (current !== undefined && typeof current !== 'number') {
      return { fault: 'kind' };
    }
    const value = (current ?? 0) + operator.increment;
    // JSON has no minus zero.
    return Number.isFinite(value) ? { value: value + 0 } : { fault: 'overflow' };
  }
  if ('append' in operator) {
    if (current !== undefined && !Array.isArray(current)) {
      return { fault: 'kind' };
    }
    return { value: [...((current ?? []) as readonly Json[]), ...operator.append] };
  }
  if ('setOnce' in operator) {
    return { value: current === undefined ? operator.setOnce : current };
  }
  const { expected, value } = operator.compareAndSet;
  return JSON.stringify(current) === JSON.stringify(expected) ? { value } : { fault: 'changed' };
}

/** The operator's name. */
export function operatorName(operator: Operator): OperatorName {
  return Object.keys(operator)[0] as OperatorName;
}
