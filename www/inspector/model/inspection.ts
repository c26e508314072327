// What is looked at: one session of a service, at one moment, as it moves. The parts of the inspector show it.

import { DELETED } from 'statepad';
import type { Event, EventInit, Json, Session, SessionKey, SessionService } from 'statepad';
import type { Hint } from 'statepad/store';
import { Log, noteOfTemp } from './log.js';
import type { SessionReader } from './reader.js';
import { rowsAt, type KeyRow } from './rows.js';

/** Options of an {@link Inspection}. */
export interface InspectionOptions {
  /** The apps whose sessions can be chosen. */
  readonly apps: readonly string[];
  /** Nothing can be written. */
  readonly readOnly?: boolean;
  /** Tells when somebody else may have written: a store's `watch`. */
  readonly watch?: ((onHint: (hint: Hint) => void) => () => void) | undefined;
  /** Who writes what is edited here; `inspector` unless told otherwise. */
  readonly author?: string;
}

/** As often others' writes are looked for, should a hint have got lost, in ms. */
const PATROL = 5000;

/**
 * One session of a service at one moment. Fires `change` whenever something that it shows has changed; `problem`, a
 * `CustomEvent` with the error as `detail`, when following the session fails, and with `undefined` when it goes on;
 * and `deleted`, with the id, when somebody else has deleted the session.
 */
export class Inspection extends EventTarget {
  /** What is read. */
  readonly reader: SessionReader;
  /** What is written to; `undefined` when nothing can be. */
  readonly service: SessionService | undefined;
  readonly apps: readonly string[];
  readonly readOnly: boolean;
  readonly author: string;
  /** The events of the session. */
  readonly log = new Log();
  /** The sessions of the apps, newest first, without events. */
  sessions: readonly Session[] = [];
  /** All keys at the moment. */
  rows: readonly KeyRow[] = [];
  /** The revision of the event that is shown whole. */
  selected: number | undefined;
  /** The key whose history is shown. */
  traced: string | undefined;
  /** What is searched for; empty for nothing. */
  query = '';
  /** The revisions of the events that have it, ascending; `undefined` when nothing is searched for. */
  matches: readonly number[] | undefined;

  #session: Session | undefined;
  /** The moment that was chosen; `undefined` is now. */
  #moment: number | undefined;
  /** The `temp:` keys of the invocation that runs in this page. */
  #temp: Readonly<Record<string, Json>> = {};
  /** True when {@link #temp} is known: only who has run an invocation knows what its `temp:` keys are. */
  #knowsTemp = false;
  /** The session that was found deleted. */
  #deleted: Session | undefined;
  /** Why following fails. */
  #problem: unknown;
  #round = 0;
  /** The revision that is travelled to and not shown yet. */
  #wanted: number | undefined;
  #isTravelling = false;
  /** Counts what was asked to be looked at: the last one counts, whichever is there first. */
  #asked = 0;
  #reading: Promise<void> | undefined;
  #isBehind = false;
  readonly #stop: () => void;

