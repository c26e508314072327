// One session of a source, at one moment, kept up to date. The components of the inspector show it.

import { DELETED } from '../../index.js';
import type { CreateSessionRequest, Event, EventInit, HeldLease, Json, Session, SessionKey } from '../../index.js';
import { Directory } from './directory.js';
import { createFork, eventOf } from './edits.js';
import { Following } from './following.js';
import { ForkSearch } from './fork-search.js';
import { originOf, type SessionMoment } from './forks.js';
import type { ForkChange, InspectionOptions, Pointed, Send } from './inspection-options.js';
import { followLease } from './lease.js';
import { Log } from './log.js';
import { Moments } from './moments.js';
import type { KeyRow, KeyWriter } from './rows.js';
import { isOtherHistory, isSameSession, keyOf, nameOf } from './session-name.js';
import { Settling } from './settling.js';
import { isWritable, type InspectorSource, type WritableSource } from './source.js';
import { hasTemp, tempAfter, tempOf, type Temp } from './temp.js';
import { nextChange } from './next-change.js';
import { Travel } from './travel.js';

export type { ForkChange, InspectionOptions, Pointed, Send } from './inspection-options.js';

/** The number of last events that are shown before the others are there. */
const FIRST_EVENTS = 300;

/** The longest time to wait for an own event to be reported, in ms. */
const REPORTED = 3000;

/**
 * One session of a source at one moment. Fires `change` whenever it has changed; `problem`, a `CustomEvent` with the
 * error as `detail`, when reading or following fails, and with `undefined` when it succeeds again; and `deleted`, with
 * the id, when the session was deleted.
 */
export class Inspection extends EventTarget {
  /** The source of reads. */
  readonly reader: InspectorSource;
  /** The target of writes; `undefined` when there is none. */
  readonly service: WritableSource | undefined;
  readonly readOnly: boolean;
  readonly author: string;
  /** The apps, users and sessions of the source, page by page. */
  readonly directory: Directory;
  /** The name of the source, for people; empty when it has none. */
  readonly label: string;
  /** Answers typed messages; `undefined` when there is nobody to talk to. */
  readonly send: Send | undefined;
  /** An example of a message; empty when there is none. */
  readonly sendHint: string;
  /** The events of the session. */
  readonly log = new Log();
  /** All keys at the moment. */
  rows: readonly KeyRow[] = [];
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

  readonly #templateOf: (session: Session) => string | undefined;
  /** The templates that were written here, by session. */
  readonly #templates = new Map<string, string>();
  readonly #forks: ForkSearch;
  readonly #travel = new Travel((revision) => void this.moveTo(revision >= this.#last ? undefined : revision));
  #session: Session | undefined;
  #following: Following | undefined;
  #moments: Moments | undefined;
  #settling: Settling | undefined;
  #searching: AbortController | undefined;
  /** The chosen moment; `undefined` is now. */
  #moment: number | undefined;
  /** The `temp:` keys of the invocation that runs in this page. */
  #temp: Temp = {};
  /** True when {@link #temp} is known: only the page that has run an invocation knows its `temp:` keys. */
  #knowsTemp = false;
  /** The error of the last attempt to follow. */
  #problem: unknown;
  /** Counts requests to show a session: the last one counts, in any order of completion. */
  #requests = 0;

