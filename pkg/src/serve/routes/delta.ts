// Writes to the state in JSON, which has no marks of deletions and operators.

import { invalid } from '../../checks/arguments.js';
import { admitValue } from '../../input/admit.js';
import { DELETED } from '../../model/deletion.js';
import { put } from '../../model/json.js';
import { contentOfMark, OperatorWrite } from '../../model/operator-write.js';
import { isOperator, type Operator } from '../../model/operators.js';
import { isTemp, nameOf } from '../../model/scope.js';
import { StatepadError } from '../../model/errors.js';
import type { Rights } from '../../http/principal.js';

/** A delta: values, operators and `DELETED` under full keys. */
export type MarkedDelta = Readonly<Record<string, unknown>>;

/** The writes of a request. */
export interface JsonWrites {
  readonly delta?: Readonly<Record<string, unknown>> | undefined;
  readonly deleted?: readonly string[] | undefined;
  readonly operators?: Readonly<Record<string, unknown>> | undefined;
}

/** The delta of a request, without `temp:` keys. Throws `INVALID_ARGUMENT` for a key that is written twice. */
export function markedDelta({ delta = {}, deleted = [], operators = {} }: JsonWrites): MarkedDelta {
  const marked: Record<string, unknown> = {};
  const add = (key: string, value: unknown, path: string): void => {
    if (Object.hasOwn(marked, key)) {
      invalid(path, 'is written twice by the request');
    }
    if (!isTemp(key)) {
      put(marked, key, value);
    }
  };
  for (const key of Object.keys(delta)) {
    add(key, delta[key], `delta[${JSON.stringify(key)}]`);
  }
  deleted.forEach((key, index) => add(key, DELETED, `deleted[${index}]`));
  for (const key of Object.keys(operators)) {
    const path = `operators[${JSON.stringify(key)}]`;
    add(key, operatorWrite(operators[key], path), path);
  }
  return marked;
}

/** An operator in its mark. Throws `INVALID_ARGUMENT`, `VALUE_NOT_JSON`. */
export function operatorWrite(json: unknown, path: string): OperatorWrite {
  const operator = admitValue(json, path);
  return isOperator(operator)
    ? new OperatorWrite({ ...operator })
    : invalid(path, 'must be one of increment, append, setOnce and compareAndSet, with its value');
}

/**
 * Throws `FORBIDDEN` for the first key that the client may not write, and for a comparison with a value that it may
 * not read, since the answer would tell it.
 */
export function checkDelta(rights: Rights, delta: MarkedDelta): void {
  rights.checkKeys(Object.keys(delta));
  for (const key of Object.keys(delta)) {
    const operator = contentOfMark(delta[key]);
    if (operator !== undefined && 'compareAndSet' in (operator as Operator)) {
      checkComparison(rights, key);
    }
  }
}

/** Throws `FORBIDDEN` for a key whose value the client may not read, and so not compare either. */
export function checkComparison(rights: Rights, key: string): void {
  if (!rights.reads(nameOf(key)[0])) {
    throw new StatepadError('FORBIDDEN', `the client may not compare ${JSON.stringify(key)}`, { key });
  }
}
