// The end of sessions in memory: they are removed as soon as any call comes after it.

import { Expiries } from '../session/expiries.js';
import type { Ending } from '../input/expiry.js';
import type { SessionRecord } from '../session/record.js';

/** Removes the sessions of one service that have expired. */
export class MemoryExpiry {
  readonly #now: () => number;
  readonly #remove: (record: SessionRecord) => void;
  /** Absent while no session was created that expires: most services have none. */
  #ends: Expiries | undefined;
  /** The numbers of sessions that were removed since the last sweep, by app. */
  readonly #removed = new Map<string, number>();

  constructor(now: () => number, remove: (record: SessionRecord) => void) {
    this.#now = now;
    this.#remove = remove;
  }

  /** Begins the time of a session that was created. */
  begin(record: SessionRecord, expires: Ending | undefined): void {
    if (expires !== undefined) {
      record.ttl = expires.ttl;
      record.expires = expires.at ?? this.#now() + expires.ttl;
      (this.#ends ??= new Expiries()).add(record);
    }
  }

  /** The end of a session that is written to now. */
  afterWrite({ ttl, expires }: SessionRecord): number | undefined {
    return ttl === undefined ? expires : this.#now() + ttl;
  }

  /** Notes that a write has moved the end of a session, which was `before`. */
  moved(record: SessionRecord, before: number | undefined): void {
    if (before !== undefined && record.expires !== undefined && record.expires < before) {
      this.#ends?.add(record);
    }
  }

  /** Notes that a session was deleted. */
  deleted({ expires }: SessionRecord): void {
    if (expires !== undefined) {
      this.#ends?.deleted();
    }
  }

  /** Removes what has expired. */
  removeDue(): void {
    if (this.#ends === undefined) {
      return;
    }
    const now = this.#now();
    for (let due = this.#ends.takeDue(now); due !== undefined; due = this.#ends.takeDue(now)) {
      const { appName } = due.key;
      this.#remove(due);
      this.#removed.set(appName, (this.#removed.get(appName) ?? 0) + 1);
    }
  }

  /**
   * Takes at most `limit` of the removed sessions of an app, or of all, for the answer of a sweep; with `dry` they are
   * counted, and stay for the next one.
   */
  takeRemoved(
    app: string | undefined,
    limit: number,
    dry: boolean,
  ): { readonly count: number; readonly more: boolean } {
    this.removeDue();
    let count = 0;
    for (const name of app === undefined ? [...this.#removed.keys()] : [app]) {
      const removed = this.#removed.get(name) ?? 0;
      const taken = Math.min(removed, limit - count);
      count += taken;
      if (!dry) {
        this.#removed.set(name, removed - taken);
      }
      if (taken < removed) {
        return { count, more: true };
      }
      if (!dry) {
        this.#removed.delete(name);
      }
    }
    return { count, more: false };
  }
}
