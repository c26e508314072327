// Watching over HTTP: the server side.

import { existingSession, openTarget, type OpenedTarget } from './changes.js';
import { configOf, severalTargets, singleTarget, type RequestedTarget } from '../../http/watch-targets.js';
import { HEARTBEAT, placeOf, writeChange, writeError, writePlace, type Numbered } from '../../http/watch-wire.js';
import { checkFunction, checkMethods, checkObject, checkOptions, invalid } from '../../checks/arguments.js';
import { ErrorLog, type OnError } from '../../http/answers.js';
import { Cors, type CorsOptions } from '../../http/cors.js';
import { authorized, EVERYONE, type Authorize, type Rights } from '../../http/principal.js';
import { visibleChange, visibleSession } from '../../http/visible.js';
import { StreamLimit, type StreamLimitOptions } from '../../http/stream-limit.js';
import { TextStream } from '../../http/text-stream.js';
import type { SessionKey } from '../../model/types.js';
import type { SessionSource } from '../../model/watch.js';

/** Options of {@link sseHandler}. */
export interface SseHandlerOptions {
  /**
   * Returns a principal, whose rights limit the request; a `Response` that refuses it; or `undefined`, which is
   * answered with status 401. Without this function nothing is served.
   */
  readonly authorize?: Authorize | undefined;
  /** In the place of `authorize`: everyone may see everything. For demos. */
  readonly insecure?: boolean | undefined;
  /**
   * The interval of heartbeats on an idle connection, in milliseconds, so that proxies keep it open and the client
   * detects a dead one; 15,000 by default.
   */
  readonly heartbeat?: number | undefined;
  /** The time that a client waits before it reconnects, in milliseconds; 1,000 by default, and at least 100. */
  readonly retry?: number | undefined;
  /** The longest interval between questions to the store, in milliseconds: see `WatchOptions.poll`. */
  readonly poll?: number | undefined;
  /** The limit on a client's simultaneous streams; none by default. */
  readonly limit?: StreamLimitOptions | undefined;
  /** The pages of other origins that may read answers; none by default. */
  readonly cors?: CorsOptions | undefined;
  /**
   * Receives errors that clients do not see: those of the store, of `authorize`, and those inside a stream, each with
   * the number that the client gets. The console by default.
   */
  readonly onError?: OnError | undefined;
}

const OPTIONS = ['authorize', 'insecure', 'heartbeat', 'retry', 'poll', 'limit', 'cors', 'onError'];
const METHODS = ['GET', 'POST'];

/** The shortest time after which clients may reconnect, in milliseconds. */
const LEAST_RETRY_MS = 100;
/** The longest duration of a timer. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/**
 * Makes a handler for the Fetch API that sends the changes of the requested targets as server-sent events, from
 * `Last-Event-ID` (or the parameter `since`) on, without a gap or a repeat. Browsers can read it with `EventSource`,
 * all hosts with `sseSource`. A request that does not accept `text/event-stream` gets the session itself as JSON.
 *
 * The request names the targets, and `authorize` returns the principal: targets that it may not see are answered with
 * 403, present or not.
 *
 * Errors are answered as JSON, `{ error: { code, message, number? } }`: 400 for an invalid request, 401, 403, 404 for
 * a missing session, 413, 429, 503 when the service is closed or the store unavailable, 500 otherwise. Internal
 * errors reveal no more than their code and the number under which `onError` received them. The handler never
 * rejects.
 *
 * @example
 * const handler = sseHandler(service, {
 *   authorize: async (request) => {
 *     const userId = await userOf(request);
 *     return userId === undefined ? undefined : { id: userId, apps: ['tutor'], users: [userId] };
 *   },
 * });
 * export { handler as GET, handler as POST };
 */
export function sseHandler(
  service: SessionSource,
  options: SseHandlerOptions,
): (request: Request) => Promise<Response> {
  checkMethods(service, 'service', ['getSession', 'watch']);
  checkObject(options, 'options');
  checkOptions(options, OPTIONS);
  const handler = new SseHandler(service, options);
  return async (request) => await handler.answer(request);
}

class SseHandler {
  readonly #service: SessionSource;
  readonly #authorize: Authorize;
  readonly #heartbeat: number;
  readonly #retry: number;
  readonly #poll: number | undefined;
  readonly #limit: StreamLimit;
  readonly #cors: Cors | undefined;
  readonly #errors: ErrorLog;

  constructor(
    service: SessionSource,
    { authorize, insecure = false, heartbeat = 15_000, retry = 1_000, poll, limit, cors, onError }: SseHandlerOptions,
  ) {
    this.#service = service;
    this.#authorize = authorizerOf(authorize, insecure);
    this.#heartbeat = duration(heartbeat, 'heartbeat', 1);
    this.#retry = duration(retry, 'retry', LEAST_RETRY_MS);
    this.#poll = poll;
    this.#limit = new StreamLimit(limit);
    this.#cors = cors === undefined ? undefined : new Cors(cors);
    if (onError !== undefined) {
      checkFunction(onError, 'onError');
    }
    this.#errors = new ErrorLog(onError);
  }

