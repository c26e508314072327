// The sessions of one app that expire, by their ends: those that have expired are found without a look at the others.

import { MinHeap } from '../../model/min-heap.js';
import type { Session } from './session.js';
import type { Hint, SweepQuery, Swept } from '../../store/contract.js';

/** A session that has expired, or a user without sessions whose values are older than a sweep lets them be. */
export interface Expired {
  readonly key: Hint;
  /** The creation of the session. */
  readonly created?: string;
}

/** The outcome of a sweep that has removed these, or counted them. */
export function sweptOf(removed: readonly Expired[], { limit }: SweepQuery): Swept {
  const sessions = removed.filter(({ created }) => created !== undefined).length;
  return { sessions, users: removed.length - sessions, more: removed.length >= limit };
}

/** An index of the sessions of one app that expire. */
export class Expiring {
  /**
   * One entry for each session, at an end that it has or had. Appends move the end without a change here: an entry
   * whose time has come is put where it belongs by then, and that of a removed session is dropped.
   */
  readonly #ends = new MinHeap<Session>();

  /** Adds a session, if it expires. */
  add(session: Session): void {
    if (session.expires !== undefined) {
      this.#ends.add(session.expires, session);
    }
  }

  /** At most so many sessions that have expired, those that expired first before the others. They stay in it. */
  first(limit: number, now: number, isThere: (session: Session) => boolean): Session[] {
    const expired: Session[] = [];
    while (expired.length < limit && (this.#ends.first?.rank ?? Infinity) <= now) {
      const { rank, item } = this.#ends.take() as { rank: number; item: Session };
      if (!isThere(item)) {
        continue;
      }
      if (item.expires === rank) {
        expired.push(item);
      } else {
        this.add(item);
      }
    }
    expired.forEach((session) => this.add(session));
    return expired;
  }
}
