// Operators: their form in statements, and their results in answers and events.

import { misfit } from '../../store/refusals.js';
import { fromColumn } from '../shared/column-text.js';
import { parseValue, valuesOf } from '../shared/values.js';
import { operatorName, type Operator, type OperatorFault, type OperatorName } from '../../model/operators.js';
import type { Change, ScopedOperators, ScopedValues } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';

/** The scopes by their numbers in the database. */
export const PARTS = ['session', 'app', 'user'] as const;

/** The scopes in the order in which operators are resolved. */
const SCOPES = ['app', 'user', 'session'] as const;

/** The operators that the database resolves. */
export const RESOLVES: readonly OperatorName[] = ['increment', 'append', 'setOnce', 'compareAndSet'];

/** An operator as it is sent. */
export interface EncodedOperator {
  readonly scope: (typeof SCOPES)[number];
  /** The name, as it is. */
  readonly name: string;
  readonly kind: OperatorName;
  /** JSON texts; null where the name is expected to be absent. */
  readonly operand: string;
  readonly expected: string | null;
}

/** The operators of a change, in the order in which they are resolved. */
export function operatorsOf({ operators }: Pick<Change, 'operators'>): EncodedOperator[] {
  return operators === undefined
    ? []
    : SCOPES.flatMap((scope) =>
        namesOf(operators, scope).map((name) => encodeOperator(scope, name, operators[scope]?.[name] as Operator)),
      );
}

/** The names that the operators of a change write in a scope. */
export function namesOf(operators: ScopedOperators | undefined, scope: (typeof SCOPES)[number]): string[] {
  return Object.keys(operators?.[scope] ?? {});
}

function encodeOperator(scope: EncodedOperator['scope'], name: string, operator: Operator): EncodedOperator {
  const kind = operatorName(operator);
  const { value, expected } =
    'compareAndSet' in operator
      ? operator.compareAndSet
      : { value: Object.values(operator)[0] as unknown, expected: undefined };
  return {
    ...{ scope, name, kind, operand: JSON.stringify(value) },
    expected: expected === undefined ? null : JSON.stringify(expected),
  };
}

/**
 * The results of operators, as they are answered and stored: the numbers of their scopes, the names and the values.
 */
type Results = readonly [parts: readonly number[], names: readonly string[], values: readonly string[]];

/** The results of operators; no member where there were none. `whose` is a title, for messages. */
export function resultsIn(text: string | null | undefined, whose: string): { readonly results?: ScopedValues } {
  if (typeof text !== 'string') {
    return {};
  }
  const [parts, names, values] = JSON.parse(text) as Results;
  const of = (scope: (typeof SCOPES)[number]): { readonly [Scope in typeof scope]?: ScopedValues[Scope] } => {
    const entries = names.flatMap((column, index) => {
      const name = fromColumn(column);
      return PARTS[parts[index] ?? 0] === scope ? [[name, parseValue(name, values[index] ?? '', whose)] as const] : [];
    });
    return entries.length === 0 ? {} : { [scope]: Object.freeze(valuesOf(entries)) };
  };
  return { results: { ...of('app'), ...of('user'), ...of('session') } };
}

/** The refusal of a change whose operator at an index does not fit. */
export function misfitOf(change: Change, index: number, fault: OperatorFault): StoreError {
  const { scope, name } = operatorsOf(change)[index] as EncodedOperator;
  return misfit(scope, name, fault);
}
