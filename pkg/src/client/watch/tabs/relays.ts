// The watches of the leading tab: each session once, for all listeners in any tab.

import { defined } from '../../../model/defined.js';
import { failureOf, type WatchRequest, type Failure } from './messages.js';
import type { SessionKey } from '../../../model/types.js';
import type { SessionSource, WholePlace, WholeSessionChange } from '../../../model/watch.js';

/** The receiver of a watch. */
export interface Listener {
  change(change: WholeSessionChange): void;
  end(failure: Failure | undefined): void;
}

/** One watch of the source. */
interface Stream {
  /** The place of all of its listeners. */
  place: WholePlace | undefined;
  readonly listeners: Map<string, Listener>;
  readonly end: AbortController;
}

/** The watches of a leader. */
export class Relays {
  readonly #source: SessionSource;
  readonly #emptied: () => void;
  /** By the session. After the first stream come those that have not reached the same place yet. */
  readonly #streams = new Map<string, Stream[]>();

  /** `emptied` is called after the last listener has left. */
  constructor(source: SessionSource, emptied: () => void) {
    this.#source = source;
    this.#emptied = emptied;
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  /** Delivers the requested watch to a listener. */
  add(request: WatchRequest, listener: Listener): void {
    const session = nameOf(request.key);
    const streams = this.#streams.get(session) ?? [];
    const matching = streams.find(({ place }) => request.since !== undefined && isSame(place, request.since));
    if (matching !== undefined) {
      matching.listeners.set(request.watch, listener);
      return;
    }
    const listeners = new Map([[request.watch, listener]]);
    const stream: Stream = { place: request.since, listeners, end: new AbortController() };
    this.#streams.set(session, [...streams, stream]);
    void this.#read(session, stream, request);
  }

  /** Stops delivering to a listener. */
  stop(watch: string): void {
    for (const [session, streams] of this.#streams) {
      for (const stream of streams) {
        if (stream.listeners.delete(watch) && stream.listeners.size === 0) {
          this.#end(session, stream);
        }
      }
    }
  }

  /** Stops delivering to everyone. */
  clear(): void {
    const all = [...this.#streams.values()].flat();
    this.#streams.clear();
    all.forEach(({ end }) => end.abort());
  }

  async #read(session: string, stream: Stream, { key, since, initial, poll }: WatchRequest): Promise<void> {
    const { signal } = stream.end;
    const options = defined({ signal, since, initial, poll });
    let failure: Failure | undefined;
    try {
      for await (const change of this.#source.watch({ ...key, whole: true }, options)) {
        if (signal.aborted) {
          return;
        }
        stream.listeners.forEach((listener) => listener.change(change));
        if (change.type !== 'deleted') {
          stream.place = change.place;
          this.#merge(session);
        }
      }
    } catch (error) {
      failure = failureOf(error);
    }
    if (!signal.aborted) {
      const { listeners } = stream;
      this.#end(session, stream);
      listeners.forEach((listener) => listener.end(failure));
    }
  }

  /** Moves the listeners of streams that have reached the place of a session's first stream to that stream. */
  #merge(session: string): void {
    const [first, ...others] = this.#streams.get(session) ?? [];
    for (const other of others) {
      if (first !== undefined && isSame(first.place, other.place)) {
        other.listeners.forEach((listener, watch) => first.listeners.set(watch, listener));
        this.#end(session, other);
      }
    }
  }

  #end(session: string, stream: Stream): void {
    const others = (this.#streams.get(session) ?? []).filter((each) => each !== stream);
    if (others.length > 0) {
      this.#streams.set(session, others);
    } else {
      this.#streams.delete(session);
    }
    stream.end.abort();
    if (this.isEmpty) {
      this.#emptied();
    }
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey): string => JSON.stringify([appName, userId, sessionId]);

/** True for equal, known places. */
function isSame(a: WholePlace | undefined, b: WholePlace | undefined): boolean {
  const text = (place: WholePlace | undefined): string =>
    JSON.stringify(Object.entries(place ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)));
  return a !== undefined && b !== undefined && text(a) === text(b);
}
