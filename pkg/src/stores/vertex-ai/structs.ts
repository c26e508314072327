// What a `Struct` of protobuf keeps of JSON: numbers are doubles, texts are UTF-8.

import { StoreError } from '../../store/store-error.js';
import { isWellFormed } from '../../model/json.js';

/** From here on JSON writes doubles with an exponent, and nothing reads an integer out of them. */
const EXPONENT_FROM = 1e21;

/** Throws `rejected` for a value that would come back as another one. `what` is its title. */
export function checkStruct(value: unknown, what: string): void {
  if (typeof value === 'string') {
    checkText(value, what);
  } else if (typeof value === 'number') {
    checkNumber(value, what);
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

function checkNumber(value: number, what: string): void {
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < EXPONENT_FROM) {
    const why = 'the API keeps doubles: write it as a text';
    throw new StoreError('rejected', `${what} is the integer ${value}, beyond 2^53, and would come back changed: ${why}`);
  }
}
