// The writes of each key in the log of a session, and which keys there were at each revision.

import type { Event, Json } from '../../index.js';
import { deltaOf, splitKey, type Scope } from './log.js';
import type { KeyRow, KeyWriter } from './rows.js';

/** One write of a key, with the rows that were made of it: a row is made once, so that it stays the same object. */
export interface KeyWrite extends KeyWriter {
  /** The row at moments whose turn did not write the key. */
  row?: KeyRow;
  /** The row at moments of the turn that begins at `first`. */
  turn?: { readonly first: number; readonly row: KeyRow };
}

/** One key, with all its writes. */
export class KeyPast {
  readonly key: string;
  readonly scope: Scope;
  readonly name: string;
  /** By revision, ascending. */
  readonly writes: KeyWrite[] = [];

  constructor(key: string) {
    this.key = key;
    ({ scope: this.scope, name: this.name } = splitKey(key));
  }

  /** The last write up to a revision. */
  at(revision: number): KeyWrite | undefined {
    const { writes } = this;
    const last = writes.at(-1);
    if (last === undefined || last.revision <= revision) {
      return last;
    }
    let [low, high] = [0, writes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((writes[middle] as KeyWrite).revision <= revision) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return writes[low - 1];
  }
}

/** A time in which a key had values: from its insertion to its deletion. */
interface Life {
  readonly past: KeyPast;
  /** The revision of the insertion; 0 for the creation. */
  readonly from: number;
  /** The revision of the deletion; infinite for none. */
  to: number;
}

/**
 * The pasts of all keys of a session, as its log grows. The times in which a key had values are known of the session's
 * own keys: others write the shared ones, too.
 */
export class KeyPasts {
  /** The `app:` and `user:` keys that the log has written. */
  readonly shared: KeyPast[] = [];
  readonly #pasts = new Map<string, KeyPast>();
  /** By insertion, which is the order of the keys in a state: a key that is set again goes to the end. */
  readonly #lives: Life[] = [];
  readonly #alive = new Map<string, Life>();
  #count = 0;

  /** Begins with the session's own keys at its creation. */
  constructor(creation: Readonly<Record<string, Json>>) {
    for (const key of Object.keys(creation)) {
      this.#write(key, { revision: 0, to: creation[key] });
    }
  }

  /** The number of events that were examined. */
  get count(): number {
    return this.#count;
  }

  /** Examines the events that follow. */
  extend(events: readonly Event[]): void {
    for (; this.#count < events.length; this.#count++) {
      const event = events[this.#count] as Event;
      const { delta, deleted } = deltaOf(event);
      for (const key of Object.keys(delta)) {
        const to = deleted.has(key) ? undefined : (delta[key] as Json);
        this.#write(key, { revision: this.#count + 1, event, to });
      }
    }
  }

  /** The past of a key, if the log has written it. */
  of(key: string): KeyPast | undefined {
    return this.#pasts.get(key);
  }

  /** Visits each own key of the session that has a value at a revision, in order, with the write of the value. */
  forEachAt(revision: number, visit: (past: KeyPast, write: KeyWrite) => void): void {
    for (const { past, from, to } of this.#lives) {
      if (from > revision) {
        return;
      }
      if (to > revision) {
        visit(past, past.at(revision) as KeyWrite);
      }
    }
  }

  /** Visits each own key of the session that had a value after a revision and has none at a later one. */
  forEachGone(since: number, revision: number, visit: (past: KeyPast) => void): void {
    for (const { past, from, to } of this.#lives) {
      if (from > since) {
        return;
      }
      if (to > since && to <= revision && past.at(revision)?.to === undefined) {
        visit(past);
      }
    }
  }

  #write(key: string, write: KeyWrite): void {
    let past = this.#pasts.get(key);
    if (past === undefined) {
      past = new KeyPast(key);
      this.#pasts.set(key, past);
      if (past.scope !== 'session') {
        this.shared.push(past);
      }
    }
    past.writes.push(write);
    if (past.scope !== 'session') {
      return;
    }
    const alive = this.#alive.get(key);
    if (write.to === undefined) {
      if (alive !== undefined) {
        alive.to = write.revision;
        this.#alive.delete(key);
      }
    } else if (alive === undefined) {
      const life = { past, from: write.revision, to: Infinity };
      this.#lives.push(life);
      this.#alive.set(key, life);
    }
  }
}
