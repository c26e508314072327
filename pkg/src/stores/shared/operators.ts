// Operators over values that are at hand: their results, and the delta that writes them.

import { defined } from '../../model/defined.js';
import { misfit } from '../../store/refusals.js';
import { resolveOperator } from '../../model/operators.js';
import { put } from '../../model/json.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import { emptyValues } from './values.js';
import type { Change, Delta, ScopedValues, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The values that operators find. */
export interface CurrentValues {
  /** The value under a name before a change; `undefined` when the name is not there. */
  value(scope: StoredScope, name: string): Json | undefined;
}

/** A change without operators. */
export interface ResolvedChange {
  /** With what the operators came to, set last. */
  readonly delta: Change['delta'];
  /** The results of the operators; absent when there are none. */
  readonly results?: ScopedValues;
  readonly duplicate?: undefined;
}

/** Resolves the operators of a change. Throws `conflict` or `rejected` when one does not fit. */
export function resolveChange({ delta, operators }: Change, current: CurrentValues): ResolvedChange {
  if (operators === undefined) {
    return { delta };
  }
  const resolved: Partial<Record<StoredScope, Delta>> = { ...delta };
  const results: Partial<Record<StoredScope, Values>> = {};
  for (const scope of STORED_SCOPES) {
    const ofScope = operators[scope];
    if (ofScope !== undefined) {
      const values = emptyValues();
      for (const name of Object.keys(ofScope)) {
        const answer = resolveOperator(
          ofScope[name] as NonNullable<(typeof ofScope)[string]>,
          current.value(scope, name),
        );
        if ('fault' in answer) {
          throw misfit(scope, name, answer.fault);
        }
        values[name] = answer.value;
      }
      results[scope] = values;
      resolved[scope] = withValues(delta[scope], values);
    }
  }
  return { delta: resolved, results };
}

/** A delta that sets these values last. */
function withValues({ set = {}, unset }: Delta = {}, values: Values): Delta {
  const all = emptyValues();
  for (const record of [set, values]) {
    Object.keys(record).forEach((name) => put(all, name, record[name] as Json));
  }
  return defined({ set: all, unset });
}
