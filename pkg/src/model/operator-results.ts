// Operators, resolved against the values that are there.

import { StatepadError } from './errors.js';
import { put } from './json.js';
import { operatorName, resolveOperator, type Operator } from './operators.js';
import type { KeyedOperators } from './operator-write.js';
import type { Json } from './types.js';

/**
 * What operators come to, under their keys. Throws `STATE_CONFLICT` or `INVALID_ARGUMENT`, with the `key`, when one does
 * not fit the value that `valueOf` finds.
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

/** What an operator comes to over a value. Throws as {@link resultsOf}. */
export function resultOf(key: string, operator: Operator, current: Json | undefined): Json {
  const resolved = resolveOperator(operator, current);
  if ('value' in resolved) {
    return Object.freeze(resolved.value);
  }
  const name = operatorName(operator);
  if (resolved.fault === 'changed') {
    throw new StatepadError('STATE_CONFLICT', `the value of "${key}" is not the one that ${name} expects`, { key });
  }
  const why = resolved.fault === 'kind' ? `is of another kind than ${name} needs` : 'is too large for the increment';
  throw new StatepadError('INVALID_ARGUMENT', `the value of "${key}" ${why}`, { key });
}
