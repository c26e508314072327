// The HTTP answers for errors: their codes, and nothing of the internals.

import { requestOf, type Incoming } from './incoming.js';
import { JsonReply, type Reply } from './reply.js';
import { isStatepadError, StatepadError, type ErrorCode, type ErrorDetails } from '../model/errors.js';

/** The context of an error that clients do not see. */
export interface ErrorContext {
  /** The number that clients see in the place of the error. */
  readonly number: string;
  /** The request during which it happened; absent when no request could be parsed. */
  readonly request: Request | undefined;
}

/** Receives each error that clients do not see in full. Errors that it throws are ignored. */
export type OnError = (error: unknown, context: ErrorContext) => unknown;

/** The details of an error that clients see. All of them are about the request, or about what it may read. */
const DETAILS = [
  'key',
  'path',
  'id',
  'expected',
  'actual',
  'until',
  'exceeded',
  'size',
  'limit',
] as const satisfies readonly (keyof ErrorDetails)[];
/** The details of an error whose message is hidden. */
const HIDDEN_DETAILS = ['key', 'size', 'limit', 'committed'] as const satisfies readonly (keyof ErrorDetails)[];

/** The form of an error that clients see. */
export interface ClientError extends Pick<ErrorDetails, (typeof DETAILS)[number] | (typeof HIDDEN_DETAILS)[number]> {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  /** The number of its log entry, when clients do not see all of it. */
  readonly number?: string;
}

/** The status of the answer for each code. */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
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
  // The store behind the server has not answered in time.
  COMMIT_UNKNOWN: 504,
  INVOCATION_ENDED: 500,
  TEMPLATE_KEY_MISSING: 500,
  ARTIFACT_MISSING: 500,
  SCHEMA_INVALID: 500,
  STORE_CORRUPT: 500,
  CORE_FAILED: 500,
  INTERNAL: 500,
};

/** Codes whose messages reveal no internals, unless another error caused them. */
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
  'LEASE_HELD',
  'LEASE_LOST',
  'CLOSED',
];

/**
 * The messages of refusals that an error of a store has caused: no text of the store is in them. They are no faults,
 * so they are not logged.
 */
const REFUSALS: Partial<Record<ErrorCode, (error: StatepadError) => string | undefined>> = {
  SESSION_NOT_FOUND: ({ id }) => (id === undefined ? 'the session was not found' : `session ${quoted(id)} not found`),
  SESSION_EXISTS: ({ id }) => `session ${quoted(id)} already exists`,
  SESSION_STALE: ({ expected, actual }) => `the session is at revision ${actual}, not at the expected ${expected}`,
  STATE_CONFLICT: ({ key }) =>
    key === undefined ? 'the state has changed meanwhile' : `the key ${quoted(key)} does not have the expected value`,
  EVENT_ID_CONFLICT: ({ id }) => `the session has another event with the id ${quoted(id)}`,
  LEASE_HELD: () => 'another holder has the lease of the session',
  LEASE_LOST: () => 'the lease of the session was lost: another holder has taken it',
  KEY_REUSED: () => 'the key belongs to another request',
  // A limit of the service. Any other one is that of the store.
  LIMIT_EXCEEDED: (error) => (error.exceeded === undefined ? undefined : limitText(error)),
  // Of an operator. Any other one is a refusal of the store.
  INVALID_ARGUMENT: ({ key }) => key && `the operator does not fit the value of the key ${quoted(key)}`,
};

/** The units of the limits that are no bytes. */
const LIMIT_UNITS: Readonly<Record<string, string>> = { keys: 'keys', events: 'events' };

function limitText({ exceeded = 'value', key, size, limit }: StatepadError): string {
  const of = key === undefined ? '' : ` of the key ${quoted(key)}`;
  return `the limit of the ${exceeded}${of} is ${limit} ${LIMIT_UNITS[exceeded] ?? 'bytes'}, and it would have ${size}`;
}

/** The messages of other errors that are not public: the rest of them is logged. */
const HIDDEN: Partial<Record<ErrorCode, string>> = {
  STORE_UNAVAILABLE: 'the store is not available',
  STORE_UNSUITABLE: 'the store cannot be opened',
  STORE_CORRUPT: 'the store cannot read its data',
  FORBIDDEN: 'the server has no permission',
  COMMIT_UNKNOWN: 'it is unknown whether it was stored: send it again, with the same event id or Idempotency-Key',
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
  report(error: unknown, request: Incoming | undefined): ClientError {
    if (!isStatepadError(error)) {
      const number = this.log(error, request);
      return { code: 'INTERNAL', message: `the server has failed: logged as ${number}`, status: 500, number };
    }
    const { code } = error;
    const status = statusOf(code);
    const message = publicMessage(error);
    if (message !== undefined) {
      return {
        code,
        message,
        status: code === 'INVALID_ARGUMENT' ? (error.status ?? status) : status,
        ...details(error, DETAILS),
      };
    }
    const number = this.log(error, request);
    const hidden = `${HIDDEN[code] ?? 'the server has failed'}: logged as ${number}`;
    return { code, message: hidden, status, number, ...details(error, HIDDEN_DETAILS) };
  }

  /** The answer for an error, as JSON: `{ error: { code, message, number? } }`. */
  answer(error: unknown, request: Incoming | undefined): Reply {
    if (request?.signal.aborted) {
      // The client has disconnected, perhaps in the middle of its body: nobody is waiting, and there is no fault to
      // log.
      return new Response(null, { status: 400 });
    }
    const { status, ...visible } = this.report(error, request);
    const isPassing = status === 503 || status === 429;
    const headers = { 'cache-control': 'no-store', ...(isPassing && { 'retry-after': '1' }) };
    return new JsonReply({ error: visible }, status, headers);
  }

  /** Logs an error. Answers its number. */
  log(error: unknown, request: Incoming | undefined): string {
    const number = newNumber();
    try {
      const answer = this.#onError(error, { number, request: request && requestOf(request) });
      Promise.resolve(answer).catch(() => undefined);
    } catch {
      // The logger has failed: there is nowhere else to report.
    }
    return number;
  }
}

/** The message that clients see; `undefined` for an error that has to be logged. */
function publicMessage(error: StatepadError): string | undefined {
  const { code, cause, message } = error;
  return PUBLIC_CODES.includes(code) && cause === undefined ? message : REFUSALS[code]?.(error);
}

function details(error: StatepadError, names: readonly (keyof ErrorDetails)[]): Partial<ErrorDetails> {
  return Object.fromEntries(names.flatMap((name) => (error[name] === undefined ? [] : [[name, error[name]]])));
}

/** Another copy of the package may know other codes. */
function statusOf(code: ErrorCode): number {
  return (ERROR_STATUS as Partial<typeof ERROR_STATUS>)[code] ?? 500;
}

function quoted(name: string | undefined): string {
  return JSON.stringify(name);
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
