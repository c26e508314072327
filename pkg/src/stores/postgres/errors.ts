// The meaning of a client's error for the statement: its outcome as far as it is known.

import { LAYOUT, OTHER_LAYOUT, REFUSED, VERSION, WRONG_VERSION } from './version.js';
import { newerVersion, olderVersion, otherLayout } from '../../store/refusals.js';
import { StoreError, type StoreErrorCode } from '../../store/store-error.js';

/** The code of an error: the five characters of Postgres, or the code of the operating system. */
interface ClientError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly message?: unknown;
  readonly detail?: unknown;
}

/**
 * Codes, or how they begin, of errors after which nothing of the statement is written, and another try may do:
 * deadlocks and serialization, a lock that was not to be had in time, a statement that took too long, a disk or memory
 * that is full, too many connections, a server that starts, that only reads, or that does not let the client in, and a
 * connection that was closed for being idle.
 */
const UNAVAILABLE = /^(40001|40P01|55P03|57014|53...|57P03|57P05|25006|28...|3D000)$/;
/**
 * The same where another try comes to the same: too big, a bad text, no right to, not made or not what it should be.
 */
const REJECTED = /^(54...|22...|42...|3F000)$/;
/** The messages of clients about statements that they have not sent. */
const NOT_SENT = new Set([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated due to connection timeout',
  'Cannot use a pool after calling end on the pool',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'PGlite is closed',
]);
/** A connection that is lost: whether the statement was carried out is not known. */
const LOST = /^(08...|57P01|57P02|ECONNRESET|EPIPE|ETIMEDOUT)$/;
const LOST_MESSAGE = 'Connection terminated';

/** The {@link StoreError} that an error stands for; the error itself where it says nothing certain. */
export function storeErrorOf(error: unknown, isRead = false): unknown {
  if (typeof error !== 'object' || error === null || error instanceof StoreError) {
    return error;
  }
  const { code, message, detail } = error as ClientError;
  const state = typeof code === 'string' ? code : '';
  const text = typeof message === 'string' ? message : '';
  if (state === REFUSED) {
    return new StoreError('rejected', text, { cause: error });
  }
  if (state === WRONG_VERSION) {
    const version = Number(detail);
    return version < VERSION ? olderVersion(text, version, VERSION) : newerVersion(text, version, VERSION);
  }
  if (state === OTHER_LAYOUT) {
    return otherLayout(text, typeof detail === 'string' && detail !== '' ? detail : undefined, LAYOUT);
  }
  if (UNAVAILABLE.test(state) || isNotSent(error) || (isRead && (LOST.test(state) || text.startsWith(LOST_MESSAGE)))) {
    return storeError('unavailable', error, text);
  }
  return REJECTED.test(state) ? storeError('rejected', error, text) : error;
}

/** True if the client did not even get to the server. */
function isNotSent(error: ClientError): boolean {
  const { syscall, errors, message } = error;
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    (typeof message === 'string' && NOT_SENT.has(message)) ||
    // Each address of the server was tried.
    (Array.isArray(errors) && errors.length > 0 && errors.every((each) => isNotSent(each as ClientError)))
  );
}

function storeError(code: StoreErrorCode, cause: unknown, message: string): StoreError {
  return new StoreError(code, `postgres: ${message}`, { cause });
}