  /** Only a source that has the methods to write is written to: any other is read-only. */
  constructor(source: InspectorSource, options: InspectionOptions = {}) {
    super();
    const { apps, readOnly = false, author = 'inspector', template } = options;
    this.reader = source;
    this.service = !readOnly && isWritable(source) ? source : undefined;
    this.readOnly = this.service === undefined;
    this.author = author;
    this.label = options.label ?? '';
    this.send = options.send;
    this.sendHint = options.sendHint ?? '';
    this.#templateOf = typeof template === 'function' ? template : () => template;
    this.#forks = new ForkSearch(source);
    this.directory = new Directory(source, apps);
    this.directory.addEventListener('change', this.#changed);
  }

  /** The session on show. Its `events` may be the last ones only: {@link Inspection.log} says which are missing. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** The loaded apps. */
  get apps(): readonly string[] {
    return this.directory.apps;
  }

  /** The loaded sessions of the chosen app, without events. */
  get sessions(): readonly Session[] {
    return this.directory.sessions;
  }

  /** True while the first events of a long session are still being read. */
  get isLoading(): boolean {
    return this.log.missing > 0;
  }

  /** The revision on show, from 0, the creation. */
  get revision(): number {
    return this.#moment ?? this.#last;
  }

  /** The target revision: the one on show, or the one that {@link travel} is about to show. */
  get target(): number {
    return this.#travel.target ?? this.revision;
  }

  /** True when the moment moves on with the session. */
  get isNow(): boolean {
    return this.#moment === undefined;
  }

  /**
   * True when the values of the moment are as they were then. Otherwise `app:` and `user:` keys are as this session's
   * log has them, without the writes of others; {@link Inspection.isSettling} tells if the source is still asked.
   */
  get exact(): boolean {
    const { base } = this;
    const isExact = (revision: number): boolean => this.#moments?.isExact(revision) ?? true;
    return isExact(this.revision) && (base === undefined || isExact(base));
  }

  /** True while the source is asked for the exact values of the moment. */
  get isSettling(): boolean {
    return this.#settling?.isUnderway ?? false;
  }

  /**
   * True when the `temp:` keys of the moment are known. They are not stored: they are known now, while the invocation
   * that wrote them runs in this page, and neither in the past nor after a reload.
   */
  get knowsTemp(): boolean {
    return this.isNow && this.#knowsTemp;
  }

  /** True when keys can be written, and sessions created and deleted. */
  get canWrite(): boolean {
    return this.service !== undefined;
  }

  /** True when {@link Inspection.fork} works. */
  get canFork(): boolean {
    return this.service?.fork !== undefined;
  }

  /** The instruction template of the session: as written here, or noted in its log. Empty for none. */
  get template(): string {
    const session = this.#session;
    return session === undefined
      ? ''
      : (this.#templates.get(nameOf(session)) ?? this.log.template ?? this.#templateOf(session) ?? '');
  }

  /** The moment of another session that this one continues from; `undefined` when it is no fork. */
  get forkedFrom(): SessionMoment | undefined {
    return this.#session === undefined ? undefined : originOf(this.#session, this.log.fork);
  }

  /** The known forks of the session, with the revision at which each of them begins. */
  get forks(): readonly SessionMoment[] {
    return this.#session === undefined ? [] : this.#forks.of(this.#session);
  }

  /** The error of the last attempt to read; `undefined` after a success. */
  get problem(): unknown {
    return this.#problem;
  }

  /** The writes of a key by the session, its creation included, oldest first. */
  writesOf(key: string): readonly KeyWriter[] {
    return this.#moments?.writesOf(key) ?? [];
  }

  /** Ends following. */
  dispose(): void {
    this.#requests++;
    this.#following?.stop();
    this.#leave();
    this.directory.removeEventListener('change', this.#changed);
  }

  /** Reads the list of sessions. Throws the errors of the source. */
  async list(): Promise<void> {
    await this.directory.refresh();
    const { problem } = this.directory;
    if (problem !== undefined) {
      throw problem as Error;
    }
  }

  /**
   * Shows a session, unless another one is requested in the meantime. Of a long one the last events are shown first.
   * Throws when it is missing, and the errors of the source.
   */
  async open(key: SessionKey): Promise<void> {
    await this.#enter(async () => {
      const session = await this.reader.getSession({ ...key, config: { numRecentEvents: FIRST_EVENTS } });
      if (session === undefined) {
        this.directory.forget(key);
        throw new Error(`session "${key.sessionId}" is not there any more`);
      }
      return session;
    });
  }

  /** Creates a session and shows it, unless another one is requested in the meantime. Throws as `createSession`. */
  async create(request: CreateSessionRequest): Promise<void> {
    await this.#enter(async () => await this.#writable().createSession(request));
    await this.directory.refresh();
  }

  /** Reads the list of sessions again, and attempts at once to follow the session again if that has failed. */
  async refresh(): Promise<void> {
    this.#following?.retry();
    await this.directory.refresh();
  }

  /**
   * Shows what a handle shows now, at once. Its `temp:` keys are those of the running invocation, unless others are
   * passed.
   */
  show(session: Session, temp?: Temp): void {
    if (this.#session === undefined || !isSameSession(this.#session, session)) {
      this.#requests++;
      this.#adopt(session);
    }
    this.#knowsTemp ||= temp === undefined;
    this.#temp = temp ?? tempOf(session);
    this.#take(session);
  }

  /** Shows a revision, or now: `undefined`. */
  moveTo(revision: number | undefined): Promise<void> {
    this.#travel.cancel();
    this.#moment = revision === undefined ? undefined : Math.min(Math.max(revision, 0), this.#last);
    this.#compute();
    return Promise.resolve();
  }

  /**
   * Shows a revision as a slider requests it: possibly more often than there are frames, so that only the last request
   * counts, and everything is drawn once, in the next frame. At the last revision the moment follows the session
   * again. The selected event is replaced by that of the moment.
   */
  travel(revision: number): void {
    const target = Math.min(Math.max(revision, 0), this.#last);
    this.selected &&= Math.max(target, 1);
    this.#travel.request(target);
  }

  /** Resolves once the source has told what it knows of the moment. */
  async settled(): Promise<void> {
    while (this.isSettling || this.isLoading) {
      await nextChange(this);
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

  /** Lights up a key or an event in all panes, or nothing. */
  point(pointed: Pointed | undefined): void {
    if (pointed?.key !== this.pointed?.key || pointed?.revision !== this.pointed?.revision) {
      this.pointed = pointed;
      this.#changed();
    }
  }

  /** Compares the moment with that of a revision, or with none. */
  compareWith(revision: number | undefined): void {
    this.base = revision === undefined ? undefined : Math.min(Math.max(revision, 0), this.#last);
    this.#compute();
  }

  /** Replaces the template of the session. */
  setTemplate(text: string): void {
    if (this.#session !== undefined) {
      this.#templates.set(nameOf(this.#session), text);
      this.#changed();
    }
  }

  /** Appends an event to the session, and resolves once it is on show. Throws as `appendEvent`. */
  async append(event: EventInit): Promise<Event> {
    const session = this.#session;
    const service = this.#writable();
    if (session === undefined) {
      throw new Error('there is no session to write to');
    }
    const { appName, userId, id } = session;
    const stored = await service.appendEvent({ session: { appName, userId, id }, event });
    if (this.#session !== undefined && isSameSession(this.#session, session)) {
      // An invocation may write through an earlier handle: this one need not have its `temp:` keys.
      this.#knowsTemp ||= hasTemp(event);
      this.#temp = tempAfter(this.#temp, event);
      if (stored.partial !== true) {
        await this.#reported(session, stored);
      }
      this.#compute();
    }
    return stored;
  }

  /** Writes a key, or deletes it with `undefined`, as an event of its own. Throws as `appendEvent`. */
  async write(key: string, value: Json | undefined): Promise<Event> {
    const delta = Object.fromEntries([[key, value === undefined ? DELETED : value]]);
    return await this.append(eventOf({ author: this.author, delta }));
  }

  /**
   * Creates a session that continues from a revision of this one, with a change, and shows it. Throws as `fork` and
   * `appendEvent`, and when the source has no `fork`.
   */
  async fork(revision: number, { delta, template = this.template, sessionId }: ForkChange = {}): Promise<void> {
    const session = this.#session;
    const service = this.#writable();
    if (session === undefined) {
      throw new Error('there is no session to fork');
    }
    const isOther = template !== this.template;
    const noted = isOther ? template : undefined;
    const request = { at: revision, author: this.author, delta, template: noted, sessionId };
    const fork = await createFork(service, session, request);
    this.#templates.set(nameOf(fork), template);
    this.#forks.note(fork, { sessionId: session.id, revision });
    await this.open(keyOf(fork));
    await this.directory.refresh();
  }

  /** Asks for the holder of the lease from time to time, until the function that it answers is called. */
  followLease(): () => void {
    return followLease(
      this.reader,
      () => this.#session,
      (lease) => {
        this.lease = lease;
        this.#changed();
      },
    );
  }

  get #last(): number {
    return this.#session?.revision ?? 0;
  }

  #writable(): WritableSource {
    if (this.service === undefined) {
      throw new Error('this data is read-only');
    }
    return this.service;
  }

  async #enter(read: () => Promise<Session>): Promise<void> {
    const asked = ++this.#requests;
    const session = await read();
    if (asked === this.#requests) {
      this.#adopt(session);
      this.#take(session);
      this.#tell(undefined);
    }
  }

  /** Ends everything about the session on show. */
  #leave(): void {
    this.#settling?.cancel();
    this.#searching?.abort();
    this.#searching = undefined;
    this.#travel.cancel();
    this.selected = undefined;
    this.traced = undefined;
    this.base = undefined;
    this.baseRows = [];
    this.rows = [];
    this.pointed = undefined;
    this.lease = undefined;
    this.#moment = undefined;
    this.#temp = {};
    this.#knowsTemp = false;
  }

  /** Begins with another session. */
  #adopt(session: Session): void {
    this.#leave();
    this.#following?.stop();
    this.#session = session;
    this.#begin(session);
    const key = keyOf(session);
    this.#following = new Following(this.reader, key, {
      onSession: (next, isWhole) => this.#take(next, isWhole),
      onDeleted: () => void this.#deleted(key),
      onProblem: (problem) => this.#tell(problem),
    });
  }

  /** Begins with the past of a session of which nothing is known. */
  #begin(session: Session): void {
    const moments = new Moments(this.reader, () => this.#session ?? session, this.log);
    this.#moments = moments;
    this.#settling = new Settling(moments, {
      onSettled: () => this.#compute(),
      onProblem: (problem) => this.#tell(problem),
    });
  }

  /**
   * Takes over a newer state of the session on show. A whole one may be of another history: that of a session which
   * was created anew, or of a store that has gone back.
   */
  #take(session: Session, isWhole = false): void {
    const before = this.#session;
    if (
      before !== undefined &&
      (!isSameSession(before, session) || (session.revision < before.revision && !isWhole))
    ) {
      return;
    }
    if (before !== undefined && isWhole && isOtherHistory(before, session)) {
      this.#leave();
      this.#begin(session);
    }
    this.#session = session;
    this.log.update(session.events, session.revision - session.events.length);
    if (this.log.fork !== undefined) {
      this.#forks.note(session, this.log.fork);
    }
    this.#look();
    this.#compute();
    if (!this.isLoading && this.#searching === undefined) {
      void this.#searchForks(session);
    }
  }

  async #searchForks(session: Session): Promise<void> {
    const searching = new AbortController();
    this.#searching = searching;
    // Links to forks are an extra: the reads that matter tell the problem.
    const found = this.#forks.search(session, this.directory.sessions, searching.signal).catch(() => false);
    if (await found) {
      this.#changed();
    }
  }

  /**
   * Shows the session that was created anew; or the user's newest one, or the app's. If there is none, the deleted one
   * stays on show.
   */
  async #deleted(key: SessionKey): Promise<void> {
    const asked = this.#requests;
    this.directory.forget(key);
    try {
      const renewed = await this.reader.getSession({ ...key, config: { numRecentEvents: 0 } });
      await this.directory.refresh();
      if (asked !== this.#requests) {
        return;
      }
      const { sessions } = this.directory;
      const next = renewed ?? sessions.find(({ userId }) => userId === key.userId) ?? sessions[0];
      if (next !== undefined) {
        await this.open(keyOf(next));
      }
    } catch (error) {
      this.#tell(error);
    }
    this.dispatchEvent(new CustomEvent('deleted', { detail: key.sessionId }));
    this.#changed();
  }

  /** Waits until an event that was stored is in the log, or another session is on show. */
  async #reported(session: Session, { id }: Event): Promise<void> {
    const isThere = (): boolean =>
      this.#session === undefined ||
      !isSameSession(this.#session, session) ||
      this.log.events.slice(-1000).some((event) => event.id === id);
    for (const end = Date.now() + REPORTED; !isThere() && Date.now() < end;) {
      await nextChange(this, REPORTED);
    }
  }

  /** Reports that reading fails, or that it succeeds again. */
  #tell(problem: unknown): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.dispatchEvent(new CustomEvent('problem', { detail: problem }));
    }
  }

  /** Computes the keys of the moment, and has the source asked for what is not known of it. */
  #compute(): void {
    const { base } = this;
    const moments = this.#moments;
    if (moments !== undefined && this.#session !== undefined) {
      const { revision } = this;
      const temp = this.isNow ? this.#temp : {};
      this.rows = moments.rows({ revision, temp, previous: this.rows });
      this.baseRows = base === undefined ? [] : moments.rows({ revision: base, previous: this.baseRows });
      if (!this.isLoading) {
        this.#settling?.request(base === undefined ? [revision] : [revision, base]);
      }
    }
    this.#changed();
  }

  #look(): void {
    this.matches = this.query === '' ? undefined : this.log.find(this.query);
  }

  readonly #changed = (): void => {
    this.dispatchEvent(new globalThis.Event('change'));
  };
}
