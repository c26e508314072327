// What stores say of what they find when they are opened, or when they write: the same words in every store.

import { StoreError } from './store-error.js';

/** What is stored has an older version than this package writes: it has to be upgraded first. `what` names it. */
export function olderVersion(what: string, found: number, ours: number): StoreError {
  const line = "open it once with new SessionService({ store, migrate: 'upgrade' })";
  return new StoreError('rejected', `${what} has version ${found}, older than ${ours}: ${line}`);
}

/** What is stored has a newer version than this package knows. `what` names it. */
export function newerVersion(what: string, found: number, ours: number): StoreError {
  return new StoreError('rejected', `${what} has version ${found}, newer than ${ours}: update statepad`);
}
