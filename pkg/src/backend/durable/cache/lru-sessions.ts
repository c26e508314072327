// The bound of the cache.

import type { SessionRecord } from '../../../session/record.js';

/**
 * The cached sessions, the least recently used first. Those that are not pinned are evicted when there are too many
 * events. The one that was used last stays, however many it has, unless the limit is 0: it would be loaded anew for
 * each append.
 */
export class LruSessions {
  readonly #recent = new Set<SessionRecord>();
  /** The number of pins of each session. */
  readonly #pins = new Map<SessionRecord, number>();
  readonly #limit: number;
  readonly #evict: (record: SessionRecord) => void;
  /** The number of events, and one more for each session. */
  #size = 0;
  /** The session that was used last, unless it was removed. */
  #last: SessionRecord | undefined;

  /** Keeps about `limit` events; `evict` takes a session out of the cache, and so calls {@link LruSessions.remove}. */
  constructor(limit: number, evict: (record: SessionRecord) => void) {
    this.#limit = limit;
    this.#evict = evict;
  }

  /** Counts events, or sessions, that were added. */
  grow(count: number): void {
    this.#size += count;
  }

  /** Keeps a session until it is unpinned as often as it was pinned. */
  pin(record: SessionRecord): void {
    this.#pins.set(record, (this.#pins.get(record) ?? 0) + 1);
    this.touch(record);
  }

  /** Undoes one {@link LruSessions.pin}. */
  unpin(record: SessionRecord): void {
    const remaining = (this.#pins.get(record) ?? 1) - 1;
    if (remaining > 0) {
      this.#pins.set(record, remaining);
    } else {
      this.#pins.delete(record);
      this.#shrink(this.#limit > 0 ? this.#last : undefined);
    }
  }

  /** Marks a session as used: others are evicted first. */
  touch(record: SessionRecord): void {
    this.#recent.delete(record);
    this.#recent.add(record);
    this.#last = record;
    this.#shrink(record);
  }

  /** Removes a session that was taken out of the cache, with its events. */
  remove(record: SessionRecord): void {
    this.#recent.delete(record);
    this.#last = this.#last === record ? undefined : this.#last;
    this.#size -= 1 + record.events.length;
  }

  #shrink(protectedSession: SessionRecord | undefined): void {
    if (this.#size > this.#limit) {
      for (const oldest of this.#recent) {
        if (oldest !== protectedSession && !this.#pins.has(oldest)) {
          this.#evict(oldest);
        }
        if (this.#size <= this.#limit) {
          return;
        }
      }
    }
  }
}
