// Watching over HTTP: the client side.

import { Connection, type Subscription } from './connection.js';
import { Reader, type Feed } from './reader.js';
import { addressOf, ask, type SseSourceOptions } from '../request.js';
import { SharedSession } from './shared-session.js';
import { sharedByTabs } from './tabs/share.js';
import { keyOf, type RequestedTarget } from '../../http/watch-targets.js';
import { placeText, wholeText } from '../../http/watch-wire.js';
import { checkCount, checkFunction, checkObject, checkOptions, invalid } from '../../checks/arguments.js';
import { isStatepadError } from '../../model/errors.js';
import { deepFreeze } from '../../model/json.js';
import type { GetSessionRequest, Session, SessionKey } from '../../model/types.js';
import type { SessionSource, WatchOptions, WatchTarget, WholePlace, WholeWatchOptions } from '../../model/watch.js';

const OPTIONS = ['url', 'fetch', 'headers', 'credentials', 'timeout', 'shareTabs'];
/** The options of a service's `watch`; `poll` and `buffer` are ignored, because the handler decides them. */
const WATCH_OPTIONS = ['signal', 'since', 'initial', 'poll', 'buffer'];

/**
 * Sessions behind a handler of `sseHandler`: they can be read and watched as those of a `SessionService`, and used
 * with `statepad/react`. All watches of one source use one connection, and readers of one whole session share its
 * changes. A broken connection is renewed, with growing pauses while that fails, and resumes where it broke: no
 * change is lost or repeated.
 *
 * `getSession` and `watch` throw `STORE_UNAVAILABLE` when the handler cannot be reached, or answers that; `watch`
 * only before the first answer for its target: afterwards it retries. They throw the handler's other errors:
 * `INVALID_ARGUMENT`, `UNAUTHENTICATED`, `FORBIDDEN`, `SESSION_NOT_FOUND` (of `watch`), and `STORE_UNAVAILABLE` with
 * the `status` for answers of other servers.
 *
 * @example
 * const source = sseSource({ url: '/session' });
 * for await (const change of source.watch({ appName, userId, sessionId, whole: true }, { signal })) {
 *   session = applyChange(session, change);
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
  const watched = new WatchedSource(options);
  const source: SessionSource = {
    getSession: async (request) => await readSession(options, request),
    watch: ((target: WatchTarget, watching?: WatchOptions | WholeWatchOptions) =>
      watched.watch(target, watching)) as SessionSource['watch'],
  };
  const { shareTabs } = options;
  return shareTabs === undefined ? source : sharedByTabs(source, options.url, shareTabs);
}

async function readSession(
  options: SseSourceOptions,
  { appName, userId, sessionId, config, signal }: GetSessionRequest,
): Promise<Session | undefined> {
  const address = addressOf(options.url, { appName, userId, sessionId, ...config });
  try {
    const response = await ask(options, address, { accept: 'application/json' }, signal);
    return deepFreeze((await response.json()) as Session);
  } catch (error) {
    signal?.throwIfAborted();
    if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/** All watches of one source. */
class WatchedSource {
  readonly #options: SseSourceOptions;
  /** One, unless there are more targets than a request may have. */
  readonly #connections: Connection[] = [];
  readonly #whole = new Map<string, SharedSession>();

  constructor(options: SseSourceOptions) {
    this.#options = options;
  }

  watch(watchTarget: WatchTarget, watching: WatchOptions | WholeWatchOptions = {}): Reader {
    const { target, whole } = keyOf(watchTarget);
    checkOptions(watching, WATCH_OPTIONS);
    const { since, initial, signal } = watching;
    if (whole && since === undefined && initial !== false) {
      return new Reader(this.#shared(target as SessionKey), signal);
    }
    const place = since === undefined ? undefined : whole ? checkedWhole(since) : checkedPlace(since);
    return new Reader(this.#own({ target, whole, since: place, initial: initial ?? whole }), signal);
  }

  /** The feed of a single reader. */
  #own(target: RequestedTarget): Feed {
    let subscription: Subscription | undefined;
    let connection: Connection | undefined;
    return {
      start: (reader) => {
        subscription = {
          target,
          get isFull() {
            return reader.isFull;
          },
          push: (change) => reader.push(change),
          fail: (error) => reader.finish({ error }),
        };
        connection = this.#connection();
        connection.add(subscription);
      },
      stop: () => subscription && connection?.remove(subscription),
      drained: () => subscription && connection?.resume(subscription),
    };
  }

  /** The feed of all readers of a whole session. One that has ended is not reused. */
  #shared(target: SessionKey): Feed {
    let shared: SharedSession | undefined;
    const { appName, userId, sessionId } = target;
    const name = JSON.stringify([appName, userId, sessionId]);
    return {
      start: (reader) => {
        shared = this.#whole.get(name);
        if (shared === undefined) {
          shared = new SharedSession(this.#connection(), target, () => this.#whole.delete(name));
          this.#whole.set(name, shared);
        }
        shared.start(reader);
      },
      stop: (reader) => shared?.stop(reader),
      drained: (reader) => shared?.drained(reader),
    };
  }

  #connection(): Connection {
    let connection = this.#connections.find(({ isFull }) => !isFull);
    if (connection === undefined) {
      connection = new Connection(this.#options);
      this.#connections.push(connection);
    }
    return connection;
  }
}

function checkedPlace(since: number | WholePlace): string {
  if (typeof since !== 'number') {
    invalid('since', 'must be a number');
  }
  checkCount(since, 'since');
  return placeText({ at: since });
}

function checkedWhole(since: number | WholePlace): string {
  checkObject(since, 'since');
  const place = since as WholePlace;
  for (const name of ['revision', 'user', 'app'] as const) {
    checkCount((place as Partial<WholePlace>)[name] ?? -1, `since.${name}`);
  }
  return wholeText(since as WholePlace);
}
