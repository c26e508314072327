// The known part of a session's log: the ids of its events in order, up to its end, and their numbers.
//
// The API does not tell how many events there are. If only the end of a long log was read, its events are numbered
// from a provisional number on, far above those of any log; once all of it is read they get their true numbers. Each
// time that numbers change their meaning they come from another block, so that a number tells what it belongs to.

import type { ReadEvent } from './from-api.js';

/** An event of a log. */
export type KnownEvent = Pick<ReadEvent, 'id' | 'at' | 'time'>;

/** The part that was read: all events from a time on. */
export interface ReadPart {
  /** In order, each once. */
  readonly events: readonly ReadEvent[];
  /** All events with this time or a later one; `-Infinity` for all. */
  readonly since: number;
  /** The time when the first page of it was asked for, by the clock of this machine. */
  readonly begunAt: number;
}

/** The count of numbers in a block. The first block is that of true numbers. */
const BLOCK = 2 ** 40;
/** The count of blocks in the integers that a double holds. */
const BLOCKS = 2 ** 12;

let lastBlock = 0;

/** A number in the middle of a block that was not in use for long. */
function provisionalNumber(): number {
  lastBlock = (lastBlock % (BLOCKS - 1)) + 1;
  return lastBlock * BLOCK + BLOCK / 2;
}

/** True for a number that is a true one. */
export function isTrueNumber(rev: number): boolean {
  return blockOf(rev) === 0;
}

/** The block that a number is in. */
function blockOf(rev: number): number {
  return Math.floor(rev / BLOCK);
}

/** The known end of a log, or all of it. */
export class SessionLog {
  /** See `Row.created`. Not known before the session itself was read. */
  created: string | undefined;
  /** The number of the last event. */
  rev: number;
  #updateTime: string | undefined;
  #readAt: number | undefined;
  /** All events with this time or a later one are known. */
  #since: number;
  /** The texts of events that were read, by id, for a caller who has to ask again. */
  texts: Map<string, string> | undefined;
  #events: readonly KnownEvent[];
  #ids: Set<string>;

  private constructor(created: string | undefined, { events, since }: Omit<ReadPart, 'begunAt'>, readAt?: number) {
    this.created = created;
    this.#since = since;
    this.#readAt = readAt;
    this.rev = this.isWhole ? events.length : provisionalNumber();
    this.#events = events.map(knownOf);
    this.#ids = idsOf(events);
  }

  /** The log of a session that has just been created. */
  static ofNew(created: string | undefined): SessionLog {
    return new SessionLog(created, { events: [], since: -Infinity });
  }

  /** A log that was read for the first time. */
  static read(part: ReadPart): SessionLog {
    return new SessionLog(undefined, part, part.begunAt);
  }

  /** True when all events are known. */
  get isWhole(): boolean {
    return this.#since === -Infinity;
  }

  /** The `updateTime` of the session at which this was its log, where that is known. */
  get updateTime(): string | undefined {
    return this.#updateTime;
  }

  /** The time when the first reading began, until it is known which `updateTime` it belongs to. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  /** This was the log of the session at this `updateTime`; `undefined`: it is not known of which. */
  settle(updateTime: string | undefined): void {
    this.#updateTime = updateTime;
    this.#readAt = undefined;
  }

  /** The events that are known. */
  get events(): readonly KnownEvent[] {
    return this.#events;
  }

  /** The number before that of the first known event. */
  get base(): number {
    return this.rev - this.#events.length;
  }

  /** The event with a number, where it is known. */
  eventAt(rev: number): KnownEvent | undefined {
    return this.#events[rev - this.base - 1];
  }

  /** The time of the last event. */
  get lastAt(): number | undefined {
    return this.#events.at(-1)?.at;
  }

  /** The time of the last event in the millisecond of a time. */
  lastAtWithin(time: number): number | undefined {
    return this.#events.findLast(({ at }) => Math.floor(at) === Math.floor(time))?.at;
  }

  /** True when an event of this id is known. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** True when all events from a time on are known. */
  covers(time: number): boolean {
    return this.#since <= time;
  }

  /** True when numbers that a caller has mean the same here. */
  agrees(rev: number, last: string | undefined): boolean {
    const ownId = this.eventAt(rev)?.id;
    const isOther = last !== undefined && ownId !== undefined && last !== ownId;
    return this.isNumber(rev) && rev <= this.rev && !isOther;
  }

  /** True when a number belongs to the same numbering. */
  isNumber(rev: number): boolean {
    return blockOf(rev) === blockOf(this.rev);
  }

  /** An event that this store has appended. It may have come in before others, but not before those of its time. */
  add(event: KnownEvent): void {
    const place = this.#events.findLastIndex(({ at }) => at <= event.at) + 1;
    this.rev += 1;
    this.settle(undefined);
    if (this.covers(event.at)) {
      this.#events = [...this.#events.slice(0, place), event, ...this.#events.slice(place)];
      this.#ids.add(event.id);
    }
  }

  /**
   * Merges what was read. Returns true if anything differs from the known log. If the known part has changed, or does
   * not join the part that was read, provisional numbers get another meaning.
   */
  merge({ events, since }: ReadPart): boolean {
    const isBefore = since < this.#since;
    const keep = isBefore ? 0 : this.#events.filter(({ at }) => at < since).length;
    const known = this.#events.slice(keep);
    const start = isBefore && known.length > 0 ? events.findIndex(({ id }) => id === known[0]?.id) : 0;
    const joins = start >= 0 && known.every(({ id }, index) => events[start + index]?.id === id);
    const added = joins ? events.length - start - known.length : 0;
    this.#events = [...this.#events.slice(0, keep), ...events.map(knownOf)];
    this.#ids = idsOf(this.#events);
    this.#since = Math.min(this.#since, since);
    if (this.isWhole) {
      this.rev = this.#events.length;
    } else {
      this.rev = joins ? this.rev + added : provisionalNumber();
    }
    return !joins || added > 0;
  }
}

function knownOf({ id, at, time }: KnownEvent): KnownEvent {
  return { id, at, time };
}

function idsOf(events: readonly KnownEvent[]): Set<string> {
  return new Set(events.map(({ id }) => id));
}
