// One session of a service, at one moment, kept up to date. The components of the inspector show it.

import { DELETED } from '../../index.js';
import type { CreateSessionRequest, Event, EventInit, Json, Session, SessionKey } from '../../index.js';
import type { Hint } from '../../store.js';
import { Directory } from './directory.js';
import type { SessionMoment } from './forks.js';
import { leaseIn, type HeldLease } from './lease.js';
import { Log, noteOfTemp } from './log.js';
import { nameOf } from './session-name.js';
import type { InspectorSource } from './source.js';
import { rowsAt, type KeyRow } from './rows.js';

/** A message that a user has typed, and its session. */
export type Send = (session: Session, text: string) => Promise<void>;

/** The key or the event under the mouse or the focus: all panes light it up. */
export interface Pointed {
  /** A key, with its prefix. */
  readonly key?: string | undefined;
  /** An event; 0 is the creation. */
  readonly revision?: number | undefined;
}

/** A change that a fork begins with. */
export interface ForkChange {
  /** Keys to set; `DELETED` deletes. */
  readonly delta?: Readonly<Record<string, unknown>> | undefined;
  /** The template of the fork; that of the session by default. */
  readonly template?: string | undefined;
}

/** Options of an {@link Inspection}. */
export interface InspectionOptions {
  /** The apps to choose sessions from. */
  readonly apps: readonly string[];
  /** True to prevent all writes. */
  readonly readOnly?: boolean;
  /** Reports possible writes by others: a store's `watch`. */
  readonly watch?: ((onHint: (hint: Hint) => void) => () => void) | undefined;
  /** The author of edits; `inspector` by default. */
  readonly author?: string;
  /** The name of the source, for people: `sessions.db`. */
  readonly label?: string | undefined;
  /** The instruction template to begin with; of a session, if it is a function. */
  readonly template?: string | ((session: Session) => string | undefined) | undefined;
  /** Answers typed messages. */
  readonly send?: Send | undefined;
  /** An example of a message. */
  readonly sendHint?: string | undefined;
}

/** A source that can be written to. */
type WritableSource = InspectorSource &
  Required<Pick<InspectorSource, 'appendEvent' | 'createSession' | 'deleteSession'>>;

function isWritable(source: InspectorSource): source is WritableSource {
  return ['appendEvent', 'createSession', 'deleteSession'].every((name) => name in source);
}

/** The interval of checks for others' writes, in case a hint was lost, in ms. */
const PATROL = 5000;

/**
 * One session of a service at one moment. Fires `change` whenever it has changed; `problem`, a `CustomEvent` with the
 * error as `detail`, when following the session fails, and with `undefined` when it succeeds again; and `deleted`,
 * with the id, when somebody else has deleted the session.
 */
export class Inspection extends EventTarget {
  /** The source of reads. */
  readonly reader: InspectorSource;
  /** The target of writes; `undefined` when there is none. */
  readonly service: WritableSource | undefined;
  readonly apps: readonly string[];
  readonly readOnly: boolean;
  readonly author: string;
  /** The events of the session. */
  readonly log = new Log();
  /** The apps, users and sessions of the source, page by page. */
  readonly directory: Directory;
  /** The name of the source, for people; empty when it has none. */
  readonly label: string;
  /** Answers typed messages; `undefined` when there is nobody to talk to. */
  readonly send: Send | undefined;
  /** An example of a message; empty when there is none. */
  readonly sendHint: string;
  /** All keys at the moment. */
  rows: readonly KeyRow[] = [];
  /** True when `app:` and `user:` keys are as they were at the moment, and not only as this session's log has them. */
  exact = true;
  /** True while the source is asked for the exact values of the moment. */
  isSettling = false;
  /** The revision that the moment is compared with. */
  base: number | undefined;
  /** All keys at {@link Inspection.base}; empty without one. */
  baseRows: readonly KeyRow[] = [];
  /** The key or the event under the mouse or the focus. */
  pointed: Pointed | undefined;
  /** The holder of the session's lease; `undefined` when there is none, or when it is not known. */
  lease: HeldLease | undefined;
  /** The revision of the event that is shown in full. */
  selected: number | undefined;
  /** The key whose history is shown. */
  traced: string | undefined;
  /** The text that is searched for; empty for none. */
  query = '';
  /** The revisions of the matching events, ascending; `undefined` without a search. */
  matches: readonly number[] | undefined;

  #session: Session | undefined;
  readonly #templateOf: (session: Session) => string | undefined;
  /** The templates that were written here, by session. */
  readonly #templates = new Map<string, string>();
  /** The known forks, by the session that they continue from. */
  readonly #forks = new Map<string, SessionMoment[]>();
  /** The chosen moment; `undefined` is now. */
  #moment: number | undefined;
  /** The `temp:` keys of the invocation that runs in this page. */
  #temp: Readonly<Record<string, Json>> = {};
  /** True when {@link #temp} is known: only the page that has run an invocation knows its `temp:` keys. */
  #knowsTemp = false;
  /** The session whose deletion was noticed. */
  #deleted: Session | undefined;
  /** The error of the last attempt to follow. */
  #problem: unknown;
  #round = 0;
  /** The revision to show next. */
  #target: number | undefined;
  #isTravelling = false;
  /** Counts requests to show a session: the last one counts, in any order of completion. */
  #requests = 0;
  #reading: Promise<void> | undefined;
  #isBehind = false;
  readonly #stop: () => void;

