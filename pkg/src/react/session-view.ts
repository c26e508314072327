// A session that is kept up to date, as React wants to read it: a snapshot that stays the same object until something
// has changed.

import { sleep } from '../async/sleep.js';
import { isStatepadError } from '../model/errors.js';
import { put, sameJson } from '../model/json.js';
import type { Event, Json, Session, SessionKey } from '../model/types.js';
import type { SessionSource, WatchKey, WatchedChange } from '../model/watch.js';

/** What is known of a session. Frozen. */
export interface SessionSnapshot {
  /**
   * `loading` until it was read for the first time; `missing` when there is no such session, or none any more; `error`
   * when it cannot be read: it is tried again where that makes sense.
   */
  readonly status: 'loading' | 'ready' | 'missing' | 'error';
  /** The session as it was last read: its state and its events belong together. */
  readonly session?: Session;
  /** Of `error`. */
  readonly error?: unknown;
}

const LOADING: SessionSnapshot = Object.freeze({ status: 'loading' });
const MISSING: SessionSnapshot = Object.freeze({ status: 'missing' });

/** The pauses before a session is tried again, in milliseconds: doubled from the first up to the last. */
const PAUSES_MS = [500, 30_000] as const;

/** Follows one session for as long as there are listeners. */
export class SessionView {
  readonly #source: SessionSource;
  readonly #key: SessionKey;
  readonly #listeners = new Set<() => void>();
  #snapshot: SessionSnapshot;
  #following: AbortController | undefined;

  /** `initial`: the session as a server has read it. */
  constructor(source: SessionSource, key: SessionKey, initial?: Session) {
    this.#source = source;
    this.#key = key;
    this.#snapshot = initial === undefined ? LOADING : Object.freeze({ status: 'ready', session: initial });
  }

  /** What is known now: the same object until something has changed. */
  get snapshot(): SessionSnapshot {
    return this.#snapshot;
  }

  /** Calls `listener` after each change, until the function that it returns is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#following === undefined) {
      const following = new AbortController();
      this.#following = following;
      void this.#follow(following.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      // StrictMode, and a list that is sorted anew, unsubscribe and subscribe in one go.
      queueMicrotask(() => {
        if (this.#listeners.size === 0) {
          this.#following?.abort();
          this.#following = undefined;
        }
      });
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const begun = this.#snapshot;
      try {
        await new Follower(this.#source, this.#key, (session) => this.#show(session)).run(signal);
        return;
      } catch (error) {
        if (isAborted(signal)) {
          return;
        }
        failures = this.#snapshot === begun ? failures : 0;
        this.#publish(Object.freeze({ ...this.#snapshot, status: 'error', error }));
        if (!isStatepadError(error) || error.code !== 'STORE_UNAVAILABLE') {
          return;
        }
        const pause = Math.min(PAUSES_MS[1], PAUSES_MS[0] * 2 ** failures) * (0.5 + Math.random() / 2);
        await sleep(pause, signal).catch(() => undefined);
      }
    }
  }

  #show(session: Session | undefined): void {
    const before = this.#snapshot.session;
    if (session === undefined) {
      this.#publish(MISSING);
    } else if (this.#snapshot.status !== 'ready' || before === undefined || !isSame(before, session)) {
      this.#publish(Object.freeze({ status: 'ready', session: shared(before, session) }));
    }
  }

  #publish(snapshot: SessionSnapshot): void {
    this.#snapshot = snapshot;
    this.#listeners.forEach((listener) => listener());
  }
}

/** Whether it is by now. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** Reads a session, and reads it again whenever something of it has changed. */
class Follower {
  readonly #source: SessionSource;
  readonly #key: SessionKey;
  readonly #show: (session: Session | undefined) => void;
  /** The events up to `#revision`. */
  #events: Event[] = [];
  #revision = 0;
  /** Whether the log has to be read anew. */
  #isLost = true;
  /** Whether something has changed since the last read. */
  #isBehind = true;
  #isWatched = false;
  #failure: { readonly error: unknown } | undefined;
  /** Ends the waiting for a change. */
  #wake: () => void = () => undefined;

