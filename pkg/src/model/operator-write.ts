// Operators in a delta: their mark, and their names in a stored event.

import { isOperator, type Operator } from './operators.js';
import type { Json } from './types.js';

const brand = Symbol.for('statepad.operator');

/**
 * The member that an operator still has when its mark is lost, because JSON and structured clones drop members under
 * symbols. It keeps such an operator from passing for a value.
 */
export const UNMARKED = 'statepad.operator';

/** The operator that `increment`, `append`, `setOnce` and `compareAndSet` make, in the place of a value in a delta. */
export class OperatorWrite {
  /** Its remainder in JSON and in a structured clone, which no delta takes. */
  declare readonly [UNMARKED]: Operator;

  /** @internal The operator's values are frozen. */
  constructor(operator: Operator) {
    Object.freeze(operator);
    Object.freeze(Object.assign(this, { [brand]: operator, [UNMARKED]: operator }));
  }
}

/**
 * The content of the mark of operators. It is not trusted: another copy of the package may know other operators, and
 * anyone can make one by hand. `undefined` where the mark is missing.
 */
export function contentOfMark(value: unknown): unknown {
  try {
    return (value as { readonly [brand]?: unknown } | null | undefined)?.[brand];
  } catch {
    // A revoked proxy.
    return undefined;
  }
}

/** The operator in the place of a value, of this copy of the package or of another one; or `undefined`. */
export function operatorOf(value: unknown): Operator | undefined {
  const marked = contentOfMark(value);
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

/** A frozen copy of a delta with the results of operators. */
export function withResults(
  delta: Readonly<Record<string, unknown>>,
  results: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return Object.freeze({ ...delta, ...results }) as Readonly<Record<string, Json>>;
}
