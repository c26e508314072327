// The meaning of an answer of the API for its request, and the error that it becomes.

import { StoreError } from '../../store/store-error.js';
import type { VertexAiResponse } from './options.js';

/** An error as the API tells it. */
export interface ApiError {
  /** The status of HTTP. */
  readonly http: number;
  /** Google's own code, `INVALID_ARGUMENT`. */
  readonly status: string;
  readonly message: string;
}

/**
 * The outcome of a request:
 *
 * - `done`: it was done
 * - `refused`: it was not, and will not be as it is
 * - `busy`: it was not, but may be later
 * - `unclear`: it may have been done. `isOver`: nothing of it is under way any more
 */
export type Outcome =
  | { readonly kind: 'done'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'busy'; readonly error: ApiError; readonly wait: number }
  | { readonly kind: 'unclear'; readonly cause: unknown; readonly isOver: boolean; readonly wait: number };

/** Longer than that the API is not waited for, in milliseconds, whatever it asks for. */
const MAX_WAIT_MS = 60_000;

/** Reads an answer. */
export async function outcomeOf(response: VertexAiResponse): Promise<Outcome> {
  const text = await response.text();
  const body = parsed(text);
  if (response.ok) {
    // A proxy may have answered in the place of the API.
    return body === undefined
      ? { kind: 'unclear', cause: new Error('the answer is not JSON'), isOver: true, wait: 0 }
      : { kind: 'done', body };
  }
  const error = errorIn(response.status, body, text);
  const wait = waitOf(response.headers.get('retry-after'));
  switch (response.status) {
    case 429:
      return { kind: 'busy', error, wait };
    case 503:
      return { kind: 'unclear', cause: asError(error), isOver: true, wait };
    default:
      return response.status >= 500 || response.status === 408 || response.status === 499
        ? { kind: 'unclear', cause: asError(error), isOver: false, wait }
        : { kind: 'refused', error };
  }
}

/** The error of an operation that has ended: its code is that of gRPC. */
export function operationError(error: unknown): ApiError {
  const { code = 13, message = 'the operation has failed' } = (error ?? {}) as { code?: number; message?: string };
  return { http: HTTP_OF_GRPC[code] ?? 500, status: String(code), message };
}

const HTTP_OF_GRPC: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  16: 401,
};

/** The error of a refusal: nothing is written. A token that is not taken may be followed by another one. */
export function refusal(error: ApiError): StoreError {
  const cause = asError(error);
  switch (error.http) {
    case 401:
      return new StoreError('unavailable', `the API refuses the access token: ${cause.message}`, { cause });
    case 403:
      return new StoreError('forbidden', `the API does not permit the call: ${cause.message}`, { cause });
    default:
      return new StoreError('rejected', `the API refuses the call: ${cause.message}`, { cause });
  }
}

/** `unavailable`: it is not written, or nothing had to be. */
export function unavailable(cause: unknown): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreError('unavailable', `the API did not do it: ${message}`, { cause });
}

/**
 * An error of the API as one that can be the cause of another one: `status` is that of HTTP, `code` Google's own where
 * there is one.
 */
export function asError({ http, status, message }: ApiError): Error {
  const isNamed = status !== String(http);
  const error = new Error(`${http}${isNamed ? ` ${status}` : ''}: ${message}`);
  return Object.assign(error, { status: http, ...(isNamed && { code: status }) });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function errorIn(http: number, body: unknown, text: string): ApiError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: Partial<ApiError> };
  const { status = String(http), message = text.slice(0, 200) } = error ?? {};
  return { http, status, message };
}

/** The time that `Retry-After` asks for, in milliseconds: seconds, or a date. */
function waitOf(header: string | null): number {
  const text = header?.trim() ?? '';
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return wait > 0 ? Math.min(wait, MAX_WAIT_MS) : 0;
}