  constructor(source: SessionSource, key: SessionKey, show: (session: Session | undefined) => void) {
    this.#source = source;
    this.#key = key;
    this.#show = show;
  }

  /** Follows until the session is gone; throws what reading and watching throw, and the reason of the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    const stop = (): void => {
      end.abort(signal.reason);
      this.#wake();
    };
    signal.addEventListener('abort', stop);
    try {
      const { appName, userId } = this.#key;
      // From before the first read on: what changes meanwhile is read again.
      void this.#watch({ appName }, undefined, end.signal);
      void this.#watch({ appName, userId }, undefined, end.signal);
      while (await this.#read(end.signal)) {
        await this.#changed(end.signal);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      end.abort();
    }
  }

  /** Reads and shows the session. Answers whether there is one. */
  async #read(signal: AbortSignal): Promise<boolean> {
    this.#isBehind = false;
    const isWhole = this.#isLost;
    // Whole at first, and when its log is lost; its events come by watching otherwise.
    const config = isWhole ? {} : { config: { numRecentEvents: 0 } };
    const session = await this.#source.getSession({ ...this.#key, ...config, signal });
    if (session === undefined) {
      this.#show(undefined);
      return false;
    }
    if (isWhole) {
      this.#isLost = false;
      this.#events = [...session.events];
      this.#revision = session.revision;
    }
    if (!this.#isWatched) {
      this.#isWatched = true;
      void this.#watch(this.#key, this.#revision, signal);
    }
    if (session.revision === this.#revision) {
      const { id, appName, userId, state, lastUpdateTime, revision } = session;
      this.#show({ id, appName, userId, state, events: Object.freeze([...this.#events]), lastUpdateTime, revision });
    }
    return true;
  }

  /** Waits until something has changed since the last read. */
  async #changed(signal: AbortSignal): Promise<void> {
    while (!this.#isBehind && this.#failure === undefined && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    signal.throwIfAborted();
    if (this.#failure !== undefined) {
      throw this.#failure.error;
    }
  }

  /** Watches a target, for as long as there is anything to watch. */
  async #watch(target: WatchKey, since: number | undefined, signal: AbortSignal): Promise<void> {
    const isOfSession = target.sessionId !== undefined;
    try {
      for await (const change of this.#source.watch(target, { signal, ...(since !== undefined && { since }) })) {
        if (isOfSession) {
          this.#take(change);
        }
        this.#isBehind = true;
        this.#wake();
      }
      this.#isWatched &&= !isOfSession;
    } catch (error) {
      this.#failure ??= { error };
      this.#wake();
    }
  }

  #take(change: WatchedChange): void {
    if (change.type === 'event' && change.revision === this.#revision + 1) {
      this.#events.push(change.event);
      this.#revision = change.revision;
    } else if (change.type !== 'event' || change.revision > this.#revision) {
      this.#isLost = true;
    }
  }
}

/** Whether nothing of a session has changed. */
function isSame(a: Session, b: Session): boolean {
  return a.revision === b.revision && a.lastUpdateTime === b.lastUpdateTime && sameJson(a.state, b.state);
}

/** The session with what is equal to what was there before as the same objects. */
function shared(before: Session | undefined, session: Session): Session {
  if (before === undefined) {
    return Object.freeze({ ...session });
  }
  const state: Record<string, Json> = {};
  for (const [key, value] of Object.entries(session.state)) {
    const old = Object.hasOwn(before.state, key) ? before.state[key] : undefined;
    put(state, key, old !== undefined && sameJson(old, value) ? old : value);
  }
  const isSameState = sameJson(before.state, session.state);
  const isSameLog = before.revision === session.revision && before.events.at(-1)?.id === session.events.at(-1)?.id;
  return Object.freeze({
    ...session,
    state: isSameState ? before.state : Object.freeze(state),
    events: isSameLog ? before.events : session.events,
  });
}
