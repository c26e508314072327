// What a `Struct` of protobuf keeps of JSON: numbers are doubles, texts are UTF-8.

import { StoreError } from '../../store/store-error.js';
import { isWellFormed } from '../../model/json.js';

/** Integers with fewer digits are doubles. */
const LONG_INTEGER = /\d{16}/;
/** The texts and numbers of a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Throws `rejected` for a value that the API cannot keep. `what` is its title. */
export function checkStruct(value: unknown, what: string): void {
  if (typeof value === 'string') {
    checkText(value, what);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => checkStruct(item, `${what}[${index}]`));
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      checkText(name, `a name in ${what}`);
      checkStruct(member, `${what}.${name}`);
    }
  }
}

/** Throws `rejected` for a text that UTF-8 cannot hold. */
export function checkText(text: string, what: string): void {
  if (!isWellFormed(text)) {
    throw new StoreError('rejected', `${what} has a lone surrogate, which the API cannot keep`);
  }
}

/** Throws `rejected` for a JSON text with an integer that is no double, and would come back as another one. */
export function checkIntegers(json: string, what: string): void {
  if (!LONG_INTEGER.test(json)) {
    return;
  }
  for (const [token] of json.matchAll(TOKENS)) {
    if (/^-?\d{16,}$/.test(token) && BigInt(token) !== BigInt(Number(token))) {
      const why = 'the API keeps doubles: write it as a text';
      throw new StoreError(
        'rejected',
        `${what} has the integer ${token}, beyond 2^53, which would come back changed: ${why}`,
      );
    }
  }
}
