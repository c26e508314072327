// Requests of a source to a handler.

import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError, type ErrorCode } from '../model/errors.js';
import type { Signal } from '../async/abort.js';
import type { TabSharing } from './watch/tabs/share.js';

/** Options of `sseSource`. */
export interface SseSourceOptions {
  /** The URL of the handler. Its parameters are kept; those of the target are added. */
  readonly url: string | URL;
  /** Used in the place of the host's `fetch`. */
  readonly fetch?: ((request: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Sent with each request; a function is called before each. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined;
  /** The policy for cookies, for other origins too: see `fetch`. */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * The silence after which a connection counts as dead, in milliseconds; 45,000 by default: three heartbeats of the
   * handler.
   */
  readonly timeout?: number | undefined;
  /**
   * Lets the tabs of an origin share one connection for their watches of whole sessions, as `statepad/react` has
   * them; by default they share none.
   */
  readonly shareTabs?: TabSharing | undefined;
}

/** The URL of a handler, with further parameters. */
export function addressOf(
  url: string | URL,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const [path = '', query = ''] =
    String(url)
      .split('#', 1)[0]
      ?.split(/\?(.*)/s, 2) ?? [];
  const search = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Sends a request to the handler. Throws its refusal, or `STORE_UNAVAILABLE`. */
export async function ask(
  { fetch = globalThis.fetch, headers, credentials }: SseSourceOptions,
  address: string,
  own: { readonly accept: string; readonly body?: string | undefined },
  signal: Signal | undefined,
): Promise<Response> {
  const all = new Headers(typeof headers === 'function' ? await headers() : headers);
  all.set('accept', own.accept);
  if (own.body !== undefined) {
    // With this type a request to another origin needs no preflight.
    all.set('content-type', 'text/plain;charset=UTF-8');
  }
  let response: Response;
  try {
    response = await fetch(address, {
      headers: all,
      cache: 'no-store',
      ...(own.body !== undefined && { method: 'POST', body: own.body }),
      ...defined({ signal, credentials }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new StatepadError('STORE_UNAVAILABLE', `${address} cannot be reached: ${String(cause)}`, { cause });
  }
  if (response.ok) {
    return response;
  }
  throw await errorOf(response, address);
}

/** The error in an answer. */
async function errorOf(response: Response, address: string): Promise<StatepadError> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as { error: unknown };
    const errorInAnswer = errorFromJson(error, status);
    if (errorInAnswer !== undefined) {
      return errorInAnswer;
    }
  } catch {
    // The answer is of another server.
  }
  return new StatepadError('STORE_UNAVAILABLE', `${address} answers with status ${status}`, { status });
}

/** The error in a handler's JSON; `undefined` for other values. */
export function errorFromJson(json: unknown, status?: number): StatepadError | undefined {
  const { code, message, number, committed, ...rest } = (json ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code !== 'string' || typeof message !== 'string') {
    return undefined;
  }
  const its = status ?? (typeof rest.status === 'number' ? rest.status : 500);
  return new StatepadError(code as ErrorCode, message, {
    status: its,
    ...(typeof number === 'string' && { number }),
    ...(committed === true && { committed }),
  });
}

/** True when a retry may help after an error: the handler was unreachable, or cannot do it now. */
export function isPassing(error: unknown): error is StatepadError {
  if (!isStatepadError(error)) {
    return false;
  }
  const { code, status } = error;
  return status === undefined ? code === 'STORE_UNAVAILABLE' : status >= 500 || status === 408 || status === 429;
}
