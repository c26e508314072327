// The refusals of a store that only reads: of every write, and of rows that are no session.

import { isOfOne } from '../../transfer/problems.js';
import { StoreError } from '../../store/store-error.js';

/** `rejected`: nothing is written to the database of an ADK. */
export function onlyRead(): StoreError {
  const message = "the database of an ADK is only read, and nothing is written to it: 'npx statepad import' copies it";
  return new StoreError('rejected', `${message} into a store that can be written`);
}

/** The result of a function; `corrupt` for what it cannot convert. `what` names that. */
export function orCorrupt<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isOfOne(error)) {
      throw error;
    }
    const where = error.id === undefined ? '' : `event "${error.id}": `;
    throw new StoreError('corrupt', `${what} cannot be read: ${where}${error.message}`, { cause: error });
  }
}
