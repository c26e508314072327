// Watching over HTTP: the side that reads.

import { MessageReader, placeText, readChange } from './wire.js';
import type { Signal } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import { checkFunction, checkObject, checkOptions, invalid } from '../checks/arguments.js';
import { isStatepadError, StatepadError, type ErrorCode } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import type { GetSessionRequest, Session } from '../model/types.js';
import type { SessionSource, WatchedChange, WatchKey, WatchOptions, WatchTarget } from '../model/watch.js';

/** Options of {@link sseSource}. */
export interface SseSourceOptions {
  /** The address of the handler. Parameters that it has are kept; those of the target are added. */
  readonly url: string | URL;
  /** Used in the place of the host's `fetch`. */
  readonly fetch?: ((request: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Sent with each request; a function is asked before each. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined;
  /** Whether cookies are sent to another origin: see `fetch`. */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * After how long without a word a connection counts as dead, in milliseconds; 45,000 unless told otherwise: three
   * heartbeats of the handler.
   */
  readonly timeout?: number | undefined;
}

const OPTIONS = ['url', 'fetch', 'headers', 'credentials', 'timeout'];
/** What `watch` of a service knows; `poll` and `buffer` are the handler's business. */
const WATCH_OPTIONS = ['signal', 'since', 'initial', 'poll', 'buffer'];

/** The longest pause before connecting again, in milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** The first pause, until the handler says another, in milliseconds. */
const PAUSE_MS = 1_000;
/** Answers after which asking again makes sense. */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/**
 * Sessions behind a handler of `sseHandler`: they can be read and watched as those of a `SessionService`, and used
 * with `statepad/react`. A connection that breaks is made anew, with growing pauses while that fails, and goes on
 * where it broke: no change is missing or told twice.
 *
 * `getSession` and `watch` throw `STORE_UNAVAILABLE` when the handler cannot be reached, or says so; `watch` only at
 * its first connection: from then on it goes on trying. They throw what the handler says for the rest:
 * `INVALID_ARGUMENT`, `SESSION_NOT_FOUND` (of `watch`), and `STORE_UNAVAILABLE` with the status for answers that are
 * no handler's.
 *
 * @example
 * const source = sseSource({ url: '/session' });
 * for await (const change of source.watch({ appName, userId, sessionId }, { signal })) {
 *   console.log(change);
 * }
 */
export function sseSource(options: SseSourceOptions): SessionSource {
  checkObject(options, 'options');
  checkOptions(options, OPTIONS);
  const { url, fetch, timeout }: { [Name in keyof SseSourceOptions]?: unknown } = options;
  if (typeof url !== 'string' && !(url instanceof URL)) {
    invalid('url', url === undefined ? 'is missing' : 'must be a string or a URL');
  }
  if (fetch !== undefined) {
    checkFunction(fetch, 'fetch');
  }
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) {
    invalid('timeout', 'must be a number of milliseconds above 0');
  }
  return {
    getSession: async (request) => await readSession(options, request),
    watch: ((target: WatchKey, watching: WatchOptions = {}) => {
      checkOptions(watching, WATCH_OPTIONS);
      return new Watcher(options, keyOf(target), watching).changes();
    }) as SessionSource['watch'],
  };
}

function keyOf(target: WatchTarget): WatchKey {
  checkObject(target, 'target');
  const { appName, userId } = target;
  const sessionId = 'sessionId' in target ? target.sessionId : 'id' in target ? target.id : undefined;
  return { appName, userId, sessionId };
}

/** The address for a target, with further parameters. */
function addressOf(url: string | URL, parameters: Readonly<Record<string, string | number | undefined>>): string {
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
  return `${path}?${search}`;
}

async function readSession(
  options: SseSourceOptions,
  { appName, userId, sessionId, config, signal }: GetSessionRequest,
): Promise<Session | undefined> {
  const address = addressOf(options.url, { appName, userId, sessionId, ...config });
  try {
    const response = await request(options, address, { accept: 'application/json' }, signal);
    return deepFreeze((await response.json()) as Session);
  } catch (error) {
    signal?.throwIfAborted();
    if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/** Asks the handler. Throws what it refuses with, or `STORE_UNAVAILABLE`. */
async function request(
  { fetch = globalThis.fetch, headers, credentials }: SseSourceOptions,
  address: string,
  own: Readonly<Record<string, string>>,
  signal: Signal | undefined,
): Promise<Response> {
  const all = new Headers(typeof headers === 'function' ? await headers() : headers);
  Object.entries(own).forEach(([name, value]) => all.set(name, value));
  let response: Response;
  try {
    response = await fetch(address, {
      headers: all,
      cache: 'no-store',
      ...(signal !== undefined && { signal }),
      ...(credentials !== undefined && { credentials }),
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

/** The error that an answer tells. */
async function errorOf(response: Response, address: string): Promise<StatepadError> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as { error: { code: ErrorCode; message: string } };
    if (typeof error.code === 'string' && typeof error.message === 'string') {
      return new StatepadError(error.code, error.message, { actual: status });
    }
  } catch {
    // No handler of ours has answered.
  }
  return new StatepadError('STORE_UNAVAILABLE', `${address} answers with status ${status}`, { actual: status });
}

/** One watcher, over as many connections as it takes. */
class Watcher {
  readonly #options: SseSourceOptions;
  readonly #key: WatchKey;
  readonly #signal: Signal | undefined;
  /** `Last-Event-ID`: where the next connection goes on. */
  #place: string | undefined;
  #pause = PAUSE_MS;
  /** How many connections in a row have told nothing. */
  #failures = 0;
  /** Whether there ever was a connection. */
  #wasConnected = false;
  /** The handler begins with all values as they are, which is told only to those who have asked for it. */
  #isInitial: boolean;

  constructor(options: SseSourceOptions, key: WatchKey, { since, initial = false, signal }: WatchOptions) {
    this.#isInitial = !initial && since === undefined && key.sessionId === undefined;
    this.#options = options;
    this.#key = key;
    this.#signal = signal;
    this.#place = since === undefined ? undefined : placeText({ at: since });
  }

  async *changes(): AsyncGenerator<WatchedChange, void, undefined> {
    const connection = new AbortController();
    const end = (): void => connection.abort(this.#signal?.reason);
    this.#signal?.throwIfAborted();
    this.#signal?.addEventListener('abort', end);
    try {
      for (;;) {
        for await (const change of this.#connected(connection)) {
          yield change;
          if (change.type === 'deleted') {
            return;
          }
        }
        this.#signal?.throwIfAborted();
        await sleep(this.#nextPause(), this.#signal);
      }
    } finally {
      this.#signal?.removeEventListener('abort', end);
      connection.abort();
    }
  }

  /** What one connection tells, until it breaks. Throws what makes no sense to try again. */
  async *#connected(all: AbortController): AsyncGenerator<WatchedChange, void, undefined> {
    const one = new AbortController();
    const end = (): void => one.abort(all.signal.reason);
    all.signal.addEventListener('abort', end);
    try {
      const response = await this.#connect(one.signal);
      if (response === 'gone') {
        yield { type: 'deleted' };
        return;
      }
      if (response?.body) {
        yield* this.#read(response.body, one);
      }
    } finally {
      all.signal.removeEventListener('abort', end);
      one.abort();
    }
  }

  async #connect(signal: AbortSignal): Promise<Response | 'gone' | undefined> {
    const place = this.#place;
    const own = { accept: 'text/event-stream', ...(place !== undefined && { 'last-event-id': place }) };
    try {
      const response = await request(this.#options, addressOf(this.#options.url, { ...this.#key }), own, signal);
      this.#wasConnected = true;
      return response;
    } catch (error) {
      this.#signal?.throwIfAborted();
      const { code, actual: status } = error as StatepadError;
      if (this.#wasConnected && code === 'SESSION_NOT_FOUND') {
        return 'gone';
      }
      const isLost = isStatepadError(error) && (status === undefined || isPassing(status));
      if (!this.#wasConnected || !isLost) {
        throw error;
      }
      return undefined;
    }
  }

  /** The changes of one body, as they come. */
  async *#read(
    body: ReadableStream<Uint8Array>,
    one: AbortController,
  ): AsyncGenerator<WatchedChange, void, undefined> {
    const waiting: WatchedChange[] = [];
    let place: string | undefined;
    const messages = new MessageReader({
      place: (id) => {
        place = id;
      },
      message: (message) => {
        const change = readChange(message);
        if (change !== undefined) {
          waiting.push(change);
        }
      },
      retry: (pause) => {
        this.#pause = pause;
      },
    });
    const reader = body.getReader();
    for (;;) {
      const piece = await this.#piece(reader, one);
      if (piece === undefined) {
        return;
      }
      messages.push(piece);
      this.#failures = 0;
      for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) {
        if (this.#isInitial) {
          this.#isInitial = false;
        } else {
          yield change;
        }
      }
      this.#place = place ?? this.#place;
    }
  }

  /** The next piece of a body; `undefined` when it has ended, broken or said nothing for too long. */
  async #piece(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    one: AbortController,
  ): Promise<Uint8Array | undefined> {
    const timer = setTimeout(() => one.abort(), this.#options.timeout ?? 45_000);
    try {
      return (await reader.read()).value;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Grows while nothing comes, with jitter, so that what broke together does not connect together. */
  #nextPause(): number {
    this.#failures += 1;
    const pause = Math.min(MAX_PAUSE_MS, this.#pause * 2 ** Math.min(this.#failures - 1, 10));
    return pause * (0.5 + Math.random() / 2);
  }
}