  /** Only a service can be written to: over another reader everything is read-only. */
  constructor(
    service: SessionService | SessionReader,
    { apps, readOnly = false, watch, author = 'inspector' }: InspectionOptions,
  ) {
    super();
    this.reader = service;
    this.service = !readOnly && 'appendEvent' in service ? service : undefined;
    this.apps = apps;
    this.readOnly = this.service === undefined;
    this.author = author;
    const look = (): void => void this.refresh();
    const unwatch = watch?.(look);
    const patrol = this.readOnly ? undefined : setInterval(look, PATROL);
    this.#stop = () => {
      unwatch?.();
      clearInterval(patrol);
    };
  }

  /** The session that is looked at: the handle that was read last. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** The revision that is shown, from 0, the creation. */
  get revision(): number {
    return this.#moment ?? this.#session?.revision ?? 0;
  }

  /** The revision that is asked for: the one that is shown, or the one that {@link travel} is on its way to. */
  get wanted(): number {
    return this.#wanted ?? this.revision;
  }

  /** True when the moment moves on with the session. */
  get isNow(): boolean {
    return this.#moment === undefined;
  }

  /**
   * True when the `temp:` keys of the moment are known. They are not stored: they are known now, while the invocation
   * that wrote them runs in this page, and neither in the past nor after a reload.
   */
  get knowsTemp(): boolean {
    return this.isNow && this.#knowsTemp;
  }

  /** Ends following. */
  dispose(): void {
    this.#stop();
  }

  /** Reads which sessions there are. */
  async list(): Promise<void> {
    const pages = await Promise.all(this.apps.map((appName) => this.reader.listSessions({ appName, order: 'desc' })));
    this.sessions = pages.flatMap(({ sessions }) => sessions);
    this.#changed();
  }

  /**
   * Looks at a session, unless another one is asked for meanwhile. Throws when it is not there any more, and what the
   * store throws.
   */
  async open(key: SessionKey): Promise<void> {
    await this.#enter(async () => {
      const session = await this.reader.getSession(key);
      if (session === undefined) {
        await this.list();
        throw new Error(`session "${key.sessionId}" is not there any more`);
      }
      return session;
    });
  }

  async #enter(read: () => Promise<Session>): Promise<void> {
    const asked = ++this.#asked;
    const session = await read();
    if (asked !== this.#asked) {
      return;
    }
    this.selected = undefined;
    this.traced = undefined;
    this.#moment = undefined;
    this.#wanted = undefined;
    this.#knowsTemp = false;
    await this.show(session, {});
  }

  /** Creates a session and looks at it, unless another one is asked for meanwhile. Throws as `createSession`. */
  async create(request: Parameters<SessionService['createSession']>[0]): Promise<void> {
    await this.#enter(async () => {
      const session = await this.#writable().createSession(request);
      await this.list();
      return session;
    });
  }

  /** Reads again what is looked at. Calls while it reads are answered by one more reading. */
  async refresh(): Promise<void> {
    this.#isBehind = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false;
      try {
        await this.list();
        await this.#reread();
        this.#tell(undefined);
      } catch (error) {
        this.#tell(error);
      }
    }
  }

  async #reread(): Promise<void> {
    const shown = this.#session;
    if (shown === undefined) {
      return;
    }
    const { appName, userId, id: sessionId } = shown;
    const session = await this.reader.getSession({ appName, userId, sessionId });
    if (session === undefined) {
      await this.#leave(shown);
      return;
    }
    // Another session may have been opened meanwhile, or this one may have moved on.
    if (this.#session === shown && session.revision >= shown.revision) {
      await this.show(session, this.#temp);
    }
  }

  /**
   * Goes on with another session when the one that is looked at has been deleted by somebody else: the user's newest.
   * While there is none, the deleted one stays in sight.
   */
  async #leave(deleted: Session): Promise<void> {
    const { appName, userId, id } = deleted;
    const next =
      this.sessions.find((other) => other.appName === appName && other.userId === userId) ?? this.sessions[0];
    if (next !== undefined) {
      await this.open({ appName: next.appName, userId: next.userId, sessionId: next.id });
    }
    if (this.#deleted !== deleted) {
      this.#deleted = deleted;
      this.dispatchEvent(new CustomEvent('deleted', { detail: id }));
    }
  }

  /** Says that following fails, or that it does not any more. */
  #tell(problem: unknown): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.dispatchEvent(new CustomEvent('problem', { detail: problem }));
    }
  }

  /**
   * Shows a handle as it is now. Its `temp:` keys are those of the invocation that runs, unless other ones are given.
   */
  async show(session: Session, temp?: Readonly<Record<string, Json>>): Promise<void> {
    this.#session = session;
    this.#knowsTemp ||= temp === undefined;
    this.#temp = temp ?? tempOf(session);
    this.log.update(session.events);
    this.#look();
    await this.#compute();
  }

  /** Goes to a revision, or to now: `undefined`. */
  async moveTo(revision: number | undefined): Promise<void> {
    const last = this.#session?.revision ?? 0;
    this.#moment = revision === undefined ? undefined : Math.min(Math.max(revision, 0), last);
    await this.#compute();
  }

  /**
   * Goes to a revision as a hand on a slider does: it may ask for more of them than there are frames, and than can be
   * computed, and only the last one of each counts. At the last revision the moment follows the session again. The
   * event that is shown whole gives way to that of the moment. What fails is told as a `problem`.
   */
  travel(revision: number): void {
    this.#wanted = Math.min(Math.max(revision, 0), this.#session?.revision ?? 0);
    if (this.selected !== undefined) {
      this.selected = Math.max(this.#wanted, 1);
    }
    this.#changed();
    if (!this.#isTravelling) {
      this.#isTravelling = true;
      void this.#arrive().finally(() => {
        this.#isTravelling = false;
      });
    }
  }

  async #arrive(): Promise<void> {
    while (this.#wanted !== undefined) {
      await new Promise(requestAnimationFrame);
      const wanted = this.#wanted;
      try {
        await this.moveTo(wanted >= (this.#session?.revision ?? 0) ? undefined : wanted);
      } catch (error) {
        this.dispatchEvent(new CustomEvent('problem', { detail: error }));
      }
      if (this.#wanted === wanted) {
        this.#wanted = undefined;
        this.#changed();
      }
    }
  }

  /** Shows the event of a revision whole, or none. */
  select(revision: number | undefined): void {
    this.selected = revision;
    this.#changed();
  }

  /** Shows the history of a key, or of none. */
  trace(key: string | undefined): void {
    this.traced = key;
    this.#changed();
  }

  /** Searches keys, values, authors and what was said. */
  search(query: string): void {
    this.query = query;
    this.#look();
    this.#changed();
  }

  /** Appends an event to the session. Throws as `appendEvent`. */
  async append(event: EventInit): Promise<Event> {
    const session = this.#session;
    const service = this.#writable();
    if (session === undefined) {
      throw new Error('there is no session to write to');
    }
    const stored = await service.appendEvent({ session, event });
    if (this.#session === session) {
      // An invocation may write through an earlier handle: this one need not have its `temp:` keys.
      this.#knowsTemp ||= hasTemp(event);
      await this.show(session, tempAfter(this.#temp, event));
    } else {
      // It was read again meanwhile, or another session is looked at.
      await this.refresh();
    }
    return stored;
  }

  #writable(): SessionService {
    if (this.service === undefined) {
      throw new Error('this data is read-only');
    }
    return this.service;
  }

  /** Writes a key, or deletes it with `undefined`, as an event of its own. Throws as `appendEvent`. */
  async write(key: string, value: Json | undefined): Promise<Event> {
    const stateDelta = Object.fromEntries([[key, value === undefined ? DELETED : value]]);
    const note = noteOfTemp([key]);
    return await this.append({
      author: this.author,
      invocationId: `edit-${crypto.randomUUID()}`,
      actions: { stateDelta },
      ...(note.tempKeys === undefined ? {} : { customMetadata: { ...note } }),
    });
  }

  /** Computes the keys of the moment. When a later call has begun meanwhile, its answer is the one that counts. */
  async #compute(): Promise<void> {
    const session = this.#session;
    if (session === undefined) {
      return;
    }
    const round = ++this.#round;
    const temp = this.isNow ? this.#temp : {};
    const rows = await rowsAt(this.reader, { session, log: this.log, revision: this.revision, temp });
    if (round === this.#round) {
      this.rows = rows;
      this.#changed();
    }
  }

  #look(): void {
    this.matches = this.query === '' ? undefined : this.log.find(this.query);
  }

  #changed(): void {
    this.dispatchEvent(new globalThis.Event('change'));
  }
}

function hasTemp({ actions }: EventInit): boolean {
  return Object.keys(actions?.stateDelta ?? {}).some((key) => key.startsWith('temp:'));
}

function tempAfter(temp: Readonly<Record<string, Json>>, { actions }: EventInit): Readonly<Record<string, Json>> {
  const written = Object.entries(actions?.stateDelta ?? {}).filter(([key]) => key.startsWith('temp:'));
  const all = Object.entries({ ...temp, ...Object.fromEntries(written) });
  return Object.fromEntries(all.filter(([, value]) => value !== DELETED)) as Record<string, Json>;
}

function tempOf({ state }: Session): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key.startsWith('temp:')));
}
