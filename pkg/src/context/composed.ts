// Pending operators: their composition with earlier writes, and the values that readers see.

import { isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { OperatorWrite, operatorOf } from '../model/operator-write.js';
import { misfit, resultOf } from '../model/operator-results.js';
import { operatorName, resolveOperator, type Operator } from '../model/operators.js';
import type { Json } from '../model/types.js';

/**
 * Composes an operator with the pending write before it: over a value, or a deletion, it is resolved at once; with an
 * operator it becomes one. Throws `INVALID_ARGUMENT`, also for two operators that cannot be composed, and
 * `STATE_CONFLICT`.
 */
export function over(key: string, pending: unknown, operator: Operator): unknown {
  const earlier = operatorOf(pending);
  return earlier === undefined
    ? resultOf(key, operator, isDeleted(pending) ? undefined : (pending as Json))
    : new OperatorWrite(composed(key, earlier, operator));
}

function composed(key: string, one: Operator, two: Operator): Operator {
  if ('increment' in one && 'increment' in two) {
    const increment = one.increment + two.increment;
    if (!Number.isFinite(increment)) {
      throw misfit(key, 'overflow');
    }
    return { increment };
  }
  if ('append' in one && 'append' in two) {
    return { append: Object.freeze([...one.append, ...two.append]) };
  }
  if ('setOnce' in one && 'setOnce' in two) {
    return one;
  }
  const message = `${operatorName(two)} of "${key}" cannot follow a pending ${operatorName(one)}: append the event first`;
  throw new StatepadError('INVALID_ARGUMENT', message, { key });
}

/** The value that readers see under pending operators, frozen: operators that do not fit it are skipped. */
export function visibleValue(operators: readonly Operator[], value: Json | undefined): Json | undefined {
  let visible = value;
  for (const operator of operators) {
    const resolved = resolveOperator(operator, visible);
    visible = 'value' in resolved ? resolved.value : visible;
  }
  return Object.freeze(visible);
}
