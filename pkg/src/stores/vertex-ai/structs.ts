// The JSON that a `Struct` of protobuf preserves: numbers are doubles, texts are UTF-8.

import { StoreError } from '../../store/store-error.js';
import { isWellFormed } from '../../model/json.js';
import { lostNumber, lostTitle } from '../../model/json-numbers.js';

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

/** Throws `rejected` for a JSON text with a number that is no double, and would come back as another one. */
export function checkNumbers(json: string, what: string): void {
  const number = lostNumber(json);
  if (number !== undefined) {
    throw new StoreError('rejected', `${what} has ${lostTitle(number)}, nor can the API: write it as a text`);
  }
}
