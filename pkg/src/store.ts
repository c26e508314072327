/**
 * The contract of stores, for a store of your own: the interface, what it writes, what it answers, and its errors.
 * `statepad/testing` has the cases that a store must pass.
 *
 * @example A store around another one
 * ```ts
 * import { StoreError, type SessionStore } from 'statepad/store';
 *
 * function readOnly(inner: SessionStore): SessionStore {
 *   const { commitMany, ...rest } = inner;
 *   return { ...rest, commit: () => Promise.reject(new StoreError('forbidden', 'the store is read-only')) };
 * }
 * ```
 *
 * @packageDocumentation
 */

export { StoreError, isStoreError, type StoreErrorCode, type StoreErrorDetails } from './store/store-error.js';
export type * from './store/contract.js';
