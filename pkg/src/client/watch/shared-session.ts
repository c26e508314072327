// A whole session that is watched once for all readers of a source: later readers begin with its current state.

import { applyChange } from '../../model/apply-change.js';
import type { Connection, Subscription } from './connection.js';
import type { Feed, Reader } from './reader.js';
import type { RequestedTarget } from '../../http/watch-targets.js';
import type { AnyChange } from '../../http/watch-wire.js';
import type { Session, SessionKey } from '../../model/types.js';
import type { WholePlace, WholeSessionChange } from '../../model/watch.js';

/** The time that it is watched without readers, in milliseconds: components unmount and mount in one go. */
const LINGER_MS = 100;
/** The number of changes that are applied to the session at a time. */
const MOST_PENDING = 1000;

/** One whole session, for all its readers. */
export class SharedSession implements Subscription, Feed {
  readonly target: RequestedTarget;
  readonly isFull = false;
  readonly #connection: Connection;
  readonly #over: () => void;
  readonly #readers = new Set<Reader>();
  /** Readers that were full when a change came. */
  readonly #behind = new Set<Reader>();
  #session: Session | undefined;
  #place: WholePlace | undefined;
  /** The changes that are not applied yet. */
  #pending: WholeSessionChange[] = [];
  #isWatched = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `over` is called after the last reader has left, or the watch has ended. */
  constructor(connection: Connection, target: SessionKey, over: () => void) {
    this.target = { target, whole: true, since: undefined, initial: true };
    this.#connection = connection;
    this.#over = over;
  }

  start(reader: Reader): void {
    clearTimeout(this.#timer);
    this.#readers.add(reader);
    if (this.#isWatched) {
      this.#pushWhole(reader);
    } else {
      this.#isWatched = true;
      this.#connection.add(this);
    }
  }

  stop(reader: Reader): void {
    this.#readers.delete(reader);
    this.#behind.delete(reader);
    if (this.#readers.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#end(), LINGER_MS);
    }
  }

  drained(reader: Reader): void {
    if (this.#behind.delete(reader)) {
      this.#pushWhole(reader);
    }
  }

  push(change: AnyChange): boolean {
    const wholeChange = change as WholeSessionChange;
    this.#pending.push(wholeChange);
    if (this.#pending.length >= MOST_PENDING) {
      this.#fold();
    }
    for (const reader of [...this.#readers]) {
      if (!reader.push(change)) {
        this.#behind.add(reader);
        // The current session replaces the queued changes, too.
        reader.clear();
        this.drained(reader);
      }
    }
    if (wholeChange.type === 'deleted') {
      this.#end();
    }
    return true;
  }

  fail(error: unknown): void {
    this.#end();
    [...this.#readers].forEach((reader) => reader.finish({ error }));
  }

  #pushWhole(reader: Reader): void {
    this.#fold();
    const [session, place] = [this.#session, this.#place];
    if (session !== undefined && place !== undefined) {
      reader.push(Object.freeze({ type: 'session', session, place }));
    }
  }

  #fold(): void {
    for (const change of this.#pending) {
      this.#session = applyChange(this.#session, change);
      this.#place = change.type === 'deleted' ? undefined : change.place;
    }
    this.#pending = [];
  }

  #end(): void {
    clearTimeout(this.#timer);
    if (this.#isWatched) {
      this.#isWatched = false;
      this.#connection.remove(this);
      this.#over();
    }
  }
}
