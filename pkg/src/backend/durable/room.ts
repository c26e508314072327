// How much of what a store has stays in memory.

import type { SessionRecord } from '../../session/handle.js';

/** The sessions in memory, the least recently used first. Those that nobody works with go when there are too many events. */
export class Room {
  readonly #recent = new Set<SessionRecord>();
  /** Those that are worked with: how many do. */
  readonly #busy = new Map<SessionRecord, number>();
  readonly #limit: number;
  readonly #drop: (record: SessionRecord) => void;
  /** How many events there are, and one more for each session. */
  #held = 0;

  /** Has room for about `limit` events; `drop` lets go of a session. */
  constructor(limit: number, drop: (record: SessionRecord) => void) {
    this.#limit = limit;
    this.#drop = drop;
  }

  /** So many events, or sessions, came. */
  grow(count: number): void {
    this.#held += count;
  }

  /** Keeps a session in memory while it is worked with. */
  hold(record: SessionRecord): void {
    this.#busy.set(record, (this.#busy.get(record) ?? 0) + 1);
    this.touch(record);
  }

  /** Ends what {@link Room.hold} has begun. */
  release(record: SessionRecord): void {
    const left = (this.#busy.get(record) ?? 1) - 1;
    if (left > 0) {
      this.#busy.set(record, left);
    } else {
      this.#busy.delete(record);
      this.#make(undefined);
    }
  }

  /** A session is used: others are dropped first. */
  touch(record: SessionRecord): void {
    this.#recent.delete(record);
    this.#recent.add(record);
    this.#make(record);
  }

  /** A session left, with its events. */
  left(record: SessionRecord): void {
    this.#recent.delete(record);
    this.#held -= 1 + record.events.length;
  }

  #make(used: SessionRecord | undefined): void {
    if (this.#held > this.#limit) {
      for (const oldest of this.#recent) {
        if (oldest !== used && !this.#busy.has(oldest)) {
          this.#drop(oldest);
        }
        if (this.#held <= this.#limit) {
          return;
        }
      }
    }
  }
}
