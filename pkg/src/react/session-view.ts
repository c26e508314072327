// A session that is kept up to date, in the form that React reads: a snapshot that stays the same object until it
// changes.

import { defined } from '../model/defined.js';
import { PendingWrites, type PendingWrite, type StateChange, type StateRecord } from './pending-writes.js';
import { shared } from './sharing.js';
import { sleep } from '../async/sleep.js';
import { applyChange } from '../model/apply-change.js';
import { isStatepadError, StatepadError } from '../model/errors.js';
import { nameOf } from '../model/scope.js';
import type { SessionSnapshot } from './snapshot.js';
import type { Session, SessionKey } from '../model/types.js';
import type { SessionSource, WholePlace, WholeSessionChange } from '../model/watch.js';

/** The pauses between attempts to read a session, in milliseconds: doubled from the first up to the last. */
const PAUSES_MS = { error: [500, 30_000], missing: [1_000, 15_000] } as const;
/** The time that a session stays loaded for a suspended component, in milliseconds. */
const LINGER_MS = 5_000;
/** The time that an accepted write waits for the report of its change before the state is read, in milliseconds. */
const CONFIRM_MS = 1_000;

/** Follows one session while it has listeners, by one watch that resumes where the last one ended. */
export class SessionView {
  readonly #source: SessionSource;
  readonly #key: SessionKey;
  readonly #onIdle: (view: SessionView) => void;
  readonly #listeners = new Set<() => void>();
  readonly #writes = new PendingWrites();
  /** The users of the session besides the listeners: suspended components, and calls of `refetch`. */
  #holds = 0;
  #status: SessionSnapshot['status'];
  #error: unknown;
  /** The session as it was reported, without the writes in flight. */
  #session: Session | undefined;
  /** The place where the watch resumes. Unknown before the first change, and after an error. */
  #place: WholePlace | undefined;
  #snapshot: SessionSnapshot;
  #following: AbortController | undefined;
  /** Callbacks that wait until the session was read, is known to be missing, or has failed. */
  readonly #waiting = new Set<() => void>();
  #loading: Promise<void> | undefined;
  /** The last write: writes are sent one at a time. */
  #sending: Promise<unknown> = Promise.resolve();

  /** `initial`: the session as a server has read it. `onIdle` is called when the session has no users any more. */
  constructor(
    source: SessionSource,
    key: SessionKey,
    initial: Session | undefined,
    onIdle: (view: SessionView) => void,
  ) {
    this.#source = source;
    this.#key = key;
    this.#onIdle = onIdle;
    this.#session = initial;
    this.#status = initial === undefined ? 'loading' : 'ready';
    this.#snapshot = snapshotOf(this.#status, initial, undefined);
  }

  /** The current snapshot: the same object until it changes. */
  get snapshot(): SessionSnapshot {
    return this.#snapshot;
  }

  /** True when the session has no users. */
  get isIdle(): boolean {
    return this.#listeners.size === 0 && this.#holds === 0;
  }

