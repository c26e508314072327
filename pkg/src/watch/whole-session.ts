// Watching a whole session: its events, and with them the differences in the values of its app and its user. One read
// of the session yields all of it.

import { SESSION_DELETED, type ChangeSource, type WholePlan } from './change-source.js';
import { DELETED, type Deleted } from '../model/deletion.js';
import { digest } from '../model/digest.js';
import { put } from '../model/json.js';
import { SHARED_SCOPES, type SharedScope } from '../model/scope.js';
import { ScopeVersion } from '../session/scope-version.js';
import type { Event, Json, Session } from '../model/types.js';
import type { EventChange, WholePlace, WholeSessionChange } from '../model/watch.js';

/** The values of an app, or of a user in it, at a position. */
export interface SharedMoment {
  readonly version: ScopeVersion;
  readonly position: number;
  /** The mark of the position, where it is known. */
  readonly mark: string | undefined;
}

/** A session, its app and its user at one moment. */
export interface WholeMoment {
  /** The creation id, which distinguishes the session from an earlier one of the same key. */
  readonly created: string;
  readonly revision: number;
  /** The id of the event at this revision, where it is known. */
  readonly last: string | undefined;
  readonly app: SharedMoment;
  readonly user: SharedMoment;
}

/** Reads a whole session. */
export interface WholeSessionSource {
  /** True when the service is closed. */
  readonly isClosed: boolean;
  /** Reads the session again, if others can have changed it since the last read. */
  check(): Promise<void>;
  /** The session as it is known now; `undefined` when it is missing. */
  moment(): Promise<WholeMoment | undefined>;
  /** The session with all events; `undefined` when it is missing. */
  read(): Promise<{ readonly session: Session; readonly moment: WholeMoment } | undefined>;
  /** The events after a revision; after a `read`, those of the session that was read. */
  events(since: number, session: Session | undefined): ChangeSource;
  /** Throws `SESSION_NOT_FOUND`. */
  notFound(): never;
  close(): void;
}

type ValuesChange = WholeSessionChange & { readonly type: 'values' };

/** The most reads of events while the session keeps changing. */
const MAX_ROUNDS = 100;

/** The place of a reader, with the values that it has. */
interface Place {
  readonly created: string;
  revision: number;
  /** A digest of the id of the event at this revision. */
  last: string;
  readonly shared: Record<SharedScope, SharedMoment>;
}

/** One reader of a whole session. */
export class WatchedWholeSession implements ChangeSource<WholeSessionChange> {
  readonly #source: WholeSessionSource;
  readonly #plan: WholePlan;
  /** The events after the place; absent until it has begun. */
  #events: ChangeSource | undefined;
  #place: Place | undefined;
  /** The digest of the event at the reader's place: that event is read first and not delivered again. */
  #expected: string | undefined;
  /** The changes to deliver before any others. */
  #first: readonly WholeSessionChange[] = [];
  #isOver = false;

  constructor(host: WholeSessionSource, plan: WholePlan) {
    this.#source = host;
    this.#plan = plan;
  }

  get isClosed(): boolean {
    return this.#source.isClosed;
  }

  async wait(): Promise<void> {
    await this.#events?.wait();
  }

  close(): void {
    this.#isOver = true;
    this.#events?.close();
    this.#source.close();
  }

