// The HTTP answers for errors: their codes, and nothing of the internals.

import { isStatepadError, StatepadError, type ErrorCode } from '../model/errors.js';

/** The context of an error that clients do not see. */
export interface ErrorContext {
  /** The number that clients see in the place of the error. */
  readonly number: string;
  /** The request during which it happened; absent when no request could be parsed. */
  readonly request: Request | undefined;
}

/** Receives each error that clients do not see in full. Errors that it throws are ignored. */
export type OnError = (error: unknown, context: ErrorContext) => unknown;

/** The form of an error that clients see. */
export interface ClientError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  /** The number of its log entry, when clients do not see all of it. */
  readonly number?: string;
  /** True when the write is stored, and only its answer failed. */
  readonly committed?: true;
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  VALUE_NOT_JSON: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SESSION_NOT_FOUND: 404,
  SESSION_EXISTS: 409,
  SESSION_STALE: 409,
  STATE_CONFLICT: 409,
  EVENT_ID_CONFLICT: 409,
  LEASE_HELD: 409,
  LEASE_LOST: 409,
  LIMIT_EXCEEDED: 413,
  TOO_LARGE: 413,
  KEY_REUSED: 422,
  TOO_MANY_REQUESTS: 429,
  STORE_UNAVAILABLE: 503,
  STORE_UNSUITABLE: 503,
  CLOSED: 503,
  NOT_READY: 503,
};

/** Codes whose messages reveal no internals, unless a store's error caused them. */
const PUBLIC_CODES: readonly ErrorCode[] = [
  'INVALID_ARGUMENT',
  'VALUE_NOT_JSON',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'TOO_LARGE',
  'KEY_REUSED',
  'TOO_MANY_REQUESTS',
  'SESSION_EXISTS',
  'SESSION_STALE',
  'STATE_CONFLICT',
  'EVENT_ID_CONFLICT',
  'CLOSED',
];

const HIDDEN: Partial<Record<ErrorCode, string>> = {
  STORE_UNAVAILABLE: 'the store is not available',
  STORE_UNSUITABLE: 'the store cannot be opened',
  STORE_CORRUPT: 'the store cannot read its data',
  FORBIDDEN: 'the server has no permission',
  COMMIT_UNKNOWN: 'it is unknown whether it was stored',
  NOT_READY: 'the service is not ready',
  LIMIT_EXCEEDED: 'the data is too large for the store',
  INVALID_ARGUMENT: 'the store refuses the call',
};

/** A request that is refused with another status than 400. */
export function refused(status: number, message: string): StatepadError {
  return new StatepadError('INVALID_ARGUMENT', message, { status });
}

/** Reports errors to clients, and in full to the operators of the server. */
export class ErrorLog {
  readonly #onError: OnError;

  constructor(onError: OnError = logged) {
    this.#onError = onError;
  }

  /** The form of an error that clients see. The rest is logged under a number. */
  report(error: unknown, request: Request | undefined): ClientError {
    const code = isStatepadError(error) ? error.code : 'INTERNAL';
    const status = STATUS[code] ?? 500;
    if (isStatepadError(error) && code === 'SESSION_NOT_FOUND') {
      return { code, message: `session ${JSON.stringify(error.id)} not found`, status };
    }
    if (isStatepadError(error) && PUBLIC_CODES.includes(code) && error.cause === undefined) {
      return { code, message: error.message, status: code === 'INVALID_ARGUMENT' ? (error.status ?? status) : status };
    }
    const number = this.log(error, request);
    const committed = isStatepadError(error) && error.committed === true;
    const message = `${HIDDEN[code] ?? 'the server has failed'}: logged as ${number}`;
    return { code, message, status, number, ...(committed && { committed }) };
  }

  /** The answer for an error, as JSON: `{ error: { code, message, number? } }`. */
  answer(error: unknown, request: Request | undefined): Response {
    if (request?.signal.aborted) {
      // The client has disconnected, perhaps in the middle of its body: nobody is waiting, and there is no fault to
      // log.
      return new Response(null, { status: 400 });
    }
    const { status, ...visible } = this.report(error, request);
    const isPassing = status === 503 || status === 429;
    const headers = { 'cache-control': 'no-store', ...(isPassing && { 'retry-after': '1' }) };
    return Response.json({ error: visible }, { status, headers });
  }

  /** Logs an error. Answers its number. */
  log(error: unknown, request: Request | undefined): string {
    const number = newNumber();
    try {
      const answer = this.#onError(error, { number, request });
      Promise.resolve(answer).catch(() => undefined);
    } catch {
      // The logger has failed: there is nowhere else to report.
    }
    return number;
  }
}

function logged(error: unknown, { number }: ErrorContext): void {
  console.error(`statepad: error ${number}`, error);
}

/** Twelve digits that no other error has, on any server. */
function newNumber(): string {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  const half = (word: number): string => String(word % 1_000_000).padStart(6, '0');
  return half(high) + half(low);
}