  /** Calls `listener` after each change, until the function that it returns is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#start();
    return () => {
      this.#listeners.delete(listener);
      this.#leave();
    };
  }

  /** Resolves when the session was read for the first time, is missing, or cannot be read. */
  load(): Promise<void> {
    this.#loading ??= this.#whileFollowed(async () => {
      await this.#settled();
      this.#loading = undefined;
      // The component that was suspended subscribes, or throws, when it is rendered again.
      this.#linger();
    });
    return this.#loading;
  }

  /** Reads the session again. Resolves when it was read, is missing, or cannot be read. */
  async refetch(): Promise<void> {
    await this.#whileFollowed(async () => {
      this.#place = undefined;
      this.#following?.abort();
      this.#following = undefined;
      this.#forgetError();
      this.#render();
      this.#start();
      await this.#settled();
    });
  }

  /**
   * Shows a change of the state at once, and calls `send` when all earlier writes have been answered. A refused write
   * is shown no longer; an accepted one is shown until the session itself reports it.
   */
  async write<T>(change: StateChange, send: (state: StateRecord) => Promise<T>): Promise<T> {
    const write = this.#writes.add(change);
    this.#render();
    const sent = this.#sending.then(async () => {
      try {
        write.send();
        const answer = await send(this.#writes.over(this.#session?.state ?? {}, write));
        write.accept();
        void this.#confirm(write);
        return answer;
      } catch (error) {
        this.#writes.remove(write);
        throw error;
      } finally {
        this.#render();
      }
    });
    this.#sending = sent.catch(() => undefined);
    return await sent;
  }

  /** Waits until an accepted write is reported. Without a report for a while, reading the state settles it. */
  async #confirm(write: PendingWrite): Promise<void> {
    const following = this.#following;
    if (this.#status === 'missing') {
      // The session may exist by now, through this write.
      void this.refetch();
    }
    try {
      if (!write.isDone && following !== undefined) {
        await sleep(CONFIRM_MS, following.signal);
      }
      if (!write.isDone && following !== undefined) {
        const read = await this.#read(following.signal);
        write.compare(read?.state ?? {}, this.#session?.state ?? {});
      }
    } catch {
      // The session is followed no longer, or cannot be read.
    }
    if (write.isDone || this.#following === undefined) {
      this.#writes.remove(write);
      this.#render();
    }
  }

  #start(): void {
    if (this.#following === undefined) {
      const following = new AbortController();
      this.#following = following;
      void this.#follow(following.signal);
    }
  }

  /** Stops when the session has no users. */
  #leave(): void {
    // StrictMode, and a list that is sorted again, unsubscribe and subscribe in one go.
    queueMicrotask(() => {
      if (this.isIdle) {
        this.#following?.abort();
        // The next user tries again.
        this.#forgetError();
        this.#end();
        this.#onIdle(this);
      }
    });
  }

  /** Follows the session during a task. */
  async #whileFollowed(task: () => Promise<void>): Promise<void> {
    this.#holds += 1;
    this.#start();
    try {
      await task();
    } finally {
      this.#holds -= 1;
      this.#leave();
    }
  }

  /** Follows the session for a while. */
  #linger(): void {
    this.#holds += 1;
    const timer = setTimeout(() => {
      this.#holds -= 1;
      this.#leave();
    }, LINGER_MS);
    (timer as { unref?: () => void }).unref?.();
  }

  /** Resolves when the session is read next, is known to be missing, or has failed. */
  async #settled(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #forgetError(): void {
    if (this.#status === 'error') {
      this.#status = this.#session === undefined ? 'loading' : 'ready';
      this.#error = undefined;
    }
  }

  /** Ends the watch. */
  #end(): void {
    this.#following = undefined;
    this.#writes.removeAccepted();
    this.#render();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        for await (const change of this.#changes(signal)) {
          if (isAborted(signal)) {
            return;
          }
          tries = 0;
          this.#take(change);
        }
      } catch (error) {
        if (isAborted(signal)) {
          return;
        }
        this.#fail(error);
        if (this.#status === 'error' && !(isStatepadError(error) && error.code === 'STORE_UNAVAILABLE')) {
          this.#end();
          return;
        }
      }
      const [first, last] = PAUSES_MS[this.#status === 'missing' ? 'missing' : 'error'];
      await sleep(Math.min(last, first * 2 ** tries) * (0.5 + Math.random() / 2), signal).catch(() => undefined);
    }
  }

  /** The changes of the session. Throws `SESSION_NOT_FOUND` when it is missing. */
  async *#changes(signal: AbortSignal): AsyncGenerator<WholeSessionChange, void, undefined> {
    const { sessionId: id } = this.#key;
    // A watch that is refused would have a source over HTTP reconnect for all its watches.
    if (this.#status === 'missing' && (await this.#read(signal)) === undefined) {
      throw new StatepadError('SESSION_NOT_FOUND', `session "${id}" was not found`, { id });
    }
    const since = this.#place && { since: this.#place };
    yield* this.#source.watch({ ...this.#key, whole: true }, { signal, ...since });
  }

  /** The session without its events. */
  async #read(signal: AbortSignal): Promise<Session | undefined> {
    return await this.#source.getSession({ ...this.#key, config: { numRecentEvents: 0 }, signal });
  }

  #take(change: WholeSessionChange): void {
    if (change.type === 'deleted') {
      this.#become('missing');
      return;
    }
    const session = applyChange(this.#session, change);
    if (session !== undefined) {
      this.#session = shared(this.#session, session);
      this.#place = change.place;
      this.#writes.report(session.state, keysOf(change));
      this.#become('ready');
    }
  }

  #fail(error: unknown): void {
    if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
      this.#become('missing');
    } else {
      this.#become('error', error);
    }
  }

  #become(status: SessionSnapshot['status'], error?: unknown): void {
    this.#status = status;
    this.#error = error;
    if (status !== 'ready') {
      // Read from the beginning next: a session that was created anew shares nothing with this one.
      this.#place = undefined;
    }
    if (status === 'missing') {
      this.#session = undefined;
      this.#writes.removeAccepted();
    }
    this.#render();
    this.#waiting.forEach((resolve) => resolve());
    this.#waiting.clear();
  }

  /** Makes the snapshot, and notifies the listeners if it has changed. */
  #render(): void {
    const { session: before, status, error } = this.#snapshot;
    const session = this.#session && shared(before, withWrites(this.#session, this.#writes));
    if (status !== this.#status || error !== this.#error || before !== session) {
      this.#snapshot = snapshotOf(this.#status, session, this.#error);
      this.#listeners.forEach((listener) => listener());
    }
  }
}

/** Reads the flag again, which TypeScript assumes to be unchanged. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** The keys of a change, without prefix those of the session; `all` for a change that reports everything. */
function keysOf(change: Exclude<WholeSessionChange, { readonly type: 'deleted' }>): readonly string[] | 'all' {
  switch (change.type) {
    case 'session':
      return 'all';
    case 'values':
      return Object.keys(change.delta);
    case 'event':
      return Object.keys(change.event.actions.stateDelta).filter((key) => nameOf(key)[0] === 'session');
  }
}

function withWrites(session: Session, writes: PendingWrites): Session {
  const state = writes.over(session.state);
  return state === session.state ? session : { ...session, state };
}

/** The snapshot of a status, a session and an error. */
export function snapshotOf(
  status: SessionSnapshot['status'],
  session: Session | undefined,
  error: unknown,
): SessionSnapshot {
  if (status === 'error') {
    return Object.freeze({ status, error, ...defined({ session }) });
  }
  return session !== undefined && status === 'ready'
    ? Object.freeze({ status, session })
    : Object.freeze({ status: status === 'missing' ? status : 'loading' });
}
