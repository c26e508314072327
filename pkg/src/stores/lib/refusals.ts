// What stores say when what they find has another version than theirs.

import { StoreError } from '../../store-error.js';

/** What is stored is of an older version, and was not to be upgraded. */
export function olderVersion(what: string, found: number, ours: number): StoreError {
  const how = 'open it once with new SessionService({ store, migrate: \'upgrade\' })';
  return new StoreError('rejected', `${what} has version ${found}, older than ${ours}: ${how}`);
}

/** What is stored is of a version that only a later statepad knows. */
export function newerVersion(what: string, found: number, ours: number): StoreError {
  return new StoreError('rejected', `${what} has version ${found}, newer than ${ours}: update statepad`);
}
