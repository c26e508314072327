// The errors of the service, as Google's APIs write them: a code of gRPC, its name, and the HTTP status of both.

/** The codes of gRPC that the service answers, by their names. */
const CODES = {
  INVALID_ARGUMENT: { grpc: 3, http: 400 },
  DEADLINE_EXCEEDED: { grpc: 4, http: 504 },
  NOT_FOUND: { grpc: 5, http: 404 },
  ALREADY_EXISTS: { grpc: 6, http: 409 },
  PERMISSION_DENIED: { grpc: 7, http: 403 },
  RESOURCE_EXHAUSTED: { grpc: 8, http: 429 },
  FAILED_PRECONDITION: { grpc: 9, http: 400 },
  ABORTED: { grpc: 10, http: 409 },
  UNIMPLEMENTED: { grpc: 12, http: 501 },
  INTERNAL: { grpc: 13, http: 500 },
  UNAVAILABLE: { grpc: 14, http: 503 },
  UNAUTHENTICATED: { grpc: 16, http: 401 },
} as const;

/** The name of a code of gRPC. */
export type StatusName = keyof typeof CODES;

/** The status of HTTP that belongs to a code of gRPC. */
export function statusOf(name: StatusName): number {
  return CODES[name].http;
}

/** One member of a request that is not accepted. At the root of a body it has no field. */
export interface Violation {
  readonly field?: string;
  readonly description: string;
}

/** The error that the service answers instead of a result. */
export class ApiError extends Error {
  readonly status: StatusName;
  readonly details: readonly object[];

  constructor(status: StatusName, message: string, details: readonly object[] = []) {
    super(message);
    this.status = status;
    this.details = details;
  }

  get httpStatus(): number {
    return statusOf(this.status);
  }

  /** The body of the answer. */
  toBody(): object {
    const { status, message, details } = this;
    return { error: { code: this.httpStatus, message, status, ...(details.length > 0 && { details }) } };
  }
}

const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

function badRequest(message: string, violations: readonly Violation[]): ApiError {
  return new ApiError('INVALID_ARGUMENT', message, [{ '@type': BAD_REQUEST, fieldViolations: violations }]);
}

/** The refusal by the reader of JSON: all faults at once, a line each. */
export function unreadable(violations: readonly Violation[]): ApiError {
  return badRequest(violations.map(({ description }) => description).join('\n'), violations);
}

/** The refusal by the reader of JSON of a text that is no JSON at all. */
export function notJson(reason: string): ApiError {
  return new ApiError('INVALID_ARGUMENT', `Invalid JSON payload received. ${reason}`);
}

/** The refusal of a readable request: members with their reasons, numbered in the message. */
export function invalidFields(...violations: readonly (readonly [field: string, reason: string])[]): ApiError {
  const found = violations.map(([field, reason], index) => `${index + 1}.Field: ${field}; Message: ${reason}\t`);
  return badRequest(
    `List of found errors:\t${found.join('')}`,
    violations.map(([field, description]) => ({ field, description })),
  );
}

/** A refusal without a reason. */
export function invalidArgument(): ApiError {
  return new ApiError('INVALID_ARGUMENT', 'Request contains an invalid argument.');
}

/** A resource that is not there, under the name by which it was asked for. */
export function notFound(kind: string, name: string): ApiError {
  return new ApiError('NOT_FOUND', `${kind} ${name} not found.`);
}