  /** Only a service can be written to: any other reader is read-only. */
  constructor(source: InspectorSource, options: InspectionOptions) {
    super();
    const { apps, readOnly = false, watch, author = 'inspector', template } = options;
    this.directory = new Directory(source, apps);
    this.label = options.label ?? '';
    this.send = options.send;
    this.sendHint = options.sendHint ?? '';
    this.#templateOf = typeof template === 'function' ? template : () => template;
    this.reader = source;
    this.service = !readOnly && isWritable(source) ? source : undefined;
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

  /** The session on show: the handle that was read last. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** The revision on show, from 0, the creation. */
  get revision(): number {
    return this.#moment ?? this.#session?.revision ?? 0;
  }

  /** The target revision: the one on show, or the one that {@link travel} is computing. */
  get target(): number {
    return this.#target ?? this.revision;
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

  /** The loaded sessions of the chosen app, without events. */
  get sessions(): readonly Session[] {
    return this.directory.sessions;
  }

  /** True when keys can be written, and sessions created and deleted. */
  get canWrite(): boolean {
    return this.service !== undefined;
  }

  /** True when {@link Inspection.fork} works. */
  get canFork(): boolean {
    return this.service?.fork !== undefined;
  }

  /** The instruction template of the session; empty when there is none. */
  get template(): string {
    const session = this.#session;
    return session === undefined ? '' : (this.#templates.get(nameOf(session)) ?? this.#templateOf(session) ?? '');
  }

  /** The moment of another session that this one continues from; `undefined` when it is no fork. */
  get forkedFrom(): SessionMoment | undefined {
    const { fork } = this.log;
    const session = this.#session;
    return fork === undefined || session === undefined
      ? undefined
      : {
          session: { appName: session.appName, userId: session.userId, sessionId: fork.sessionId },
          revision: fork.revision,
        };
  }

  /** The known forks of the session, with the revision at which each of them begins. */
  get forks(): readonly SessionMoment[] {
    return this.#session === undefined ? [] : (this.#forks.get(nameOf(this.#session)) ?? []);
  }

  /** Lights up a key or an event in all panes, or nothing. */
  point(pointed: Pointed | undefined): void {
    if (pointed?.key !== this.pointed?.key || pointed?.revision !== this.pointed?.revision) {
      this.pointed = pointed;
      this.#changed();
    }
  }

  /** Compares the moment with that of a revision, or with none. */
  compareWith(revision: number | undefined): void {
    this.base = revision;
    this.baseRows = [];
    this.#changed();
    void this.#compute();
  }

  /** Replaces the template of the session. */
  setTemplate(text: string): void {
    if (this.#session !== undefined) {
      this.#templates.set(nameOf(this.#session), text);
      this.#changed();
    }
  }

  /**
   * Creates a session that continues from a revision of this one, with a change, and shows it. Throws as `fork` and
   * `appendEvent`, and when the source has no `fork`.
   */
  async fork(revision: number, { delta, template = this.template }: ForkChange = {}): Promise<void> {
    const session = this.#session;
    const service = this.#writable();
    if (session === undefined || service.fork === undefined) {
      throw new Error('this source cannot fork sessions');
    }
    const fork = await service.fork(session, { at: revision });
    const { appName, userId, id: sessionId } = fork;
    if (delta !== undefined && Object.keys(delta).length > 0) {
      await service.appendEvent({
        session: fork,
        event: { ...this.#edit(Object.keys(delta)), actions: { stateDelta: delta } },
      });
    }
    this.#templates.set(nameOf(fork), template);
    const name = nameOf(session);
    this.#forks.set(name, [...(this.#forks.get(name) ?? []), { session: { appName, userId, sessionId }, revision }]);
    await this.open({ appName, userId, sessionId });
  }

  /** Asks for the holder of the lease from time to time, until the function that it answers is called. */
  followLease(): () => void {
    const ask = async (): Promise<void> => {
      const session = this.#session;
      const lease = session === undefined ? undefined : await leaseIn(this.reader, session);
      if (session === this.#session && JSON.stringify(lease) !== JSON.stringify(this.lease)) {
        this.lease = lease;
        this.#changed();
      }
    };
    void ask();
    const patrol = setInterval(() => void ask(), PATROL);
    return () => clearInterval(patrol);
  }

  /** Ends following. */
  dispose(): void {
    this.#stop();
  }

  /** Reads the list of sessions. */
  async list(): Promise<void> {
    await this.directory.refresh();
    this.#changed();
  }

  /**
   * Shows a session, unless another one is requested in the meantime. Throws when it is missing, and the errors of the
   * store.
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
    const asked = ++this.#requests;
    const session = await read();
    if (asked !== this.#requests) {
      return;
    }
    this.selected = undefined;
    this.traced = undefined;
    this.base = undefined;
    this.pointed = undefined;
    this.lease = undefined;
    this.#moment = undefined;
    this.#target = undefined;
    this.#knowsTemp = false;
    await this.show(session, {});
  }

  /** Creates a session and shows it, unless another one is requested in the meantime. Throws as `createSession`. */
  async create(request: CreateSessionRequest): Promise<void> {
    await this.#enter(async () => {
      const session = await this.#writable().createSession(request);
      await this.list();
      return session;
    });
  }

  /** Reads the session again. Calls during a read share one more read. */
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
    // Another session may have been opened in the meantime, or this one may have moved on.
    if (this.#session === shown && session.revision >= shown.revision) {
      await this.show(session, this.#temp);
    }
  }

  /**
   * Shows another session after somebody else has deleted the current one: the user's newest. If there is none, the
   * deleted one stays on show.
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

  /** Reports that following fails, or that it succeeds again. */
  #tell(problem: unknown): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.dispatchEvent(new CustomEvent('problem', { detail: problem }));
    }
  }

