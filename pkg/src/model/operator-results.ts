// Operators, resolved against current values.

import { StatepadError } from './errors.js';
import { put } from './json.js';
import { resolveOperator, type Operator, type OperatorFault } from './operators.js';
import type { KeyedOperators } from './operator-write.js';
import type { Json } from './types.js';

/**
 * The results of operators, under their keys. Throws `STATE_CONFLICT` or `INVALID_ARGUMENT`, with the `key`, when one
 * does not fit the value that `valueOf` returns.
 */
export function resultsOf(
  operators: KeyedOperators,
  valueOf: (key: string) => Json | undefined,
): Record<string, Json> {
  const results: Record<string, Json> = {};
  for (const key of Object.keys(operators)) {
    put(results, key, resultOf(key, operators[key] as Operator, valueOf(key)));
  }
  return results;
}

/** The result of an operator over a value. Throws as {@link resultsOf}. */
export function resultOf(key: string, operator: Operator, current: Json | undefined): Json {
  const resolved = resolveOperator(operator, current);
  if ('value' in resolved) {
    return Object.freeze(resolved.value);
  }
  throw misfit(key, resolved.fault, operator);
}

/** The error for an operator that does not fit the value of a key. The messages are those of the core. */
export function misfit(key: string, fault: OperatorFault, operator?: Operator): StatepadError {
  const kind =
    operator !== undefined && 'append' in operator
      ? 'has a value that is not a list'
      : 'has a value that is not a number';
  const what =
    fault === 'changed'
      ? 'does not have the expected value'
      : fault === 'kind'
        ? kind
        : 'cannot be incremented beyond the range of a double';
  const code = fault === 'changed' ? 'STATE_CONFLICT' : 'INVALID_ARGUMENT';
  return new StatepadError(code, `the key "${key}" ${what}`, { key });
}
