// What every store says when what it finds was written by another version of the package.

import { StoreError } from '../../store-error.js';

/** `what` was written by an older version, which has to be brought up to date before it can be used. */
export function olderVersion(what: string, found: number, ours: number): StoreError {
  const how = 'open it once with new SessionService({ store, migrate: \'upgrade\' })';
  return new StoreError('rejected', `${what} has version ${found}, older than ${ours}: ${how}`);
}

/** `what` was written by a newer version than this one, which cannot know what it means. */
export function newerVersion(what: string, found: number, ours: number): StoreError {
  return new StoreError('rejected', `${what} has version ${found}, newer than ${ours}: update statepad`);
}
