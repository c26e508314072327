// Watching over HTTP: the side that serves.

import { HEARTBEAT, parsePlace, placeOf, writeChange, writePlace, type Place } from './wire.js';
import { checkFunction, checkMethods, checkObject, checkOptions, invalid } from '../checks/arguments.js';
import { isStatepadError, StatepadError, type ErrorCode } from '../model/errors.js';
import type { Session, GetSessionConfig, SessionKey } from '../model/types.js';
import type { SessionSource, WatchedChange, WatchKey, WatchOptions } from '../model/watch.js';

/** Options of {@link sseHandler}. */
export interface SseHandlerOptions {
  /**
   * Says what a request may watch: here is where the user is known. A `Response` refuses it: 401, 403, or whatever
   * fits. {@link targetOf} reads what the request asks for.
   */
  readonly target: (request: Request) => WatchKey | Response | Promise<WatchKey | Response>;
  /**
   * How often a connection that has nothing to tell is written to, in milliseconds, so that proxies keep it open and
   * the other side notices when it is dead; 15,000 unless told otherwise.
   */
  readonly heartbeat?: number | undefined;
  /** How long a client waits before it connects again, in milliseconds; 1,000 unless told otherwise. */
  readonly retry?: number | undefined;
  /** How often the store is asked at least, in milliseconds: see `WatchOptions.poll`. */
  readonly poll?: number | undefined;
}

/** Options of the handler, complete. */
interface Settings {
  readonly heartbeat: number;
  readonly retry: number;
  readonly poll: number | undefined;
}

/** The parameters of the address that name a target. */
const PARAMETERS = ['appName', 'userId', 'sessionId'] as const;

/**
 * What a request asks to watch: the parameters `appName`, `userId` and `sessionId` of its address, as `sseSource`
 * sends them. It does not say whether the user may. Throws `INVALID_ARGUMENT` when there is no `appName`.
 */
export function targetOf(request: Request): WatchKey {
  const { searchParams } = new URL(request.url);
  const given = PARAMETERS.flatMap((name) => {
    const value = searchParams.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const target = Object.fromEntries(given) as Partial<SessionKey>;
  if (target.appName === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'appName is missing in the address', { path: 'appName' });
  }
  return target as WatchKey;
}

/**
 * Makes a handler for the Fetch API that tells the changes of what a request may watch as server-sent events, from
 * `Last-Event-ID` (or the parameter `since`) on, without gap or repeat. Browsers can read it with `EventSource`, all
 * hosts with {@link sseSource}. A request that does not accept `text/event-stream` gets the session itself as JSON.
 *
 * Errors are answered as JSON, `{ error: { code, message } }`: 400 for what cannot be understood, 404 for a session
 * that is not there, 503 when the service is closed or the store not available, 500 otherwise.
 *
 * @example
 * export const GET = sseHandler(service, {
 *   target: async (request) => {
 *     const userId = await userOf(request);
 *     return userId ? { ...targetOf(request), userId } : new Response(null, { status: 401 });
 *   },
 * });
 */
export function sseHandler(
  service: SessionSource,
  options: SseHandlerOptions,
): (request: Request) => Promise<Response> {
  checkMethods(service, 'service', ['getSession', 'watch']);
  checkObject(options, 'options');
  checkOptions(options, ['target', 'heartbeat', 'retry', 'poll']);
  checkFunction(options.target, 'target');
  const { heartbeat = 15_000, retry = 1_000, poll } = options;
  const settings: Settings = { heartbeat: duration(heartbeat, 'heartbeat'), retry: duration(retry, 'retry'), poll };
  return async (request) => {
    if (request.method !== 'GET') {
      return new Response(null, { status: 405, headers: { allow: 'GET' } });
    }
    try {
      const target = await options.target(request);
      if (target instanceof Response) {
        return target;
      }
      return accepts(request)
        ? await stream(service, target, request, settings)
        : await snapshot(service, target, request);
    } catch (error) {
      return refused(error);
    }
  };
}

function duration(given: unknown, path: string): number {
  if (typeof given !== 'number' || !(given >= 1 && given <= MAX_DURATION_MS)) {
    invalid(path, `must be a number of milliseconds from 1 to ${MAX_DURATION_MS}`);
  }
  return given;
}

/** What a timer can wait for. */
const MAX_DURATION_MS = 2 ** 31 - 1;

function accepts(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}

const isSession = (target: WatchKey): target is SessionKey => target.sessionId !== undefined;

/** The session as JSON. */
async function snapshot(service: SessionSource, target: WatchKey, request: Request): Promise<Response> {
  if (!isSession(target)) {
    const message = 'the values of a user or an app can be watched only: accept text/event-stream';
    return Response.json({ error: { code: 'INVALID_ARGUMENT', message } }, { status: 406 });
  }
  const { searchParams } = new URL(request.url);
  const number = (name: string): number | undefined => {
    const given = searchParams.get(name);
    return given === null ? undefined : Number(given);
  };
  const config = { numRecentEvents: number('numRecentEvents'), afterTimestamp: number('afterTimestamp') };
  const { id, appName, userId, state, events, lastUpdateTime, revision } = await found(service, target, config);
  return Response.json(
    { id, appName, userId, state, events, lastUpdateTime, revision },
    { headers: { 'cache-control': 'no-store' } },
  );
}

async function found(service: SessionSource, key: SessionKey, config: GetSessionConfig): Promise<Session> {
  const { appName, userId, sessionId } = key;
  const session = await service.getSession({ appName, userId, sessionId, config });
  if (session === undefined) {
    throw new StatepadError('SESSION_NOT_FOUND', `session "${sessionId}" was not found`, { id: sessionId });
  }
  return session;
}

/** The changes as server-sent events. */
async function stream(
  service: SessionSource,
  target: WatchKey,
  request: Request,
  settings: Settings,
): Promise<Response> {
  const given = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('since');
  const asked = given === null ? undefined : parsePlace(given);
  // A session has to be there, and where it stands is the place to begin at.
  const session = isSession(target) ? await found(service, target, { numRecentEvents: 1 }) : undefined;
  const begin = asked ?? (session && { at: session.revision, eventId: session.events.at(-1)?.id });
  const end = new AbortController();
  request.signal.addEventListener('abort', () => end.abort(), { once: true });
  const { poll } = settings;
  const changes = resume(service, target, begin, session?.revision, { poll, signal: end.signal });
  const told = begin === undefined || asked !== undefined ? '' : writePlace(begin);
  const body = new ReadableStream(new ChangeSource(changes, settings, end, told));
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies hold back what they hope to compress.
      'x-accel-buffering': 'no',
    },
  });
}

