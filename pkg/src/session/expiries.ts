// The sessions in memory that expire, by the time of their end.

import { MinHeap } from '../model/min-heap.js';
import type { SessionRecord } from './record.js';

/**
 * The ends of sessions, the earliest first. A write that moves the end of its record on notes nothing: an end that was
 * noted before that comes too early, and is noted again. One that moves it back, as the clock went back, is noted.
 */
export class Expiries {
  #ends = new MinHeap<SessionRecord>();
  /** The number of ends that were noted, and of those whose sessions were deleted. */
  #noted = 0;
  #deleted = 0;

  /** Notes the end of a session. */
  add(record: SessionRecord): void {
    if (record.expires !== undefined) {
      this.#ends.add(record.expires, record);
      this.#noted += 1;
    }
  }

  /** Takes a session out whose end has come; `undefined` when there is none. */
  takeDue(now: number): SessionRecord | undefined {
    while ((this.#ends.first?.rank ?? Infinity) <= now) {
      const { item: record } = this.#take();
      if (record.deleted) {
        // None of those for one that had expired, and whose end was noted twice.
        this.#deleted = Math.max(0, this.#deleted - 1);
      } else if ((record.expires ?? Infinity) <= now) {
        return record;
      } else {
        this.add(record);
      }
    }
    return undefined;
  }

  /** Notes that a session was deleted before its end. Where that is true of many, they are not held until then. */
  deleted(): void {
    this.#deleted += 1;
    if (2 * this.#deleted > this.#noted) {
      const before = this.#ends;
      this.#ends = new MinHeap();
      this.#noted = 0;
      this.#deleted = 0;
      for (let entry = before.take(); entry !== undefined; entry = before.take()) {
        if (!entry.item.deleted) {
          this.add(entry.item);
        }
      }
    }
  }

  #take(): { readonly item: SessionRecord } {
    this.#noted -= 1;
    return this.#ends.take() as { readonly item: SessionRecord };
  }
}
