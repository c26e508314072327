// A session in memory: its values and its events.

import { defined } from '../../model/defined.js';
import { ScopeValues } from '../shared/scope-values.js';
import type { Change, Known, LoadQuery, Pos, Rev, ScopedValues, StoredEvent } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** An event as it is stored. */
interface Event {
  readonly id: string;
  readonly data: string;
  readonly time: number;
  /** The results of its change's operators. */
  readonly results?: ScopedValues | undefined;
  /** The positions of the scopes after its change, if they are reported. */
  readonly pos?: Pos | undefined;
}

/** One session. */
export class Session {
  readonly key: SessionKey;
  /** The change that created it, and its digest. */
  readonly created: string;
  readonly digest: string | undefined;
  /** The time of the last event, or of the creation. */
  time: number;
  /** The time at which it expires, and the milliseconds from an append on to that; `undefined` where it does not. */
  expires: number | undefined;
  readonly ttl: number | undefined;
  /** The end at which it is in the index of its app: see `Expiring`. */
  noted: number | undefined;
  readonly values = new ScopeValues();
  /** The event it began with, if its creation has said. */
  readonly #beginning: Event | undefined;
  readonly #events: Event[] = [];
  /** The place of each event, by its id. */
  readonly #places = new Map<string, number>();

  /** `now` is the time in milliseconds since the epoch. */
  constructor(key: SessionKey, { id, time, digest, expires }: Change, beginning: Event | undefined, now: number) {
    this.key = key;
    this.created = id;
    this.digest = digest;
    this.time = time;
    this.ttl = expires?.ttl;
    this.expires = expires?.at;
    this.prolong(now);
    this.#beginning = beginning;
  }

  get rev(): Rev {
    return this.#events.length;
  }

  /** The id of the last event. */
  get last(): string | undefined {
    return this.#events.at(-1)?.id;
  }

  /** True if it is not there any more at this time. */
  hasExpired(now: number): boolean {
    return this.expires !== undefined && this.expires <= now;
  }

  /** Lets it live on as long as its creation has said, from now on. */
  prolong(now: number): void {
    if (this.ttl !== undefined) {
      this.expires = now + this.ttl;
    }
  }

  /** Adds the next event. */
  append(event: Event): void {
    this.#places.set(event.id, this.#events.length);
    this.#events.push(event);
  }

  /** The event that has this id. */
  find(id: string): Event | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#events[place];
  }

  /** True when a caller's copy of it differs from the stored one: the caller has more events, or another one. */
  hasDiverged({ created, rev = 0, last }: Known): boolean {
    const isOther = last !== undefined && rev > 0 && this.#events[rev - 1]?.id !== last;
    return created === this.created && (rev > this.rev || isOther);
  }

  /** The events that a query asks for, looked at from the last one back. */
  events({ from = 1, to = Infinity, since, last = Infinity }: NonNullable<LoadQuery['events']>): StoredEvent[] {
    const newestFirst: StoredEvent[] = [];
    for (let rev = Math.min(to, this.rev); rev >= Math.max(0, from) && newestFirst.length < last; rev--) {
      const event = rev === 0 ? this.#beginning : this.#events[rev - 1];
      if (event !== undefined && (since === undefined || event.time >= since)) {
        const { id, data, results, pos } = event;
        newestFirst.push({ rev, data, ...(rev > 0 && { id }), ...defined({ results, pos }) });
      }
    }
    return newestFirst.reverse();
  }
}