  /**
   * Shows the current state of a handle. Its `temp:` keys are those of the running invocation, unless others are
   * passed.
   */
  async show(session: Session, temp?: Readonly<Record<string, Json>>): Promise<void> {
    this.#session = session;
    this.#knowsTemp ||= temp === undefined;
    this.#temp = temp ?? tempOf(session);
    this.log.update(session.events);
    this.#look();
    await this.#compute();
  }

  /** Shows a revision, or now: `undefined`. */
  async moveTo(revision: number | undefined): Promise<void> {
    const last = this.#session?.revision ?? 0;
    this.#moment = revision === undefined ? undefined : Math.min(Math.max(revision, 0), last);
    await this.#compute();
  }

  /**
   * Shows a revision as a slider requests it: possibly more often than there are frames, and than can be computed, so
   * that only the last request counts. At the last revision the moment follows the session again. The selected event
   * is replaced by that of the moment. Failures are reported as a `problem`.
   */
  travel(revision: number): void {
    this.#target = Math.min(Math.max(revision, 0), this.#session?.revision ?? 0);
    if (this.selected !== undefined) {
      this.selected = Math.max(this.#target, 1);
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
    while (this.#target !== undefined) {
      await new Promise(requestAnimationFrame);
      const target = this.#target;
      try {
        await this.moveTo(target >= (this.#session?.revision ?? 0) ? undefined : target);
      } catch (error) {
        this.dispatchEvent(new CustomEvent('problem', { detail: error }));
      }
      if (this.#target === target) {
        this.#target = undefined;
        this.#changed();
      }
    }
  }

  /** Shows the event of a revision in full, or none. */
  select(revision: number | undefined): void {
    this.selected = revision;
    this.#changed();
  }

  /** Shows the history of a key, or of none. */
  trace(key: string | undefined): void {
    this.traced = key;
    this.#changed();
  }

  /** Searches keys, values, authors and messages. */
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
      // It was read again in the meantime, or another session is on show.
      await this.refresh();
    }
    return stored;
  }

  #writable(): WritableSource {
    if (this.service === undefined) {
      throw new Error('this data is read-only');
    }
    return this.service;
  }

  /** Writes a key, or deletes it with `undefined`, as an event of its own. Throws as `appendEvent`. */
  async write(key: string, value: Json | undefined): Promise<Event> {
    const stateDelta = Object.fromEntries([[key, value === undefined ? DELETED : value]]);
    return await this.append({ ...this.#edit([key]), actions: { stateDelta } });
  }

  /** An event of an edit, without its delta. */
  #edit(keys: readonly string[]): EventInit {
    const note = noteOfTemp(keys);
    return {
      author: this.author,
      invocationId: `edit-${crypto.randomUUID()}`,
      ...(note.tempKeys === undefined ? {} : { customMetadata: { ...note } }),
    };
  }

  /** Computes the keys of the moment. If a later call has begun in the meantime, only that one counts. */
  async #compute(): Promise<void> {
    const session = this.#session;
    if (session === undefined) {
      return;
    }
    const round = ++this.#round;
    const temp = this.isNow ? this.#temp : {};
    const { log, base } = this;
    const rows = await rowsAt(this.reader, { session, log, revision: this.revision, temp });
    const baseRows =
      base === undefined
        ? []
        : await rowsAt(this.reader, { session, log, revision: Math.min(base, session.revision), temp: {} });
    if (round === this.#round) {
      this.rows = rows;
      this.baseRows = baseRows;
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
  const writes = Object.entries(actions?.stateDelta ?? {}).filter(([key]) => key.startsWith('temp:'));
  const all = Object.entries({ ...temp, ...Object.fromEntries(writes) });
  return Object.fromEntries(all.filter(([, value]) => value !== DELETED)) as Record<string, Json>;
}

function tempOf({ state }: Session): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key.startsWith('temp:')));
}
