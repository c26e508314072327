// Operators in a delta: how they are told from values, and how a stored event names them.

import { isOperator, type Operator } from './operators.js';
import type { Json } from './types.js';

const brand = Symbol.for('statepad.operator');

/**
 * The member that an operator still has when it has lost its mark, as JSON and structured clones have no members under
 * symbols: what would pass for a value of that kind is refused.
 */
export const UNMARKED = 'statepad.operator';

/** What `increment`, `append`, `setOnce` and `compareAndSet` make: an operator in the place of a value in a delta. */
export class OperatorWrite {
  /** All that is left of it in JSON and in a structured clone, which no delta takes. */
  declare readonly [UNMARKED]: Operator;

  /** @internal The operator's values are frozen. */
  constructor(operator: Operator) {
    Object.freeze(operator);
    Object.freeze(Object.assign(this, { [brand]: operator, [UNMARKED]: operator }));
  }
}

/**
 * What stands under the mark of operators, made by whomever: by another copy of the package, which may know other
 * operators, or by hand. `undefined` where the mark is missing.
 */
export function markedOf(value: unknown): unknown {
  try {
    return (value as { readonly [brand]?: unknown } | null | undefined)?.[brand];
  } catch {
    // A proxy that was revoked.
    return undefined;
  }
}

/** The operator that stands in the place of a value, also one of another copy of the package; or `undefined`. */
export function operatorOf(value: unknown): Operator | undefined {
  const marked = markedOf(value);
  return isOperator(marked) ? marked : undefined;
}

/** Operators under full keys. */
export type KeyedOperators = Readonly<Record<string, Operator>>;

/** The stored form: `customMetadata` with these operators in it. */
export function withOperators(customMetadata: unknown, operators: KeyedOperators): Readonly<Record<string, unknown>> {
  const metadata = (customMetadata ?? {}) as { statepad?: { operators?: KeyedOperators } };
  const all = Object.freeze({ ...metadata.statepad?.operators, ...operators });
  return Object.freeze({ ...metadata, statepad: Object.freeze({ ...metadata.statepad, operators: all }) });
}

/** A delta with what operators came to in the place of what stands there, frozen. */
export function withResults(
  delta: Readonly<Record<string, unknown>>,
  results: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return Object.freeze({ ...delta, ...results }) as Readonly<Record<string, Json>>;
}
