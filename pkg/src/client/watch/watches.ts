// The watches of a client. All of them use one connection, and readers of one whole session share its changes.

import { Connection, type Subscription } from './connection.js';
import { Reader, type Feed } from './reader.js';
import { SharedSession } from './shared-session.js';
import { placeText, wholeText, type Place } from '../../http/watch-wire.js';
import type { RequestedTarget } from '../../http/watch-targets.js';
import type { Server } from '../server.js';
import type { SessionKey } from '../../model/types.js';
import type { WatchKey, WatchOptions, WholeWatchOptions } from '../../model/watch.js';

/** The watches of one client. Their targets and options were checked. */
export class Watches {
  readonly #server: Server;
  readonly #silence: number;
  /** One, unless there are more targets than a request may have. */
  readonly #connections: Connection[] = [];
  readonly #whole = new Map<string, SharedSession>();

  constructor(server: Server, silence: number) {
    this.#server = server;
    this.#silence = silence;
  }

  /** Watches a session, a user or an app; after a place, if there is one. */
  watch(target: WatchKey, place: Place | undefined, { initial = false, signal }: WatchOptions): Reader {
    const since = place && placeText(place);
    return new Reader(this.#own({ target, whole: false, since, initial }), signal);
  }

  /** Watches a whole session. */
  watchWhole(target: SessionKey, { since, initial = true, signal }: WholeWatchOptions): Reader {
    const isShared = since === undefined && initial;
    const place = since === undefined ? undefined : wholeText(since);
    return new Reader(
      isShared ? this.#shared(target) : this.#own({ target, whole: true, since: place, initial }),
      signal,
    );
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
      connection = new Connection(this.#server, this.#silence);
      this.#connections.push(connection);
    }
    return connection;
  }
}
