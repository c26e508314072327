// Streams of changes: the answers to watches, as server-sent events.

import { JsonReply, type Reply } from '../../http/reply.js';
import { openTarget, existingSession, type OpenedTarget } from './changes.js';
import { configOf, parseTargets, singleTarget, targetsInUrl, type RequestedTarget } from '../../http/watch-targets.js';
import { HEARTBEAT, placeOf, writeChange, writeError, writePlace, type Numbered } from '../../http/watch-wire.js';
import { StreamLimit } from '../../http/stream-limit.js';
import { TextStream } from '../../http/text-stream.js';
import { visibleChange, visibleSession } from '../../http/visible.js';
import { invalid } from '../../checks/arguments.js';
import { defined } from '../../model/defined.js';
import type { Incoming } from '../../http/incoming.js';
import type { ErrorLog } from '../../http/answers.js';
import type { Rights } from '../../http/principal.js';
import type { SessionKey } from '../../model/types.js';
import type { SessionSource, WatchPace } from '../../model/watch.js';

/** The pace of streams. */
export interface StreamPace {
  /**
   * The interval of heartbeats on an idle connection, in milliseconds, so that proxies keep it open and the client
   * detects a dead one; 15,000 by default.
   */
  readonly heartbeat?: number | undefined;
  /** The time that a client waits before it reconnects, in milliseconds; 1,000 by default, and at least 100. */
  readonly retry?: number | undefined;
  /** The longest interval between questions to the store, in milliseconds: see `WatchOptions.poll`. */
  readonly poll?: number | undefined;
}

/** The pace and the limit of streams. */
export interface StreamOptions extends StreamPace {
  /** The number of streams that a client may have at a time; any by default. */
  readonly limit?: number | undefined;
  /** True when no stream keeps the process running. */
  readonly background?: boolean | undefined;
}

/** The shortest time after which clients may reconnect, in milliseconds. */
const LEAST_RETRY_MS = 100;
/** The longest duration of a timer. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** Answers watches, and knows the streams that are open. */
export class WatchStreams {
  readonly #service: SessionSource;
  readonly #errors: ErrorLog;
  readonly #heartbeat: number;
  readonly #retry: number;
  readonly #pace: Pick<WatchPace, 'poll' | 'background'>;
  readonly #limit: StreamLimit;
  readonly #open = new Set<TextStream>();

  /** Throws `INVALID_ARGUMENT`. */
  constructor(
    service: SessionSource,
    errors: ErrorLog,
    { heartbeat = 15_000, retry = 1_000, poll, limit = Infinity, background }: StreamOptions,
  ) {
    this.#service = service;
    this.#errors = errors;
    this.#heartbeat = duration(heartbeat, 'heartbeat', 1);
    this.#retry = duration(retry, 'retry', LEAST_RETRY_MS);
    this.#pace = defined({ poll, background });
    this.#limit = new StreamLimit(limit);
  }

  /**
   * Answers a watch of one target, or of several; `body` reads that of a POST. Throws `FORBIDDEN`, `INVALID_ARGUMENT`,
   * `TOO_MANY_REQUESTS`.
   */
  async answer(request: Incoming, rights: Rights, body?: () => Promise<string>): Promise<Reply> {
    const several = body === undefined ? targetsInUrl(request) : parseTargets(await body());
    if (several !== undefined) {
      return this.#several(several, rights, request);
    }
    const requested = singleTarget(request);
    rights.check(requested.target);
    return accepts(request)
      ? await this.#single(requested, rights, request)
      : await this.#snapshot(requested, rights, request);
  }

  /** Ends all streams: their clients reconnect, elsewhere if they can. */
  close(): void {
    [...this.#open].forEach((stream) => stream.close());
  }

  /** The session as JSON. */
  async #snapshot({ target }: RequestedTarget, rights: Rights, request: Incoming): Promise<Reply> {
    if (target.sessionId === undefined) {
      const message = 'the values of a user or an app can be watched only: accept text/event-stream';
      return new JsonReply({ error: { code: 'INVALID_ARGUMENT', message } }, 406);
    }
    const session = await existingSession(this.#service, target as SessionKey, configOf(request));
    return new JsonReply(visibleSession(rights, session), 200, { 'cache-control': 'no-store' });
  }

  /** The changes of one target: its error is the answer. */
  async #single(requested: RequestedTarget, rights: Rights, request: Incoming): Promise<Response> {
    const stream = this.#begin(rights, request);
    try {
      const opened = await openTarget(this.#service, requested, { ...this.#pace, signal: stream.ended });
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
  #several(several: readonly RequestedTarget[], rights: Rights, request: Incoming): Response {
    const stream = this.#begin(rights, request);
    // One listener for all of them: hosts warn of a signal with many listeners.
    const ends = several.map(() => new AbortController());
    stream.ended.addEventListener('abort', () => ends.forEach((end) => end.abort()), { once: true });
    const telling = several.map(async (requested, target) => {
      try {
        rights.check(requested.target);
        const { signal } = ends[target] as AbortController;
        const opened = await openTarget(this.#service, requested, { ...this.#pace, signal });
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
  #begin(rights: Rights, request: Incoming): TextStream {
    const leave = this.#limit.enter(rights);
    const heartbeat = { text: HEARTBEAT, every: this.#heartbeat };
    const stream = new TextStream({
      heartbeat,
      ends: rights.ends,
      signal: request.signal,
      background: this.#pace.background,
    });
    if (stream.ended.aborted) {
      leave();
    } else {
      this.#open.add(stream);
      const end = (): void => {
        this.#open.delete(stream);
        leave();
      };
      stream.ended.addEventListener('abort', end, { once: true });
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

  #logUnlessEnded(error: unknown, request: Incoming, { ended }: TextStream): void {
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

function duration(value: unknown, path: string, least: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= MAX_DURATION_MS)) {
    invalid(path, `must be a number of milliseconds from ${least} to ${MAX_DURATION_MS}`);
  }
  return value;
}

function accepts(request: Incoming): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}
