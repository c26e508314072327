// The apps, users and sessions of a source, as far as they were asked for: a source may have 100,000 sessions.

import type { Session, SessionKey } from '../../index.js';
import { nameOf } from './session-name.js';
import { sortedBy, suits, type SessionSort } from './session-order.js';
import type { InspectorSource } from './source.js';

/** The choice of what a {@link Directory} lists. */
export interface DirectoryChoice {
  readonly appName?: string | undefined;
  /** A user of the app; `undefined` for all of them. */
  readonly userId?: string | undefined;
  readonly sort?: SessionSort | undefined;
  /** Searched for in the ids of sessions and users, ignoring case. */
  readonly query?: string | undefined;
}

/** The number of sessions, users or apps that are loaded at once. */
export const PAGE = 50;

/** The most sessions that one refresh reads again. */
const REFRESHED = 200;

/** The most users whose sessions are tried for an id that was typed. */
const TRIED_USERS = 20;

/** The interval of refreshes while a list is followed, in ms. */
const PATROL = 5000;

/** One list of names, page by page. */
interface Names {
  readonly names: readonly string[];
  readonly cursor: string | undefined;
  readonly isWhole: boolean;
}

const NO_NAMES: Names = { names: [], cursor: undefined, isWhole: false };

/**
 * The sessions of a source, page by page. Sessions are listed for one app, and perhaps one user, by time; other orders
 * and the search cover what is loaded, and {@link Directory.hasMore} tells that there is more. Fires `change`.
 */
export class Directory extends EventTarget {
  /** The app whose sessions are listed; `undefined` before there is one. */
  appName: string | undefined;
  /** The user whose sessions are listed; `undefined` for all users. */
  userId: string | undefined;
  sort: SessionSort = 'newest';
  query = '';
  /** The number of sessions of the app or the user, loaded or not. */
  total = 0;
  /** True while a page is read that was asked for by a user. */
  isLoading = false;
  /** The error of the last reading; `undefined` after a success. */
  problem: unknown;

  readonly #source: InspectorSource;
  /** True when all apps were given. */
  readonly #areGiven: boolean;
  #apps: Names;
  readonly #users = new Map<string, Names>();
  /** The loaded sessions in the order of the source. */
  #loaded: readonly Session[] = [];
  #cursor: string | undefined;
  /** Sessions that were found by their id, though their page is not loaded. */
  #found: readonly Session[] = [];
  #shown: readonly Session[] | undefined;
  /** Counts choices: answers to earlier ones do not count. */
  #round = 0;
  #followers = 0;
  #patrol: ReturnType<typeof setInterval> | undefined;

  /** With `apps`, those are all apps there are. */
  constructor(source: InspectorSource, apps?: readonly string[]) {
    super();
    this.#source = source;
    this.#areGiven = apps !== undefined;
    this.#apps = apps === undefined ? NO_NAMES : { names: apps, cursor: undefined, isWhole: true };
    this.appName = apps?.[0];
  }

  /** The apps that are loaded. */
  get apps(): readonly string[] {
    return this.#apps.names;
  }

  /** True when there are more apps: {@link Directory.moreApps} loads them. */
  get hasMoreApps(): boolean {
    return !this.#apps.isWhole;
  }

  /** The loaded users of the app. */
  get users(): readonly string[] {
    return this.#usersNow.names;
  }

  /** True when the app has more users: {@link Directory.moreUsers} loads them. */
  get hasMoreUsers(): boolean {
    return this.appName !== undefined && !this.#usersNow.isWhole;
  }

  /** The loaded sessions that the search finds, sorted, without events. */
  get sessions(): readonly Session[] {
    return (this.#shown ??= sortedBy(
      this.sort,
      [...this.#found, ...this.#loaded].filter((session) => suits(session, this.query)),
    ));
  }

  /** The number of loaded sessions, found by the search or not. */
  get loaded(): number {
    return this.#loaded.length;
  }

