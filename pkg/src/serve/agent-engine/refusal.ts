// Errors as Google's APIs answer them. Nothing of the internals leaves: a number names the entry of the log.

import { JsonReply, type Reply } from '../../http/reply.js';
import { ApiError, statusOf, type StatusName } from './wire/errors.js';
import type { Incoming } from '../../http/incoming.js';
import type { ErrorLog } from '../../http/answers.js';
import type { ErrorCode } from '../../model/errors.js';

const STATUS: Readonly<Partial<Record<ErrorCode, StatusName>>> = {
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  VALUE_NOT_JSON: 'INVALID_ARGUMENT',
  SCHEMA_INVALID: 'INVALID_ARGUMENT',
  LIMIT_EXCEEDED: 'INVALID_ARGUMENT',
  TOO_LARGE: 'INVALID_ARGUMENT',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  FORBIDDEN: 'PERMISSION_DENIED',
  SESSION_NOT_FOUND: 'NOT_FOUND',
  SESSION_EXISTS: 'ALREADY_EXISTS',
  EVENT_ID_CONFLICT: 'ALREADY_EXISTS',
  SESSION_STALE: 'ABORTED',
  STATE_CONFLICT: 'ABORTED',
  LEASE_HELD: 'ABORTED',
  LEASE_LOST: 'ABORTED',
  TOO_MANY_REQUESTS: 'RESOURCE_EXHAUSTED',
  // It may be stored: a client that asks again, or appends under the same event id again, learns it.
  COMMIT_UNKNOWN: 'DEADLINE_EXCEEDED',
  STORE_UNAVAILABLE: 'UNAVAILABLE',
  STORE_UNSUITABLE: 'UNAVAILABLE',
  CLOSED: 'UNAVAILABLE',
  NOT_READY: 'UNAVAILABLE',
};

/** Statuses of HTTP that Google's codes do not tell apart: the limits of a body. */
const OWN_STATUS = [408, 413, 415];

/** The answer to an error. */
export function refusalOf(error: unknown, request: Incoming, errors: ErrorLog): Reply {
  if (error instanceof ApiError) {
    return answerOf(error, error.httpStatus);
  }
  if (request.signal.aborted) {
    // The client has gone: nobody is waiting, and there is no fault to log.
    return new Response(null, { status: 400 });
  }
  const { code, message, status } = errors.report(error, request);
  const name = STATUS[code] ?? 'INTERNAL';
  const http = OWN_STATUS.includes(status) && code !== 'LIMIT_EXCEEDED' ? status : statusOf(name);
  return answerOf(new ApiError(name, message), http);
}

function answerOf(error: ApiError, status: number): Reply {
  const { error: body } = error.toBody() as { readonly error: object };
  const headers = {
    'content-type': 'application/json; charset=UTF-8',
    'cache-control': 'no-store',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...((status === 503 || status === 429) && { 'retry-after': '1' }),
  };
  return new JsonReply({ error: { ...body, code: status } }, status, headers);
}
