// The entries of a conversation: an event each, except that the results of tools belong to their calls, and that
// branches in parallel are one entry.

import type { Event } from '../../index.js';
import { contentsOf, isOfUser, type ItemKind } from '../model/contents.js';
import type { Log } from '../model/log.js';
import type { Parallel } from '../model/branches.js';

/** The part that an event plays in a conversation: words, or a note about the session. */
export type Side = 'user' | 'agent' | 'note';

/** One event, with the results of its calls. */
export interface EventEntry {
  readonly kind: 'event';
  readonly revision: number;
  readonly side: Side;
  /** The revisions of the events that only have results of its calls, ascending. */
  readonly results: number[];
  /** True when its author is not that of the entry before. */
  readonly isFirst: boolean;
  /** True when it begins a turn. */
  readonly beginsTurn: boolean;
  /** True when it is the first one of its day. */
  readonly beginsDay: boolean;
}

/** Branches that ran beside each other. */
export interface ParallelEntry {
  readonly kind: 'parallel';
  /** The first of its revisions. */
  readonly revision: number;
  readonly branches: readonly { readonly name: string; readonly entries: readonly EventEntry[] }[];
}

export type Entry = EventEntry | ParallelEntry;

/** Items that say something about the session, and nothing to its user. */
const NOTES: ReadonlySet<ItemKind> = new Set<ItemKind>(['rewind', 'fork', 'compaction']);

/** The part that an event plays. */
export function sideOf(event: Event): Side {
  if (isOfUser(event)) {
    return 'user';
  }
  // Parts say something, whatever they are: most events are spared the look at all members.
  const hasParts = (event.content?.parts?.length ?? 0) > 0;
  return hasParts || contentsOf(event).some(({ kind }) => !NOTES.has(kind)) ? 'agent' : 'note';
}

/** The entries of a log, and the way from an event to its entry. */
export class Entries {
  readonly all: Entry[] = [];
  /** The revisions that have an element of their own, in the order on screen. */
  readonly stops: number[] = [];
  /** The revisions of the events that report an error, or the failure of a tool; ascending. */
  readonly problems: readonly number[];
  /** By revision: the place of its entry. */
  readonly #places: number[] = [];
  /** By revision: the entry of the event itself. */
  readonly #entries: (EventEntry | undefined)[] = [];
  readonly #log: Log;
  readonly #days = new Days();

  constructor(log: Log) {
    this.#log = log;
    const failures = [...log.tools.values()].flatMap(({ failed, response = 0 }) => (failed ? [response] : []));
    this.problems = [...new Set([...log.errors, ...failures])].sort((one, other) => one - other);
    const parallels = log.branches.values();
    let next = parallels.next().value;
    for (let revision = 1; revision <= log.events.length; revision++) {
      if (next?.from === revision) {
        this.#addParallel(next);
        revision = next.to;
        next = parallels.next().value;
      } else {
        this.#addEvent(revision);
      }
    }
  }

  /** The place of the entry that shows an event. */
  placeOf(revision: number): number {
    return this.#places[revision] ?? -1;
  }

  /** The revision of the element that shows an event: that of the call for the result of a tool. */
  stopOf(revision: number): number {
    return this.#entries[revision]?.revision ?? revision;
  }

  #addEvent(revision: number): void {
    const last = this.all.at(-1);
    const entry = this.#entry(revision, last?.kind === 'event' ? last.revision : undefined);
    if (entry !== undefined) {
      this.all.push(entry);
    }
    this.#places[revision] = entry === undefined ? this.placeOf(this.stopOf(revision)) : this.all.length - 1;
  }

  #addParallel({ from, branches }: Parallel): void {
    const place = this.all.length;
    const columns = branches.map(({ name, revisions }) => {
      const entries: EventEntry[] = [];
      for (const revision of revisions) {
        const entry = this.#entry(revision, entries.at(-1)?.revision);
        if (entry !== undefined) {
          entries.push(entry);
        }
        this.#places[revision] = entry === undefined ? this.placeOf(this.stopOf(revision)) : place;
      }
      return { name, entries };
    });
    this.all.push({ kind: 'parallel', revision: from, branches: columns });
  }

  /** The entry of an event; `undefined` for results, which join the entry of their call. */
  #entry(revision: number, before: number | undefined): EventEntry | undefined {
    const call = this.#callOf(revision);
    const owner = call === undefined ? undefined : this.#entries[call];
    if (owner !== undefined) {
      owner.results.push(revision);
      this.#entries[revision] = owner;
      return undefined;
    }
    const { lanes, turns, events } = this.#log;
    const event = events[revision - 1] as Event;
    const side = sideOf(event);
    const previous = before === undefined ? undefined : this.#entries[before];
    const beginsTurn = turns[revision - 1] === revision;
    const isSame = previous?.side === side && lanes[revision - 1] === lanes[(before ?? 0) - 1];
    const entry: EventEntry = {
      ...{ kind: 'event', revision, side, results: [], beginsTurn },
      isFirst: !isSame || (beginsTurn && side !== 'user'),
      beginsDay: this.#days.begins(event.timestamp),
    };
    this.#entries[revision] = entry;
    this.stops.push(revision);
    return entry;
  }

  /** The event whose calls this one has the results of, and nothing else to say, in the same turn. */
  #callOf(revision: number): number | undefined {
    const event = this.#log.at(revision);
    if (event === undefined || !hasResultsAlone(event)) {
      return undefined;
    }
    const uses = this.#log.toolsAt(revision);
    const calls = uses.map(({ call }) => call ?? revision);
    const call = calls.length === 0 ? revision : Math.max(...calls);
    const isWithin = calls.every((one) => this.#log.turns[one - 1] === this.#log.turns[revision - 1]);
    return call < revision && isWithin ? call : undefined;
  }
}

function hasResultsAlone(event: Event): boolean {
  const parts: unknown = event.content?.parts;
  return (
    Array.isArray(parts) &&
    parts.length > 0 &&
    parts.every((part: unknown) => {
      const response: unknown = (part as { readonly functionResponse?: unknown } | null)?.functionResponse;
      return response !== undefined && response !== null;
    })
  );
}

/** Tells the first event of each day, in the time of this place. */
class Days {
  #from = Number.NaN;
  #to = Number.NaN;

  /** True when a time is on another day than the one before. A broken time is on no day. */
  begins(timestamp: number): boolean {
    const date = new Date(timestamp);
    if ((timestamp >= this.#from && timestamp < this.#to) || Number.isNaN(date.getTime())) {
      return false;
    }
    this.#from = date.setHours(0, 0, 0, 0);
    this.#to = date.setDate(date.getDate() + 1);
    return true;
  }
}
