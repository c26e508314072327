// Watching a whole session: its events, and with them what differs in the values of its app and its user. One look at
// the session tells all of it.

import { SESSION_DELETED, type ChangeSource, type WholePlan } from './change-source.js';
import { DELETED, type Deleted } from '../model/deletion.js';
import { digest } from '../model/digest.js';
import { put } from '../model/json.js';
import { ScopeVersion } from '../session/scope-version.js';
import type { Event, Json, Session } from '../model/types.js';
import type { WholePlace, WholeSessionChange } from '../model/watch.js';

/** The values of an app, or of a user in it, at a position. */
export interface SharedMoment {
  readonly version: ScopeVersion;
  readonly position: number;
  /** Of the change that brought them there, where that is known. */
  readonly mark: string | undefined;
}

/** A session, its app and its user at one moment. */
export interface WholeMoment {
  /** Tells the session from an earlier one of the same key. */
  readonly created: string;
  readonly revision: number;
  /** The id of the event at this revision, where it is known. */
  readonly last: string | undefined;
  readonly app: SharedMoment;
  readonly user: SharedMoment;
}

/** What a whole session is read from. */
export interface WholeSessionSource {
  /** Whether the service is closed. */
  readonly isClosed: boolean;
  /** Looks at the session, if others can have moved it since it was looked at last. */
  check(): Promise<void>;
  /** The session as it is known now; `undefined` when there is none. */
  moment(): Promise<WholeMoment | undefined>;
  /** The session with everything, as it is; `undefined` when there is none. */
  read(): Promise<{ readonly session: Session; readonly moment: WholeMoment } | undefined>;
  /** Its events behind a revision. Of a session that was read, they are of that one. */
  events(since: number, session: Session | undefined): ChangeSource;
  /** Throws `SESSION_NOT_FOUND`. */
  notFound(): never;
  close(): void;
}

const SCOPES = ['app', 'user'] as const;
type SharedScope = (typeof SCOPES)[number];
type ValuesChange = WholeSessionChange & { readonly type: 'values' };

/** How often the session may move while its values are read. */
const MAX_ROUNDS = 100;

/** Where a reader is, and what it has. */
interface Place {
  readonly created: string;
  revision: number;
  /** What tells the event at this revision from others. */
  last: string;
  readonly shared: Record<SharedScope, SharedMoment>;
}

/** One reader of a whole session. */
export class WatchedWholeSession implements ChangeSource<WholeSessionChange> {
  readonly #source: WholeSessionSource;
  readonly #plan: WholePlan;
  /** Its events behind the place; absent until it has begun. */
  #events: ChangeSource | undefined;
  #place: Place | undefined;
  /** What the event at the reader's place has to be: it comes first, and is not told again. */
  #expected: string | undefined;
  /** What is told before anything else. */
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

  /** Its events are read from there from now on. */
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

  /** Begins at the place of a reader where that can be found, and with the whole session otherwise. */
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

  /** The values that a reader has not got which goes on from a place: all of a scope that has moved since. */
  #resumed(place: Place, since: WholePlace): readonly WholeSessionChange[] {
    const [, , ...marks] = markParts(since);
    const moved = SCOPES.filter((scope, index) => {
      const { position, mark } = place.shared[scope];
      return since[scope] !== position || differ(marks[index], shortDigest(mark));
    });
    const current = { ...place.shared };
    moved.forEach((scope) => (place.shared[scope] = { ...UNWRITTEN, position: since[scope] }));
    return moved.map((scope) => valuesChange(place, scope, current[scope], 0));
  }

  /** Reads the session with everything; `undefined` when there is none. */
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

  /** Reads on until nothing is missing: events up to a moment, and before them what differs in the values there. */
  async #next(limit: number): Promise<readonly WholeSessionChange[]> {
    const place = this.#place as Place;
    const events: Event[] = [];
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
          events.push(change.event);
        }
      }
      const moment = changes.length === 0 ? await this.#source.moment() : undefined;
      if (moment?.created === place.created && caughtUp(moment.revision)) {
        return [...sharedChanges(place, moment), ...eventChanges(place, events)];
      }
    }
    return eventChanges(place, events);
  }

  /** Whether an event can follow: the one at the reader's place has to be the one that it has seen. */
  #continuesLog({ id }: Event): boolean {
    const expected = this.#expected;
    this.#expected = undefined;
    return expected === undefined || expected === shortDigest(id);
  }
}

const UNWRITTEN: SharedMoment = { version: ScopeVersion.unwritten, position: 0, mark: undefined };

function eventChanges(place: Place, events: readonly Event[]): readonly WholeSessionChange[] {
  return events.map((event) => {
    place.revision += 1;
    place.last = shortDigest(event.id);
    return Object.freeze({ type: 'event', revision: place.revision, event, place: placeOf(place) });
  });
}

function sharedChanges(place: Place, moment: WholeMoment): readonly WholeSessionChange[] {
  const moved = SCOPES.filter((scope) => {
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

/** The parts of a mark: of the session, its event, its app and its user. One that is not known is empty. */
function markParts(place: WholePlace | undefined): readonly string[] {
  return place?.mark?.split('.') ?? [];
}

/** Whether what a reader has at a place can be what the session began with. */
function canContinue(since: WholePlace, { created, revision, last }: WholeMoment): boolean {
  const [session, event] = markParts(since);
  const isOther = since.revision === revision && differ(event, shortDigest(last));
  return since.revision <= revision && !differ(session, shortDigest(created)) && !isOther;
}

function shortDigest(text: string | undefined): string {
  return text === undefined || text === '' ? '' : digest(text);
}

/** Whether two parts of a mark differ. One that is not known is not compared. */
function differ(one: string | undefined, other: string): boolean {
  return one !== undefined && one !== '' && other !== '' && one !== other;
}