  async answer(request: Request): Promise<Response> {
    if (this.#cors !== undefined && request.method === 'OPTIONS') {
      return this.#cors.preflight(request, METHODS);
    }
    if (!METHODS.includes(request.method)) {
      return new Response(null, { status: 405, headers: { allow: METHODS.join(', ') } });
    }
    let response: Response;
    try {
      response = await this.#answer(request);
    } catch (error) {
      response = this.#errors.answer(error, request);
    }
    return this.#cors?.allow(request, response) ?? response;
  }

  async #answer(request: Request): Promise<Response> {
    const rights = await authorized(this.#authorize, request);
    if (rights instanceof Response) {
      return rights;
    }
    const several = await severalTargets(request);
    if (several !== undefined) {
      return this.#several(several, rights, request);
    }
    const requested = singleTarget(request);
    rights.check(requested.target);
    return accepts(request)
      ? await this.#single(requested, rights, request)
      : await this.#snapshot(requested, rights, request);
  }

  /** The session as JSON. */
  async #snapshot({ target }: RequestedTarget, rights: Rights, request: Request): Promise<Response> {
    if (target.sessionId === undefined) {
      const message = 'the values of a user or an app can be watched only: accept text/event-stream';
      return Response.json({ error: { code: 'INVALID_ARGUMENT', message } }, { status: 406 });
    }
    const session = await existingSession(this.#service, target as SessionKey, configOf(request));
    return Response.json(visibleSession(rights, session), { headers: { 'cache-control': 'no-store' } });
  }

  /** The changes of one target: its error is the answer. */
  async #single(requested: RequestedTarget, rights: Rights, request: Request): Promise<Response> {
    const stream = this.#open(rights, request);
    try {
      const opened = await openTarget(this.#service, requested, { poll: this.#poll, signal: stream.ended });
      if (requested.since === undefined) {
        stream.write(writePlace(opened.place, undefined));
      }
      void this.#tell(opened, { stream, rights, target: undefined })
        .catch((error: unknown) => {
          // The client reconnects, and gets the error then.
          this.#logUnlessEnded(error, request, stream);
        })
        .then(() => stream.close());
    } catch (error) {
      stream.close();
      throw error;
    }
    return answerOf(stream);
  }

  /** The changes of several targets in one stream, which also carries the errors of single ones. */
  #several(several: readonly RequestedTarget[], rights: Rights, request: Request): Response {
    const stream = this.#open(rights, request);
    // One listener for all of them: hosts warn of a signal with many listeners.
    const ends = several.map(() => new AbortController());
    stream.ended.addEventListener('abort', () => ends.forEach((end) => end.abort()), { once: true });
    const telling = several.map(async (requested, target) => {
      try {
        rights.check(requested.target);
        const { signal } = ends[target] as AbortController;
        const opened = await openTarget(this.#service, requested, { poll: this.#poll, signal });
        stream.write(writePlace(opened.place, target));
        await this.#tell(opened, { stream, rights, target });
      } catch (error) {
        if (!stream.ended.aborted) {
          stream.write(writeError(this.#errors.report(error, request), target));
        }
      }
    });
    void Promise.all(telling).then(() => stream.close());
    return answerOf(stream);
  }

  /** A stream, counted as one of its client's. Throws `TOO_MANY_REQUESTS`. */
  #open(rights: Rights, request: Request): TextStream {
    const leave = this.#limit.enter(request, rights);
    const heartbeat = { text: HEARTBEAT, every: this.#heartbeat };
    const stream = new TextStream({ heartbeat, ends: rights.ends, signal: request.signal });
    if (stream.ended.aborted) {
      leave();
    } else {
      stream.ended.addEventListener('abort', leave, { once: true });
    }
    stream.write(`retry: ${this.#retry}\n\n`);
    return stream;
  }

  /** Sends changes, each when there is room for it. */
  async #tell(
    { changes }: OpenedTarget,
    { stream, rights, target }: { readonly stream: TextStream; readonly rights: Rights; readonly target: Numbered },
  ): Promise<void> {
    for await (const change of changes) {
      await stream.room();
      const visible = visibleChange(rights, change);
      stream.write(visible === undefined ? writePlace(placeOf(change), target) : writeChange(visible, target));
    }
  }

  #logUnlessEnded(error: unknown, request: Request, { ended }: TextStream): void {
    if (!ended.aborted) {
      this.#errors.log(error, request);
    }
  }
}

function answerOf({ body }: TextStream): Response {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy that may transform it may hold it back, to compress more of it at once.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  };
  return new Response(body, { headers });
}

function authorizerOf(authorize: Authorize | undefined, insecure: boolean): Authorize {
  if (typeof insecure !== 'boolean') {
    invalid('insecure', 'must be true or false');
  }
  if (authorize === undefined && insecure) {
    return () => EVERYONE;
  }
  if (insecure) {
    invalid('insecure', 'cannot go together with authorize');
  }
  if (authorize === undefined) {
    invalid('authorize', 'is missing: it identifies the client; a demo can set insecure: true');
  }
  checkFunction(authorize, 'authorize');
  return authorize;
}

function duration(value: unknown, path: string, least: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= MAX_DURATION_MS)) {
    invalid(path, `must be a number of milliseconds from ${least} to ${MAX_DURATION_MS}`);
  }
  return value;
}

function accepts(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}
