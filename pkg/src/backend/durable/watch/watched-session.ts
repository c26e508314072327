// The changes of a session over a store, for one reader: taken from the cache where it has them, and loaded in pages
// from the reader's place where it has not.

import { differ } from '../cache/continuity.js';
import { NONE } from '../cache/event-range.js';
import { parseEvent } from '../cache/stored-event.js';
import { notFound } from '../../../session/append.js';
import { StatepadError } from '../../../model/errors.js';
import { SESSION_DELETED, eventChange, type ChangeSource, type WatchPlan } from '../../../watch/change-source.js';
import type { StoreComponents } from '../operations/components.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { SessionRecord, SessionValues } from '../../../session/record.js';
import type { Known } from '../../../store/contract.js';
import type { Event, SessionKey } from '../../../model/types.js';
import type { SessionChange } from '../../../model/watch.js';
import type { SessionHead, Topic, Topics } from '../../../watch/topics.js';
import type { WholeMoment } from '../../../watch/whole-session.js';

/** The most loads of a page while the store goes back. */
const MAX_ROUNDS = 100;

/** The last read of a session: the known positions, so that pages come without values; or its deletion. */
export type Head = (SessionHead & Partial<SharedHead>) | 'deleted';

/** The values of an app and of a user. */
export type SharedMoments = Pick<WholeMoment, 'app' | 'user'>;

/** The known values of a session that is watched whole. */
interface SharedHead {
  readonly shared: SharedMoments;
  /** The topic's count of changes of these values before they were loaded. */
  readonly scopeMoves: number;
}

/** The place of a reader. */
interface Place {
  readonly created: string;
  rev: number;
  /** The id of the event at `rev`, where it is known. */
  last: string | undefined;
}

/**
 * Loads a session, for all its readers. The head of one that is watched whole has the values of its app and its user
 * at that moment as well: the session may leave the cache.
 */
export async function loadHead(
  { cache, loader }: Pick<StoreComponents, 'cache' | 'loader'>,
  topic: Topic,
  key: SessionKey,
): Promise<void> {
  const { scopeMoves } = topic;
  const isLoaded = await loader.load(key, NONE, (record) => {
    if (record.expires !== undefined) {
      topic.readAgain();
    }
    const head = headOf(cache.known(record.key, record));
    topic.head = topic.wholeReaders === 0 ? head : { ...head, shared: sharedOf(cache, record), scopeMoves };
    return true;
  });
  if (isLoaded === undefined) {
    topic.head = 'deleted' satisfies Head;
  }
}

/** One reader of a session. */
export class WatchedSession implements ChangeSource {
  readonly #components: Pick<StoreComponents, 'cache' | 'loader'>;
  readonly #topics: Topics;
  readonly #plan: WatchPlan;
  readonly #key: SessionKey;
  readonly #topic: Topic;
  #wakes = 0;
  #place: Place | undefined;

  constructor(components: Pick<StoreComponents, 'cache' | 'loader'>, topics: Topics, plan: WatchPlan) {
    this.#components = components;
    this.#topics = topics;
    this.#plan = plan;
    this.#key = plan.target as SessionKey;
    this.#topic = topics.enter(plan.target);
    this.#place = placeOf(plan);
  }

  get isClosed(): boolean {
    return this.#topics.isClosed;
  }

  async wait(): Promise<void> {
    await this.#topic.wait(this, this.#wakes, this.#plan.pace);
  }

  close(): void {
    this.#topics.leave(this.#plan.target, this.#topic, this);
  }

  async read(limit: number): Promise<readonly SessionChange[]> {
    this.#wakes = this.#topic.wakes;
    const place = (this.#place ??= await this.#begin());
    let changes = this.#cached(place, limit);
    for (let round = 0; changes === undefined && round < MAX_ROUNDS; round++) {
      await this.#topic.refresh(this.#plan.pace.poll, this.#load);
      changes = this.#cached(place, limit) ?? (await this.#fromHead(place, limit));
      if (changes === undefined) {
        this.#topic.expire();
      }
    }
    if (changes !== undefined) {
      return changes;
    }
    const { sessionId: id } = this.#key;
    throw new StatepadError('STORE_CORRUPT', `the store's answers for session "${id}" do not fit together`, { id });
  }

  /** The place of a reader without a handle. Throws `SESSION_NOT_FOUND`. */
  async #begin(): Promise<Place> {
    await this.#topic.refresh(this.#plan.pace.poll, this.#load);
    const head = this.#head();
    if (head === 'deleted') {
      throw notFound(this.#key.sessionId);
    }
    const { since } = this.#plan;
    const { created, rev, last } = head;
    return { created, rev: since ?? rev, last: since === undefined || since === rev ? last : undefined };
  }

  /** Loads the session, for all its readers. */
  readonly #load = async (): Promise<void> => await loadHead(this.#components, this.#topic, this.#key);

  #head(): Head {
    return this.#topic.head as Head;
  }

