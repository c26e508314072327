// What is looked at: one session of a service, at one moment, as it moves. The parts of the inspector show it.

import { DELETED } from 'statepad';
import type { Event, EventInit, Hint, Json, Session, SessionKey, SessionService } from 'statepad';
import { Log } from './log.js';
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
  readonly service: SessionService;
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
  /** The session that was found deleted. */
  #deleted: Session | undefined;
  /** Why following fails. */
  #problem: unknown;
  #round = 0;
  /** Counts what was asked to be looked at: the last one counts, whichever is there first. */
  #asked = 0;
  #reading: Promise<void> | undefined;
  #isBehind = false;
  readonly #stop: () => void;

  constructor(service: SessionService, { apps, readOnly = false, watch, author = 'inspector' }: InspectionOptions) {
    super();
    this.service = service;
    this.apps = apps;
    this.readOnly = readOnly;
    this.author = author;
    const look = (): void => void this.refresh();
    const unwatch = watch?.(look);
    const patrol = readOnly ? undefined : setInterval(look, PATROL);
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

  /** Whether the moment moves on with the session. */
  get isNow(): boolean {
    return this.#moment === undefined;
  }

  /** Ends following. */
  dispose(): void {
    this.#stop();
  }

  /** Reads which sessions there are. */
  async list(): Promise<void> {
    const pages = await Promise.all(this.apps.map((appName) => this.service.listSessions({ appName, order: 'desc' })));
    this.sessions = pages.flatMap(({ sessions }) => sessions);
    this.#changed();
  }

  /**
   * Looks at a session, unless another one is asked for meanwhile. Throws when it is not there any more, and what the
   * store throws.
   */
  async open(key: SessionKey): Promise<void> {
    await this.#enter(async () => {
      const session = await this.service.getSession(key);
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
    this.#temp = {};
    await this.show(session);
  }

  /** Creates a session and looks at it, unless another one is asked for meanwhile. Throws as `createSession`. */
  async create(request: Parameters<SessionService['createSession']>[0]): Promise<void> {
    await this.#enter(async () => {
      const session = await this.service.createSession(request);
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
    const session = await this.service.getSession({ appName, userId, sessionId });
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

  /** Shows a handle as it is now. `temp:` keys are those on the handle, unless told otherwise. */
  async show(session: Session, temp = tempOf(session)): Promise<void> {
    this.#session = session;
    this.#temp = temp;
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
    if (session === undefined || this.readOnly) {
      throw new Error(session === undefined ? 'there is no session to write to' : 'this data is read-only');
    }
    const stored = await this.service.appendEvent({ session, event });
    if (this.#session === session) {
      // An invocation may write through an earlier handle: this one need not have its `temp:` keys.
      await this.show(session, tempAfter(this.#temp, event));
    } else {
      // It was read again meanwhile, or another session is looked at.
      await this.refresh();
    }
    return stored;
  }

  /** Writes a key, or deletes it with `undefined`, as an event of its own. Throws as `appendEvent`. */
  async write(key: string, value: Json | undefined): Promise<Event> {
    const stateDelta = Object.fromEntries([[key, value === undefined ? DELETED : value]]);
    return await this.append({
      author: this.author,
      invocationId: `edit-${crypto.randomUUID()}`,
      actions: { stateDelta },
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
    const rows = await rowsAt(this.service, { session, log: this.log, revision: this.revision, temp });
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

function tempAfter(temp: Readonly<Record<string, Json>>, { actions }: EventInit): Readonly<Record<string, Json>> {
  const written = Object.entries(actions?.stateDelta ?? {}).filter(([key]) => key.startsWith('temp:'));
  const all = Object.entries({ ...temp, ...Object.fromEntries(written) });
  return Object.fromEntries(all.filter(([, value]) => value !== DELETED)) as Record<string, Json>;
}

function tempOf({ state }: Session): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key.startsWith('temp:')));
}
