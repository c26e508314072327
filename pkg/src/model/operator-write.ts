// Operators in a delta: how they are told from values, and how a stored event names them.

import type { Operator } from './operators.js';
import type { Json } from './types.js';

const brand = Symbol.for('statepad.operator');

/** What `increment`, `append`, `setOnce` and `compareAndSet` make: an operator in the place of a value in a delta. */
export class OperatorWrite {
  /** @internal The operator's values are frozen. */
  constructor(operator: Operator) {
    Object.freeze(Object.assign(this, { [brand]: Object.freeze(operator) }));
  }

  /** In JSON it is `null`, as in the text of a stored event whose operators its store resolves. */
  toJSON(): null {
    return null;
  }
}

/** The operator that stands in the place of a value, also one of another copy of the package; or `undefined`. */
export function operatorOf(value: unknown): Operator | undefined {
  try {
    return (value as { readonly [brand]?: Operator } | null | undefined)?.[brand];
  } catch {
    // A proxy that was revoked.
    return undefined;
  }
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
