// One request to the server, and its errors.

import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError, type ErrorCode, type ErrorDetails } from '../model/errors.js';
import type { Signal } from '../async/abort.js';

/** The server, and what is sent to it with each request. */
export interface Server {
  /** The beginning of all addresses, without a slash at its end. */
  readonly base: string;
  /** The parameters of all addresses. */
  readonly parameters: string;
  readonly token: string | undefined;
  readonly headers: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined;
  readonly fetch: ((request: string, init: RequestInit) => Promise<Response>) | undefined;
  readonly credentials: RequestCredentials | undefined;
}

/** The parameters of an address. Those that are `undefined` are left out. */
export type Parameters = Readonly<Record<string, string | number | undefined>>;

/** One request. */
export interface ServerRequest {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

/** The address of a path of the server. */
export function addressOf({ base, parameters }: Server, path: string, own: Parameters = {}): string {
  const search = new URLSearchParams(parameters);
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return search.size === 0 ? `${base}${path}` : `${base}${path}?${search}`;
}

/**
 * The headers of a request, before anything is sent. Throws the errors of the caller's function, and
 * `INVALID_ARGUMENT`, also for a path outside of a page.
 */
export async function headersOf(
  { base, fetch, headers, token }: Server,
  { headers: own }: ServerRequest,
): Promise<Headers> {
  if (!/^https?:/i.test(base) && fetch === undefined && typeof location === 'undefined') {
    const message = `url must be complete outside of a page, like https://example.com${base}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { path: 'url' });
  }
  const given = typeof headers === 'function' ? await headers() : headers;
  let all: Headers;
  try {
    all = new Headers(given);
  } catch (cause) {
    throw new StatepadError('INVALID_ARGUMENT', 'headers cannot be sent: they have an invalid name or value', {
      path: 'headers',
      cause,
    });
  }
  if (token !== undefined) {
    all.set('authorization', `Bearer ${token}`);
  }
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined) {
      all.set(name, value);
    }
  }
  return all;
}

/** Sends a request. Throws `STORE_UNAVAILABLE` when there is no answer, and the reason of an aborted signal. */
export async function send(
  { fetch = globalThis.fetch, credentials }: Server,
  { method, address, body }: ServerRequest,
  headers: Headers,
  signal: Signal | undefined,
): Promise<Response> {
  try {
    return await fetch(address, {
      method,
      headers,
      cache: 'no-store',
      ...defined({ body, signal, credentials }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new StatepadError('STORE_UNAVAILABLE', `${address} cannot be reached: ${String(cause)}`, { cause });
  }
}

/** Sends a request with its headers. Throws also the refusal in an answer. */
export async function ask(server: Server, request: ServerRequest, signal: Signal | undefined): Promise<Response> {
  const response = await send(server, request, await headersOf(server, request), signal);
  if (response.ok) {
    return response;
  }
  throw (await refusalOf(response, request.address)) ?? foreignAnswer(request.address, response.status);
}

/**
 * The JSON in an answer; `undefined` in an answer of another program. Throws `STORE_UNAVAILABLE` for one that was cut.
 */
export async function jsonOf(response: Response, address: string): Promise<unknown> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  try {
    return isJson ? ((await response.json()) as unknown) : undefined;
  } catch (cause) {
    const { status } = response;
    throw new StatepadError('STORE_UNAVAILABLE', `the answer of ${address} is not complete`, { status, cause });
  }
}

/** The server's own error in an answer; `undefined` in an answer of another program. Throws as {@link jsonOf}. */
export async function refusalOf(response: Response, address: string): Promise<StatepadError | undefined> {
  const json = (await jsonOf(response, address)) as { readonly error?: unknown } | null | undefined;
  return errorFromJson(json?.error, response.status);
}

/** The answers of other programs that say more than that the server cannot be reached. */
const FOREIGN: Readonly<Record<number, ErrorCode>> = {
  413: 'TOO_LARGE',
  429: 'TOO_MANY_REQUESTS',
};

/** The error for an answer of another program, such as a proxy: for instance its own limit of bodies. */
export function foreignAnswer(address: string, status: number): StatepadError {
  return new StatepadError(FOREIGN[status] ?? 'STORE_UNAVAILABLE', `${address} answers with status ${status}`, {
    status,
  });
}

/** The details of an error that a server sends, by their types. */
const DETAILS: Readonly<Record<string, readonly (keyof ErrorDetails)[]>> = {
  string: ['key', 'path', 'id', 'number', 'reason', 'exceeded'],
  number: ['expected', 'actual', 'until', 'size', 'limit', 'status'],
  boolean: ['committed'],
};

/** The error in a server's JSON; `undefined` for other values. */
export function errorFromJson(json: unknown, status?: number): StatepadError | undefined {
  const { code, message, ...rest } = (json ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code !== 'string' || typeof message !== 'string') {
    return undefined;
  }
  const details: Record<string, unknown> = { status: 500 };
  for (const [type, names] of Object.entries(DETAILS)) {
    for (const name of names.filter((each) => typeof rest[each] === type)) {
      details[name] = rest[name];
    }
  }
  return new StatepadError(code as ErrorCode, message, { ...details, ...defined({ status }) });
}

/** True when a retry may help after an error: the server was unreachable, or cannot do it now. */
export function isPassing(error: unknown): error is StatepadError {
  if (!isStatepadError(error)) {
    return false;
  }
  const { code, status } = error;
  return status === undefined ? code === 'STORE_UNAVAILABLE' : status >= 500 || status === 408 || status === 429;
}
