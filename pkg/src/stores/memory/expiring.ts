// The sessions of one app that expire, by their ends: those that have expired are found without a look at the others.

import { MinHeap } from '../../model/min-heap.js';
import type { Session } from './session.js';
import type { SessionKey } from '../../model/types.js';

/**
 * An index of the sessions of one app that expire. It has one entry for each, at the session's `noted` end, and names
 * it by its key: a session that was removed is not held by the entry that it leaves behind.
 */
export class Expiring {
  #ends = new MinHeap<SessionKey>();
  /** The number of entries that mean no session any more. */
  #dead = 0;
  readonly #find: (key: SessionKey) => Session | undefined;

  /** `find` answers the session that is there under a key. */
  constructor(find: (key: SessionKey) => Session | undefined) {
    this.#find = find;
  }

  /** The number of entries: at most twice as many as there are sessions that expire, and one. */
  get size(): number {
    return this.#ends.size;
  }

  /**
   * Notes the end of a session, where it is new or has moved back, as by a clock that was put back. One that has moved
   * on is put where it belongs when the time of its entry has come.
   */
  note(session: Session): void {
    const { expires, noted, key } = session;
    if (expires === undefined || (noted !== undefined && noted <= expires)) {
      return;
    }
    this.#ends.add(expires, key);
    session.noted = expires;
    if (noted !== undefined) {
      this.#bury();
    }
  }

  /** Notes that a session was removed. */
  removed({ noted }: Session): void {
    if (noted !== undefined) {
      this.#bury();
    }
  }

  /** At most so many sessions that have expired, those that expired first before the others. They stay in it. */
  first(limit: number, now: number): Session[] {
    const expired: Session[] = [];
    while (expired.length < limit && (this.#ends.first?.rank ?? Infinity) <= now) {
      const { rank, item } = this.#ends.take() as { rank: number; item: SessionKey };
      const session = this.#meant(item, rank);
      if (session === undefined) {
        this.#dead = Math.max(0, this.#dead - 1);
        continue;
      }
      session.noted = undefined;
      if (session.expires === rank) {
        expired.push(session);
      } else {
        this.note(session);
      }
    }
    expired.forEach((session) => this.note(session));
    return expired;
  }

  /** The session that an entry means. Another one under the same names has a key of its own. */
  #meant(key: SessionKey, end: number): Session | undefined {
    const session = this.#find(key);
    return session?.key === key && session.noted === end ? session : undefined;
  }

  /** Counts an entry that means no session any more. Where that is true of most, they are dropped. */
  #bury(): void {
    this.#dead += 1;
    if (2 * this.#dead <= this.#ends.size) {
      return;
    }
    const before = this.#ends;
    this.#ends = new MinHeap();
    this.#dead = 0;
    for (let entry = before.take(); entry !== undefined; entry = before.take()) {
      if (this.#meant(entry.item, entry.rank) !== undefined) {
        this.#ends.add(entry.rank, entry.item);
      }
    }
  }
}