  /**
   * The cached changes after a place; `undefined` when there are none, or when the cache does not continue from there.
   */
  #cached(place: Place, limit: number): readonly SessionChange[] | undefined {
    const record = this.#components.cache.registry.find(this.#key);
    const isBehind = record?.created === place.created && record.revision > place.rev && record.base <= place.rev;
    if (!isBehind || differ(record.events[place.rev - record.base - 1]?.id, place.last)) {
      return undefined;
    }
    const first = place.rev - record.base;
    return this.#deliver(place, record.events.slice(first, first + limit), record.expires);
  }

  /** The changes after a place by the last read; `undefined` when it is outdated. */
  async #fromHead(place: Place, limit: number): Promise<readonly SessionChange[] | undefined> {
    const head = this.#head();
    if (head === 'deleted' || head.created !== place.created) {
      return [SESSION_DELETED];
    }
    if (head.rev < place.rev || (head.rev === place.rev && differ(head.last, place.last))) {
      return this.#reload(place, head.rev, head.last);
    }
    place.last ??= head.rev === place.rev ? head.last : undefined;
    return head.rev === place.rev ? [] : await this.#readPage(place, head, limit);
  }

  /** Loads a page, with the reader's last event, which shows that it is still the same log. */
  async #readPage(place: Place, known: SessionHead, limit: number): Promise<readonly SessionChange[] | undefined> {
    const from = place.last === undefined ? place.rev + 1 : place.rev;
    const to = Math.min(place.rev + limit, known.rev);
    const loaded = await this.#components.loader.loadRange(this.#key, { events: { from, to }, known });
    if (loaded?.created !== place.created || loaded.diverged || loaded.rev < known.rev) {
      return undefined;
    }
    const events = loaded.events.map((stored) => parseEvent({ key: this.#key }, stored));
    const before = place.last === undefined ? undefined : events.shift();
    if (before !== undefined && differ(before.id, place.last)) {
      return this.#reload(place, known.rev, known.last);
    }
    return events.length === to - place.rev ? this.#deliver(place, events, loaded.expires) : undefined;
  }

  #deliver(place: Place, events: readonly Event[], expires: number | undefined): readonly SessionChange[] {
    return events.map((event) => {
      place.rev += 1;
      place.last = event.id;
      return eventChange(place.rev, event, expires);
    });
  }

  #reload(place: Place, rev: number, last: string | undefined): readonly SessionChange[] {
    place.rev = rev;
    place.last = last;
    return [Object.freeze({ type: 'reload', revision: rev })];
  }
}

/** The place of a reader with a handle. */
function placeOf({ since, shown }: WatchPlan): Place | undefined {
  if (shown === undefined) {
    return undefined;
  }
  const { record, revision } = shown;
  const rev = since ?? revision;
  return { created: record.created, rev, last: lastAt(record, rev) };
}

function lastAt({ events, base, revision, last }: SessionRecord, rev: number): string | undefined {
  return events[rev - base - 1]?.id ?? (rev === revision ? last : undefined);
}

function headOf({ created = '', rev = 0, ...known }: Known): SessionHead {
  return { created, rev, ...known };
}

/** The current values of the app and the user of a cached session. */
export function sharedOf(cache: SessionCache, record: SessionRecord): SharedMoments {
  const { pos, marks } = cache.known(record.key, record);
  const [, app, user] = record.values as SessionValues;
  return {
    app: { version: app.head, position: pos?.app ?? 0, mark: marks?.app },
    user: { version: user.head, position: pos?.user ?? 0, mark: marks?.user },
  };
}
