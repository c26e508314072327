// The words of stores that refuse a change, or cannot read what is there: the same in every store.

import { isStoreError, StoreError, type StoreErrorCode } from './store-error.js';
import type { Change, ScopeName, StoreLimit } from './contract.js';
import type { OperatorFault } from '../model/operators.js';
import { defined } from '../model/defined.js';
import { lostTitle, type LostNumber } from '../model/json-numbers.js';
import type { SessionKey } from '../model/types.js';

/** The refusals that come of stored data. Others say something about the change, or the store. */
const REFUSED_BY_STATE: ReadonlySet<StoreErrorCode> = new Set(['conflict', 'exists', 'not-found', 'fenced', 'limit']);

/**
 * True if a store has to remember that it has refused a change so: see `Change.attempt`. An operator that does not fit
 * the value that is there might fit a later one, whatever the code.
 */
export function isRememberedRefusal({ attempt }: Pick<Change, 'attempt'>, error: unknown): error is StoreError {
  return attempt !== undefined && isStoreError(error) && (REFUSED_BY_STATE.has(error.code) || error.key !== undefined);
}

/** The name of a session in messages. */
export function sessionTitle({ sessionId = '' }: Partial<Pick<SessionKey, 'sessionId'>>): string {
  return `session "${sessionId}"`;
}

/** The name of an app, or of a user in it, in messages. */
export function scopeTitle({ app, user }: ScopeName): string {
  return user === undefined ? `app "${app}"` : `user "${user}"`;
}

/** `exists`: a creation of what another change has created. */
export function sessionExists({ key }: Pick<Change, 'key'>): StoreError {
  return new StoreError('exists', `${sessionTitle(key)} already exists`);
}

/** `not-found`: an append to what is not there, or is another session than the guard names. */
export function sessionNotFound({ key }: Pick<Change, 'key'>): StoreError {
  return new StoreError('not-found', `${sessionTitle(key)} does not exist`);
}

/** `conflict`: the session has not the revision that the guard expects. */
export function wrongRevision({ guard }: Pick<Change, 'guard'>, actual: number): StoreError {
  const message = `the session is at revision ${actual}, not at the expected ${guard?.rev ?? 0}`;
  return new StoreError('conflict', message, { actual });
}

/** `conflict`: a position, or the value under a name, is not what the guard expects. */
export function wrongState(): StoreError {
  return new StoreError('conflict', 'the state is not the expected one');
}

/** `conflict` or `rejected`: an operator does not fit the value that is there. */
export function misfit(scope: 'app' | 'user' | 'session', key: string, fault: OperatorFault): StoreError {
  const title = `the value of "${key}" of the ${scope}`;
  switch (fault) {
    case 'changed':
      return new StoreError('conflict', `${title} is not the value that compareAndSet expects`, { key, scope });
    case 'kind':
      return new StoreError('rejected', `${title} has the wrong type for the operator`, { key, scope });
    case 'overflow':
      return new StoreError('rejected', `${title} plus the increment is not a finite number`, { key, scope });
  }
}

/** `conflict`: another try of the same call was refused; `digest` is that of that try. */
export function refusedBefore({ id }: Pick<Change, 'id'>, digest?: string): StoreError {
  return new StoreError('conflict', `an earlier attempt of change "${id}" was refused`, defined({ digest }));
}

/** `rejected`: more bytes than the store can hold in one place. */
export function tooBig(what: string, size: number, limit: number): StoreError {
  return new StoreError('rejected', `${what} is too large: ${size} bytes, and the limit is ${limit}`, { size, limit });
}

/** A limit of `Change.limits` that a change would exceed. */
export interface Exceeded {
  readonly exceeded: StoreLimit;
  readonly size: number;
  readonly limit: number;
  readonly scope?: 'app' | 'user' | 'session';
  /** The name of a value that is too large. */
  readonly key?: string;
}

/** `limit`: more would be stored than the change allows. */
export function beyondLimit(change: Pick<Change, 'key'>, details: Exceeded): StoreError {
  return new StoreError('limit', `${limitTitle(change, details)}, and the limit is ${details.limit}`, details);
}

function limitTitle({ key }: Pick<Change, 'key'>, { exceeded, size, scope = 'session', key: name }: Exceeded): string {
  const whose = scope === 'session' ? sessionTitle(key) : `the ${scope}`;
  switch (exceeded) {
    case 'value':
      return `the value of "${name ?? ''}" of ${whose} would have ${size} bytes`;
    case 'state':
      return `the state of ${whose} would have ${size} bytes`;
    case 'keys':
      return `the state of ${whose} would have ${size} keys`;
    case 'events':
      return `${whose} would have ${size} events`;
  }
}

/** `corrupt`: a text stored under a name is no value. `whose` is a title. */
export function unreadableValue(name: string, whose: string, cause?: unknown): StoreError {
  return new StoreError('corrupt', `the value of "${name}" of ${whose} cannot be read`, { cause });
}

/**
 * `corrupt`: the value under a name has a number, written by others, that JavaScript cannot hold. `whose` is a title,
 * `advice` says how it can be read.
 */
export function lostValue(name: string, whose: string, number: LostNumber, advice = ''): StoreError {
  return new StoreError('corrupt', `the value of "${name}" of ${whose} has ${lostTitle(number)}${advice}`, {
    key: name,
  });
}

/** `corrupt`: a part of `what` is missing or of another kind. */
export function unreadable(what: string, cause?: unknown): StoreError {
  return new StoreError('corrupt', `${what} cannot be read`, { cause });
}

/** `corrupt`: there are fewer events than revisions. */
export function missingEvents(first: number, last: number): StoreError {
  return new StoreError('corrupt', `events between the revisions ${first} and ${last} are missing`);
}

/**
 * `rejected`: stored data has an older version than this package writes, and has to be upgraded first. `what` names
 * it.
 */
export function olderVersion(what: string, version: number, ours: number): StoreError {
  const line = "open it once with new SessionService({ store, migrate: 'upgrade' })";
  return new StoreError('rejected', `${what} has version ${version}, older than ${ours}: ${line}`);
}

/** `rejected`: the stored data has a newer version than this package knows. `what` names it. */
export function newerVersion(what: string, version: number, ours: number): StoreError {
  return new StoreError('rejected', `${what} has version ${version}, newer than ${ours}: update statepad`);
}

/** The refusal of a layout that an unreleased build has written: `fingerprint` is what it has, if anything. */
export function otherLayout(what: string, fingerprint: string | undefined, expected: string): StoreError {
  const layout = fingerprint === undefined ? 'a layout without a fingerprint' : `the layout ${fingerprint}`;
  return new StoreError(
    'rejected',
    `${what} has ${layout}, written by an unreleased build of statepad; this build reads ${expected}: open it with the build that made it, or delete it`,
  );
}