  /** True when the source has more sessions than are loaded: {@link Directory.more} loads some. */
  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  /** Reads the apps, and the first page of sessions of the chosen one. Never throws: see {@link Directory.problem}. */
  async open(): Promise<void> {
    await this.#do(async () => {
      if (!this.#apps.isWhole) {
        await this.#readApps();
      }
      this.appName ??= this.apps[0];
      await this.#readFirst();
    });
  }

  /** Changes the choice. Members that are absent stay. Reads only what is not loaded. */
  async choose(choice: DirectoryChoice): Promise<void> {
    const before = this.#listKey;
    this.appName = 'appName' in choice ? choice.appName : this.appName;
    this.userId = 'userId' in choice ? choice.userId : 'appName' in choice ? undefined : this.userId;
    this.sort = choice.sort ?? this.sort;
    this.query = choice.query ?? this.query;
    this.#found = [];
    this.#changed();
    if (before !== this.#listKey) {
      await this.#do(async () => await this.#readFirst());
    }
    if (this.query !== '') {
      await this.#do(async () => await this.#lookUp(this.query));
    }
  }

  /** Loads the next page of sessions, if there is one. */
  async more(): Promise<void> {
    const cursor = this.#cursor;
    if (cursor !== undefined) {
      await this.#do(async (isCurrent) => {
        const page = await this.#source.listSessions({ ...this.#request, limit: PAGE, cursor });
        if (isCurrent() && this.#cursor === cursor) {
          const known = new Set(page.sessions.map(nameOf));
          this.#loaded = [...this.#loaded.filter((session) => !known.has(nameOf(session))), ...page.sessions];
          this.#cursor = page.cursor;
          this.total = page.totalItems;
        }
      });
    }
  }

  /** Loads the next page of apps, if there is one. */
  async moreApps(): Promise<void> {
    if (this.hasMoreApps) {
      await this.#do(async () => await this.#readApps());
    }
  }

  /** Loads the next page of the app's users, if there is one; the first one at the first call. */
  async moreUsers(): Promise<void> {
    const { appName } = this;
    const known = this.#usersNow;
    if (appName !== undefined && !known.isWhole) {
      await this.#do(async () => {
        const { cursor } = known;
        const page = await this.#source.listUsers({
          appName,
          limit: PAGE,
          ...(cursor === undefined ? {} : { cursor }),
        });
        this.#users.set(appName, joined(known, page.users, page.cursor));
      });
    }
  }

  /** Reads the loaded sessions again. Those that have not changed stay the same objects. */
  async refresh(): Promise<void> {
    await this.#do(async (isCurrent) => {
      await this.#renewApps();
      this.appName ??= this.apps[0];
      if (this.appName === undefined) {
        return;
      }
      const limit = Math.min(Math.max(this.#loaded.length, PAGE), REFRESHED);
      const page = await this.#source.listSessions({ ...this.#request, limit });
      if (isCurrent()) {
        this.#renew(page.sessions, page.cursor);
        this.total = page.totalItems;
      }
    }, false);
  }

  /** Refreshes the list from time to time until the function that it answers is called. */
  follow(): () => void {
    this.#followers++;
    this.#patrol ??= setInterval(() => void this.refresh(), PATROL);
    let isFollowing = true;
    return () => {
      this.#followers -= isFollowing ? 1 : 0;
      isFollowing = false;
      if (this.#followers === 0) {
        clearInterval(this.#patrol);
        this.#patrol = undefined;
      }
    };
  }

  /** Removes a session that was deleted from the list. */
  forget({ appName, userId, sessionId }: SessionKey): void {
    const name = nameOf({ appName, userId, id: sessionId });
    const rest = this.#loaded.filter((session) => nameOf(session) !== name);
    this.total -= this.#loaded.length - rest.length;
    this.#loaded = rest;
    this.#found = this.#found.filter((session) => nameOf(session) !== name);
    this.#changed();
  }

  get #usersNow(): Names {
    return this.#users.get(this.appName ?? '') ?? NO_NAMES;
  }

  /** The order that the source lists in: only the time is one of its orders. */
  get #order(): 'asc' | 'desc' {
    return this.sort === 'oldest' ? 'asc' : 'desc';
  }

  get #listKey(): string {
    return JSON.stringify([this.appName, this.userId, this.#order]);
  }

  get #request(): { readonly appName: string; readonly userId?: string; readonly order: 'asc' | 'desc' } {
    const { appName = '', userId } = this;
    return { appName, order: this.#order, ...(userId === undefined ? {} : { userId }) };
  }

  async #readApps(): Promise<void> {
    const { cursor } = this.#apps;
    const page = await this.#source.listApps({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    this.#apps = joined(this.#apps, page.apps, page.cursor);
  }

  /** Reads the first page of apps again: there may be new ones. */
  async #renewApps(): Promise<void> {
    if (!this.#areGiven) {
      const { apps, cursor } = await this.#source.listApps({ limit: PAGE });
      const isWhole = cursor === undefined;
      this.#apps = isWhole || this.apps.length === 0 ? joined(NO_NAMES, apps, cursor) : this.#apps;
    }
  }

  async #readFirst(): Promise<void> {
    const round = ++this.#round;
    const isEmpty = this.appName === undefined;
    const page = isEmpty ? undefined : await this.#source.listSessions({ ...this.#request, limit: PAGE });
    if (round === this.#round) {
      this.#loaded = page?.sessions ?? [];
      this.#cursor = page?.cursor;
      this.total = page?.totalItems ?? 0;
    }
  }

  /** Takes over a first page that was read again, and keeps the pages behind it. */
  #renew(first: readonly Session[], cursor: string | undefined): void {
    const known = new Map(this.#loaded.map((session) => [nameOf(session), session]));
    const renewed = first.map((session) => {
      const before = known.get(nameOf(session));
      const isSame = before?.revision === session.revision && before.lastUpdateTime === session.lastUpdateTime;
      return isSame ? before : session;
    });
    const names = new Set(renewed.map(nameOf));
    const isWhole = cursor === undefined || this.#loaded.length <= first.length;
    const rest = isWhole ? [] : this.#loaded.slice(first.length).filter((session) => !names.has(nameOf(session)));
    this.#loaded = [...renewed, ...rest];
    this.#cursor = isWhole ? cursor : this.#cursor;
  }

  /** Looks for a session whose whole id was typed, and that is not loaded. */
  async #lookUp(sessionId: string): Promise<void> {
    const { appName, userId, query } = this;
    const isLoaded = this.#loaded.some(({ id }) => id === sessionId);
    if (appName === undefined || isLoaded || this.#cursor === undefined) {
      return;
    }
    const users = userId === undefined ? this.users.slice(0, TRIED_USERS) : [userId];
    const found = await Promise.all(
      users.map(
        async (user) =>
          await this.#source.getSession({ appName, userId: user, sessionId, config: { numRecentEvents: 0 } }),
      ),
    );
    if (this.query === query && this.appName === appName) {
      const loaded = new Set(this.#loaded.map(nameOf));
      this.#found = found.flatMap((session) =>
        session === undefined || loaded.has(nameOf(session)) ? [] : [session],
      );
    }
  }

  async #do(task: (isCurrent: () => boolean) => Promise<void>, isAsked = true): Promise<void> {
    const round = this.#round;
    if (isAsked) {
      this.isLoading = true;
      this.#changed();
    }
    try {
      await task(() => round === this.#round);
      this.problem = undefined;
    } catch (error) {
      this.problem = error;
    } finally {
      this.isLoading = isAsked ? false : this.isLoading;
      this.#changed();
    }
  }

  #changed(): void {
    this.#shown = undefined;
    this.dispatchEvent(new Event('change'));
  }
}

function joined({ names }: Names, next: readonly string[], cursor: string | undefined): Names {
  return { names: [...new Set([...names, ...next])], cursor, isWhole: cursor === undefined };
}
