// Operators, changes with them, and their results.

import type { Change, Committed, Operator, ScopedOperators, ScopedValues } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** Adds a number. */
export const increment = (by: number): Operator => ({ increment: by });
/** Adds items to the end of a list. */
export const push = (...items: readonly Json[]): Operator => ({ append: items });
/** Sets a missing name. */
export const setOnce = (value: Json): Operator => ({ setOnce: value });
/** Sets a name that has a value. */
export const compareAndSet = (expected: Json, value: Json): Operator => ({ compareAndSet: { expected, value } });
/** Sets a missing name. */
export const setAbsent = (value: Json): Operator => ({ compareAndSet: { value } });

/** The same change with operators. */
export function withOperators(change: Change, operators: ScopedOperators): Change {
  return { ...change, operators };
}

/** The same answer with the results of operators. */
export function withResults(answer: Committed, results: ScopedValues): Committed {
  return { ...answer, results };
}
