// The reading of JSON that others have written, whose numbers JavaScript need not hold: none of them is rounded.

import { lostValue, unreadable } from '../../store/refusals.js';
import { bigintOf, parseWith, type LostNumber } from '../../model/json-numbers.js';
import { valuesOf } from '../shared/values.js';
import type { Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The type of integers that JavaScript cannot hold as numbers; `undefined`: they cannot be read. */
export type Integers = 'bigint' | undefined;

const ADVICE = ": with the option integers: 'bigint' it is read as a bigint";

/** Stands in the place of a number that cannot be read, in rows alone. */
class Unread {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }
}

/** The content of a row. `mayLack`: it may have values with numbers that cannot be read. */
export interface Read<T> {
  readonly row: T;
  readonly mayLack: boolean;
}

/** Reads a row, whatever its numbers. */
export function readRow<T>(text: string, integers: Integers): Read<T> {
  let mayLack = false;
  const convert = (token: string): unknown => {
    const integer = integers === 'bigint' ? bigintOf(token) : undefined;
    mayLack ||= integer === undefined;
    return integer ?? new Unread(token);
  };
  const row = parseWith(text, convert) as T;
  return { row, mayLack };
}

/** The values that a state of a row has. Throws `corrupt`, also when one of them has a number that cannot be read. */
export function valuesIn(state: Json, whose: string, mayLack: boolean): Values {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) {
    throw unreadable(`the state of ${whose}`);
  }
  const values = valuesOf(Object.entries(state as Record<string, Json>));
  if (mayLack) {
    for (const name of Object.keys(values)) {
      checkValue(name, values[name], whose);
    }
  }
  return values;
}

function checkValue(name: string, value: unknown, whose: string): void {
  const number = unreadIn(value, []);
  if (number !== undefined) {
    throw lostValue(name, whose, number, bigintOf(number.token) === undefined ? '' : ADVICE);
  }
}

/** The first number of a value that cannot be read. */
function unreadIn(value: unknown, path: LostNumber['path']): LostNumber | undefined {
  if (value instanceof Unread) {
    return { token: value.token, path };
  }
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const number = unreadIn(member, [...path, Array.isArray(value) ? Number(name) : name]);
      if (number !== undefined) {
        return number;
      }
    }
  }
  return undefined;
}
