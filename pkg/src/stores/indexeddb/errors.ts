// The meaning of IndexedDB's errors: what has been written, and whether it is worth another try.

import { isStoreError, StoreError } from '../../store/store-error.js';

/** The name of a `DOMException`, or of another error. */
export function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
}

/** The reason that a request or a transaction has failed. */
export function reasonOf({ error }: { readonly error: DOMException | null }): DOMException {
  return error ?? new DOMException('the browser gave no reason', 'AbortError');
}

/** True when the connection is of no use any more, as far as an error tells. */
export function isLoss(error: unknown): boolean {
  return ['AbortError', 'InvalidStateError', 'UnknownError'].includes(nameOf(error));
}

/** True when the cause of a failure may lie in one write itself, so that others with it might have gone well. */
export function isItsOwnFault(error: unknown): boolean {
  return isStoreError(error) && (error.code === 'rejected' || nameOf(error.cause) === 'QuotaExceededError');
}

/**
 * The error of a failed transaction that writes. An aborted transaction has written nothing. Only when it was ending,
 * and no reason is reported, the outcome is unknown: the error is returned as it is.
 */
export function refusalOfWrite(error: unknown, wasEnding: boolean): unknown {
  const name = nameOf(error);
  if (isStoreError(error)) {
    return error;
  }
  if (name === 'QuotaExceededError') {
    return new StoreError('unavailable', 'the browser grants this page no more storage', { cause: error });
  }
  if (['DataError', 'DataCloneError', 'TypeError', 'RangeError'].includes(name) || isTooLarge(error)) {
    return new StoreError('rejected', `the browser refuses the data: ${textOf(error)}`, { cause: error });
  }
  const aborted = ['AbortError', 'InvalidStateError', 'TransactionInactiveError', 'TimeoutError', 'ConstraintError'];
  if (aborted.includes(name) || !wasEnding) {
    return new StoreError('unavailable', `the transaction was aborted: ${textOf(error)}`, { cause: error });
  }
  return error;
}

/** The error of a failed read. */
export function refusalOfRead(error: unknown): unknown {
  if (isStoreError(error)) {
    return error;
  }
  // Browsers keep large values in files of their own, which can get lost.
  const isLost = ['NotReadableError', 'DataError', 'DataCloneError', 'NotFoundError'].includes(nameOf(error));
  return new StoreError(isLost ? 'corrupt' : 'unavailable', `the browser cannot read the data: ${textOf(error)}`, {
    cause: error,
  });
}

/** The error of a database that cannot be opened: nothing is written by that. */
export function refusalOfOpening(error: unknown, database: string): StoreError {
  switch (nameOf(error)) {
    case 'SecurityError':
    case 'InvalidStateError':
    case 'NotSupportedError':
      return refused(error);
    default:
      return new StoreError('unavailable', `the database "${database}" cannot be opened: ${textOf(error)}`, {
        cause: error,
      });
  }
}

/** The host has no storage for this page. */
export function refused(cause: unknown): StoreError {
  const why = 'it has no IndexedDB, or refuses storage here (a private window, blocked cookies, a sandboxed frame)';
  return new StoreError('rejected', `the browser stores nothing for this page: ${why}`, { cause });
}

/** Chromium has no other name for it than UnknownError. */
function isTooLarge(error: unknown): boolean {
  return nameOf(error) === 'UnknownError' && textOf(error).includes('too large');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
