// The sessions in memory that expire, by the time of their end.

import type { SessionRecord } from './record.js';

/** An end that was noted. Where a write has moved the session's own, this one comes too early. */
interface NotedEnd {
  readonly at: number;
  readonly record: SessionRecord;
}

/** A heap, with the earliest end first. A write only moves the end of its record: the heap follows when that is due. */
export class Expiries {
  #ends: NotedEnd[] = [];
  /** The number of ends whose sessions were deleted. */
  #deleted = 0;

  /** Notes the end of a session that was created. */
  add(record: SessionRecord): void {
    if (record.expires !== undefined) {
      this.#push({ at: record.expires, record });
    }
  }

  /** Takes a session out whose end has come; `undefined` when there is none. */
  takeDue(now: number): SessionRecord | undefined {
    for (let first = this.#ends[0]; first !== undefined && first.at <= now; first = this.#ends[0]) {
      this.#pop();
      const { record } = first;
      if (record.deleted) {
        this.#deleted -= 1;
      } else {
        if ((record.expires ?? Infinity) <= now) {
          return record;
        }
        this.add(record);
      }
    }
    return undefined;
  }

  /** Notes that a session was deleted before its end. It is not held until then where that is true of many. */
  deleted(): void {
    this.#deleted += 1;
    if (2 * this.#deleted > this.#ends.length) {
      this.#deleted = 0;
      this.#ends = this.#ends.filter(({ record }) => !record.deleted).sort((one, other) => one.at - other.at);
    }
  }

  #push(end: NotedEnd): void {
    const ends = this.#ends;
    let place = ends.push(end) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if ((ends[above] as NotedEnd).at <= end.at) {
        break;
      }
      ends[place] = ends[above] as NotedEnd;
      place = above;
    }
    ends[place] = end;
  }

  /** Removes the first end. */
  #pop(): void {
    const ends = this.#ends;
    const last = ends.pop();
    if (last === undefined || ends.length === 0) {
      return;
    }
    let place = 0;
    for (let next = 1; next < ends.length; next = 2 * place + 1) {
      const other = ends[next + 1];
      next += other !== undefined && other.at < (ends[next] as NotedEnd).at ? 1 : 0;
      if ((ends[next] as NotedEnd).at >= last.at) {
        break;
      }
      ends[place] = ends[next] as NotedEnd;
      place = next;
    }
    ends[place] = last;
  }
}