  /** Switches to another source of events. */
  #readFrom(events: ChangeSource): void {
    this.#events?.close();
    this.#events = events;
    if (this.#isOver) {
      events.close();
    }
  }

  async read(limit: number): Promise<readonly WholeSessionChange[]> {
    if (this.#events === undefined) {
      await this.#begin();
    }
    const first = this.#first;
    this.#first = [];
    return first.length > 0 ? first : await this.#next(limit);
  }

  /** Begins at the place of a reader if the log continues it, and with the whole session otherwise. */
  async #begin(): Promise<void> {
    const { since, initial } = this.#plan;
    await this.#source.check();
    const moment = (await this.#source.moment()) ?? this.#source.notFound();
    if (since === undefined ? initial : !canContinue(since, moment)) {
      this.#first = (await this.#whole()) ?? this.#source.notFound();
      return;
    }
    const [, last = ''] = markParts(since);
    const isBehind = since !== undefined && since.revision < moment.revision;
    this.#place = {
      created: moment.created,
      revision: since?.revision ?? moment.revision,
      last: isBehind ? last : shortDigest(moment.last),
      shared: { app: moment.app, user: moment.user },
    };
    if (since !== undefined) {
      this.#first = this.#resumed(this.#place, since);
    }
    this.#expected = isBehind && since.revision > 0 && last !== '' ? last : undefined;
    this.#readFrom(this.#source.events(this.#place.revision - (this.#expected === undefined ? 0 : 1), undefined));
  }

  /** The values that a reader lacks which resumes at a place: all of each scope that has changed since. */
  #resumed(place: Place, since: WholePlace): readonly WholeSessionChange[] {
    const [, , ...marks] = markParts(since);
    const moved = SHARED_SCOPES.filter((scope, index) => {
      const { position, mark } = place.shared[scope];
      return since[scope] !== position || differ(marks[index], shortDigest(mark));
    });
    const current = { ...place.shared };
    moved.forEach((scope) => (place.shared[scope] = { ...UNWRITTEN, position: since[scope] }));
    return moved.map((scope) => valuesChange(place, scope, current[scope], 0));
  }

  /** Reads the session with all events; `undefined` when it is missing. */
  async #whole(): Promise<readonly WholeSessionChange[] | undefined> {
    const read = await this.#source.read();
    if (read === undefined) {
      return undefined;
    }
    const { session, moment } = read;
    const { created, revision, last, app, user } = moment;
    this.#readFrom(this.#source.events(revision, session));
    this.#expected = undefined;
    this.#place = { created, revision, last: shortDigest(last), shared: { app, user } };
    return [Object.freeze({ type: 'session', session, place: placeOf(this.#place) })];
  }

  /**
   * Reads until nothing is missing: events up to a moment, and before them the differences in values at that moment.
   */
  async #next(limit: number): Promise<readonly WholeSessionChange[]> {
    const place = this.#place as Place;
    const events: EventChange[] = [];
    const caughtUp = (revision: number): boolean => revision === place.revision + events.length;
    for (let round = 0; round < MAX_ROUNDS && events.length < limit; round++) {
      const changes = await (this.#events as ChangeSource).read(limit - events.length);
      for (const change of changes) {
        if (change.type === 'deleted') {
          return [...eventChanges(place, events), SESSION_DELETED];
        }
        if (change.type !== 'event' || !this.#continuesLog(change.event)) {
          return (await this.#whole()) ?? [SESSION_DELETED];
        }
        if (change.revision > place.revision) {
          events.push(change);
        }
      }
      const moment = changes.length === 0 ? await this.#source.moment() : undefined;
      if (moment?.created === place.created && caughtUp(moment.revision)) {
        return [...sharedChanges(place, moment), ...eventChanges(place, events)];
      }
    }
    return eventChanges(place, events);
  }

  /** True unless the event at the reader's place is another one than the reader has seen. */
  #continuesLog({ id }: Event): boolean {
    const expected = this.#expected;
    this.#expected = undefined;
    return expected === undefined || expected === shortDigest(id);
  }
}

const UNWRITTEN: SharedMoment = { version: ScopeVersion.unwritten, position: 0, mark: undefined };

function eventChanges(place: Place, events: readonly EventChange[]): readonly WholeSessionChange[] {
  return events.map((change) => {
    place.revision = change.revision;
    place.last = shortDigest(change.event.id);
    return Object.freeze({ ...change, place: placeOf(place) });
  });
}

function sharedChanges(place: Place, moment: WholeMoment): readonly WholeSessionChange[] {
  const moved = SHARED_SCOPES.filter((scope) => {
    const [before, now] = [place.shared[scope], moment[scope]];
    return before.version !== now.version || before.position !== now.position;
  });
  return moved.flatMap((scope) => {
    const from = place.shared[scope].position;
    const change = valuesChange(place, scope, moment[scope], from);
    return from === change.position && Object.keys(change.delta).length === 0 ? [] : [change];
  });
}

function valuesChange(place: Place, scope: SharedScope, now: SharedMoment, from: number): ValuesChange {
  const delta: Record<string, Json | Deleted> = {};
  for (const [key, value] of ScopeVersion.difference(place.shared[scope].version, now.version)) {
    put(delta, key, value ?? DELETED);
  }
  place.shared[scope] = now;
  const { position } = now;
  return Object.freeze({ type: 'values', scope, position, from, delta: Object.freeze(delta), place: placeOf(place) });
}

function placeOf({ created, revision, last, shared: { app, user } }: Place): WholePlace {
  const mark = [shortDigest(created), last, shortDigest(app.mark), shortDigest(user.mark)].join('.');
  return Object.freeze({ revision, user: user.position, app: app.position, mark });
}

/** The sections of a place's mark: session, event, app and user. An unknown one is empty. */
function markParts(place: WholePlace | undefined): readonly string[] {
  return place?.mark?.split('.') ?? [];
}

/** True when the session may have had the reader's place in its log. */
function canContinue(since: WholePlace, { created, revision, last }: WholeMoment): boolean {
  const [session, event] = markParts(since);
  const isOther = since.revision === revision && differ(event, shortDigest(last));
  return since.revision <= revision && !differ(session, shortDigest(created)) && !isOther;
}

function shortDigest(text: string | undefined): string {
  return text === undefined || text === '' ? '' : digest(text);
}

/** True when two sections of a mark differ. An unknown one matches any. */
function differ(one: string | undefined, other: string): boolean {
  return one !== undefined && one !== '' && other !== '' && one !== other;
}
