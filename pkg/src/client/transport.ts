// Requests that are sent until their outcome is known, or their time is over.

import {
  addressOf,
  foreignAnswer,
  headersOf,
  jsonOf,
  refusalOf,
  send,
  type Parameters,
  type Server,
  type ServerRequest,
} from './server.js';
import { orAborted, type Signal } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import { StatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import type { CheckedConnection } from './options.js';

/** The longest pause between attempts, unless the server names a longer one, in milliseconds. */
const MAX_PAUSE_MS = 5_000;

/** One call of the server. */
export interface ServerCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly parameters?: Parameters | undefined;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The reason why the call may be repeated: it only reads; its content names what it writes, as the id of an event
   * does; or it carries a key of its own, by which the server recognizes it. One that may `'never'` be repeated ends
   * with its first attempt that may have happened.
   */
  readonly repeats: 'reading' | 'by content' | 'by key' | 'never';
  readonly signal?: Signal | undefined;
}

/** The answer to a call. */
export interface ServerAnswer<T> {
  readonly json: T;
  readonly headers: Headers;
}

/** The failure of one attempt. */
class Failure {
  readonly error: unknown;
  /**
   * - `refused`: the answer is final
   * - `unsure`: no further attempt is made, and the answer does not say that nothing has happened before
   * - `passing`: nothing has happened, and another attempt may succeed
   * - `open`: it may have happened: another attempt tells
   */
  readonly kind: 'refused' | 'unsure' | 'passing' | 'open';
  /** The pause that the server wants before the next attempt, in milliseconds. */
  readonly pause: number;

  constructor(kind: Failure['kind'], error: unknown, pause = 0) {
    this.kind = kind;
    this.error = error;
    this.pause = pause;
  }
}

/** Sends the calls of one client. */
export class Transport {
  readonly #options: CheckedConnection;

  constructor(options: CheckedConnection) {
    this.#options = options;
  }

  /**
   * Sends a call, again and under the same identity while its outcome is open or the server cannot do it. Throws the
   * refusal of the server; `STORE_UNAVAILABLE` without an answer; the reason of the signal; and of a write
   * `COMMIT_UNKNOWN` once it may have happened.
   */
  async send<T>(call: ServerCall): Promise<ServerAnswer<T>> {
    const { timeout, attempts, pause, server } = this.#options;
    const end = performance.now() + timeout;
    const request = {
      method: call.method,
      address: addressOf(server, call.path, call.parameters),
      headers: ownHeaders(call),
      body: call.body && JSON.stringify(call.body),
    };
    let isOpen = false;
    for (let attempt = 1; ; attempt++) {
      call.signal?.throwIfAborted();
      const limit = Math.min(timeout / 3, end - performance.now());
      const outcome = await attemptOf<T>(server, request, call.signal, limit);
      if (!(outcome instanceof Failure)) {
        return outcome;
      }
      const { kind, error } = outcome;
      isOpen = kind !== 'refused' && (isOpen || kind === 'open') && call.repeats !== 'reading';
      const wait = Math.max(outcome.pause, pauseAfter(attempt, pause));
      const isLast = attempt >= attempts || performance.now() + wait >= end || (isOpen && call.repeats === 'never');
      if (kind === 'refused' || kind === 'unsure' || isLast || call.signal?.aborted) {
        throw isOpen ? unknownOutcome(error) : error;
      }
      await sleep(wait, call.signal).catch((reason: unknown) => {
        throw isOpen ? unknownOutcome(reason) : reason;
      });
    }
  }
}

function ownHeaders({ headers, body, repeats }: ServerCall): ServerRequest['headers'] {
  return {
    accept: 'application/json',
    'content-type': body && 'application/json',
    'idempotency-key': repeats === 'by key' ? newId() : undefined,
    ...headers,
  };
}

/** Grows with every attempt, with jitter, so that clients that failed together do not come back together. */
function pauseAfter(attempt: number, first: number): number {
  return Math.min(MAX_PAUSE_MS, first * 2 ** Math.min(attempt - 1, 20)) * (0.5 + Math.random() / 2);
}

/** One attempt of at most so many milliseconds. Never throws. */
async function attemptOf<T>(
  server: Server,
  request: ServerRequest,
  signal: Signal | undefined,
  limit: number,
): Promise<ServerAnswer<T> | Failure> {
  const { address } = request;
  const ending = new AbortController();
  const late = new StatepadError('STORE_UNAVAILABLE', `${address} does not answer within ${Math.round(limit)} ms`);
  const timer = setTimeout(() => ending.abort(late), limit);
  const abort = (): void => ending.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  // The caller's function, and not every `fetch`, ends when a signal does.
  const within = async <R>(promise: Promise<R>): Promise<R> => await orAborted(promise, ending.signal);
  let isSent = false;
  try {
    const headers = await within(headersOf(server, request));
    isSent = true;
    const response = await within(send(server, request, headers, ending.signal));
    return await within(outcomeOf<T>(response, request));
  } catch (error) {
    return new Failure(isSent ? 'open' : 'unsure', error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The outcome that an answer tells. Throws `STORE_UNAVAILABLE` for one that was cut. */
async function outcomeOf<T>(
  response: Response,
  { address, method }: ServerRequest,
): Promise<ServerAnswer<T> | Failure> {
  const { status, headers, ok, redirected, url } = response;
  if (redirected && method !== 'GET') {
    const message = `${address} redirects to ${url}, and a redirected request may write nothing: connect to that URL`;
    return new Failure('unsure', new StatepadError('INVALID_ARGUMENT', message, { path: 'url', status }));
  }
  if (ok) {
    return { json: (status === 204 ? undefined : await objectOf(response, address)) as T, headers };
  }
  const refusal = await refusalOf(response, address);
  const pause = pauseIn(headers);
  return refusal === undefined
    ? new Failure(kindOfForeign(status), foreignAnswer(address, status), pause)
    : new Failure(kindOf(refusal, headers), refusal, pause);
}

/** The object in an answer. Throws `STORE_UNAVAILABLE` for a cut one, and for that of another program. */
async function objectOf(response: Response, address: string): Promise<object> {
  const json = await jsonOf(response, address);
  if (typeof json !== 'object' || json === null) {
    throw foreignAnswer(address, response.status);
  }
  return json;
}

/** The meaning of the server's refusal. */
function kindOf({ code, status = 500 }: StatepadError, headers: Headers): Failure['kind'] {
  // A conflict that passes: an earlier attempt of this call is still being carried out.
  if (code === 'COMMIT_UNKNOWN' || (code === 'STATE_CONFLICT' && headers.has('retry-after'))) {
    return 'open';
  }
  if (status === 408 || status === 429 || (status === 503 && code !== 'STORE_UNSUITABLE')) {
    return 'passing';
  }
  return status >= 500 || status === 401 || status === 403 ? 'unsure' : 'refused';
}

/** The meaning of an answer of another program: whether the server has got the request is unknown. */
function kindOfForeign(status: number): Failure['kind'] {
  return status >= 500 ? 'open' : status === 408 || status === 429 ? 'passing' : 'unsure';
}

/** The pause that an answer asks for, in milliseconds. */
function pauseIn(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const pause = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return pause > 0 ? pause : 0;
}

/** The error of a write that may have happened. */
function unknownOutcome(cause: unknown): StatepadError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `it is unknown whether the server has carried out the request: ${why}`;
  return new StatepadError('COMMIT_UNKNOWN', message, { cause });
}