/**
 * Watches from a place on. The event at the place itself is read once more: another one there, or none, means that
 * what the client has seen is not what the store has any more.
 */
async function* resume(
  service: SessionSource,
  target: WatchKey,
  place: Place | undefined,
  revision: number | undefined,
  options: WatchOptions,
): AsyncGenerator<WatchedChange, void, undefined> {
  if (place !== undefined && revision !== undefined && place.at > revision) {
    yield { type: 'reload', revision };
    yield* service.watch(target, { ...options, since: revision });
    return;
  }
  if (place === undefined) {
    // Of values there is no place before they were read: these are the first that is told.
    yield* service.watch(target, { ...options, initial: true });
    return;
  }
  const { at, eventId } = place;
  const isChecked = at > 0 && eventId !== undefined;
  const since = isChecked ? at - 1 : at;
  let isFirst = isChecked;
  for await (const change of service.watch(target, { ...options, since })) {
    const isKnown = isFirst && change.type === 'event' && change.revision === at;
    isFirst = false;
    if (!isKnown) {
      yield change;
    } else if (change.event.id !== eventId) {
      yield { type: 'reload', revision: change.revision };
    }
  }
}

/** What a stream is filled from: the next change when there is room for it, and heartbeats meanwhile. */
class ChangeSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #changes: AsyncGenerator<WatchedChange, void, undefined>;
  readonly #settings: Settings;
  readonly #end: AbortController;
  readonly #told: string;
  readonly #encoder = new TextEncoder();
  /** The change that is waited for. */
  #next: Promise<IteratorResult<WatchedChange, void> | undefined> | undefined;

  constructor(
    changes: AsyncGenerator<WatchedChange, void, undefined>,
    settings: Settings,
    end: AbortController,
    told: string,
  ) {
    this.#changes = changes;
    this.#settings = settings;
    this.#end = end;
    this.#told = told;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.enqueue(this.#encoder.encode(`retry: ${this.#settings.retry}\n\n${this.#told}`));
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    // What fails ends the stream: the client connects again, and is told then.
    this.#next ??= this.#changes.next().catch(() => undefined);
    const next = await within(this.#next, this.#settings.heartbeat);
    if (next === 'later') {
      controller.enqueue(this.#encoder.encode(HEARTBEAT));
      return;
    }
    this.#next = undefined;
    if (next === undefined || next.done === true) {
      controller.close();
      this.#end.abort();
      return;
    }
    controller.enqueue(this.#encoder.encode(writeChange(next.value)));
    if (placeOf(next.value) === undefined) {
      controller.close();
      this.#end.abort();
    }
  }

  cancel(): void {
    this.#end.abort();
  }
}

/** What a promise comes to, or `later` when that takes longer than so many milliseconds. */
async function within<T>(promise: Promise<T>, time: number): Promise<T | 'later'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = new Promise<'later'>((resolve) => {
    timer = setTimeout(() => resolve('later'), time);
  });
  try {
    return await Promise.race([promise, later]);
  } finally {
    clearTimeout(timer);
  }
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  SESSION_NOT_FOUND: 404,
  STORE_UNAVAILABLE: 503,
  CLOSED: 503,
  NOT_READY: 503,
};

/** The answer for an error. What is none of ours says nothing about the inside. */
function refused(error: unknown): Response {
  if (!isStatepadError(error)) {
    throw error;
  }
  const { code, message } = error;
  return Response.json({ error: { code, message } }, { status: STATUS[code] ?? 500 });
}
