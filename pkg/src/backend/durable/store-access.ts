// The operations over a store that few services need: see `BackendAccess`. Loaded at the first call.

import { storeResolves } from './commit/operators.js';
import { claimRequest, forkOf, refuseRequest } from './operations/requests.js';
import { unfinishedId } from './cache/unfinished.js';
import { parseEvent } from './cache/stored-event.js';
import { LAST_EVENT } from '../../session/event-window.js';
import { defined } from '../../model/defined.js';
import { StatepadError } from '../../model/errors.js';
import { creationOf } from '../backend-access.js';
import { parseCreation } from '../../session/creation-event.js';
import type {
  BackendAccess,
  CreationTime,
  EventPage,
  EventsFrom,
  RequestFork,
  RequestKind,
  StoredRequests,
} from '../backend-access.js';
import type { StoreComponents } from './operations/components.js';
import type { KeyedOperators } from '../../model/operator-write.js';
import type { Once } from '../../model/once.js';
import type { Session, SessionKey, UpdateStateTarget } from '../../model/types.js';
import type { Signal } from '../../async/abort.js';
import type { Loaded, LoadQuery, NamePage, NameQuery, SessionStore, StoreContext } from '../../store/contract.js';

/** The optional operations of a store that are asked here. */
type Listing = 'owners' | 'listApps' | 'listUsers';

/** See `BackendAccess`. */
export class StoreAccess implements BackendAccess, StoredRequests {
  readonly #components: StoreComponents;

  constructor(components: StoreComponents) {
    this.#components = components;
  }

  get #store(): SessionStore {
    return this.#components.connection.store;
  }

  get hasOwners(): boolean {
    return this.#store.owners !== undefined;
  }

  get hasLeases(): boolean {
    return this.#store.lease !== undefined;
  }

  get requests(): StoredRequests {
    return this;
  }

  async owners(appName: string, sessionId: string, signal?: Signal): Promise<readonly string[]> {
    const users = await this.#ask('owners', 'a session cannot be found by its id alone', signal, (store, context) =>
      store.owners?.(appName, sessionId, context),
    );
    // One that a fork is still writing is not there yet: it matters where it would hide the only one that is.
    return users.length < 2 ? users : await this.#whole(users, { appName, sessionId }, signal);
  }

  async #whole(
    users: readonly string[],
    { appName, sessionId }: Omit<SessionKey, 'userId'>,
    signal: Signal | undefined,
  ): Promise<readonly string[]> {
    const { loader } = this.#components;
    const heads = await Promise.all(
      users.map((userId) => loader.loadRange({ appName, userId, sessionId }, { events: { last: 0 } }, signal)),
    );
    return users.filter((_, index) => heads[index] !== null);
  }

  async listApps(query: NameQuery, signal?: Signal): Promise<NamePage> {
    return await this.#ask('listApps', 'apps cannot be listed', signal, (store, context) =>
      store.listApps?.(query, context),
    );
  }

  async listUsers(appName: string, query: NameQuery, signal?: Signal): Promise<NamePage> {
    return await this.#ask('listUsers', 'users cannot be listed', signal, (store, context) =>
      store.listUsers?.(appName, query, context),
    );
  }

  async #ask<T>(
    operation: Listing,
    what: string,
    signal: Signal | undefined,
    run: (store: SessionStore, context: StoreContext) => Promise<T> | undefined,
  ): Promise<T> {
    if (this.#store[operation] === undefined) {
      throw new StatepadError('INVALID_ARGUMENT', `${what}: the store has no ${operation}`);
    }
    return await this.#components.connection.ask((store, context) => run(store, context) as Promise<T>, signal);
  }

  current(key: SessionKey): Session | undefined {
    const { cache } = this.#components;
    const record = cache.registry.find(key);
    return record !== undefined && cache.isCurrent(record) ? cache.registry.read(record, LAST_EVENT) : undefined;
  }

  async events(key: SessionKey, { from, limit }: EventsFrom, signal?: Signal): Promise<EventPage | undefined> {
    return (
      (await this.#cachedEvents(key, { from, limit }, signal)) ??
      (await this.#loadEvents(key, { from, limit }, signal))
    );
  }

  /** The events from the cache, which is brought up to date; `undefined` where it lacks some of them. */
  async #cachedEvents(
    key: SessionKey,
    { from, limit = Infinity }: EventsFrom,
    signal: Signal | undefined,
  ): Promise<EventPage | undefined> {
    const { cache, loader } = this.#components;
    const cached = cache.registry.find(key);
    if (cached === undefined || cached.base >= from) {
      return undefined;
    }
    return await loader.load(
      key,
      { last: 0 },
      ({ base, events, revision }) =>
        base < from ? { events: events.slice(from - 1 - base, from - 1 - base + limit), revision } : undefined,
      { signal },
    );
  }

  async #loadEvents(
    key: SessionKey,
    { from, limit }: EventsFrom,
    signal: Signal | undefined,
  ): Promise<EventPage | undefined> {
    const loaded = await this.#load(key, rangeOf(from, limit), signal);
    return loaded === null
      ? undefined
      : { events: loaded.events.map((event) => parseEvent({ key }, event)), revision: loaded.rev };
  }

  async creation(key: SessionKey, signal?: Signal): Promise<CreationTime | undefined> {
    const loaded = await this.#load(key, { from: 0, to: 0 }, signal);
    return loaded === null ? undefined : creationOf(loaded.created, parseCreation(loaded.events[0]));
  }

  /** Loads events, without the values that the cache has. */
  async #load(key: SessionKey, events: LoadQuery['events'], signal: Signal | undefined): Promise<Loaded | null> {
    const { cache, loader } = this.#components;
    const known = cache.known(key, cache.registry.find(key));
    return await loader.loadRange(key, defined({ events, known }), signal);
  }

  resolves(operators: KeyedOperators): boolean {
    return storeResolves(this.#store, this.#components.limits, operators);
  }

  async claim(key: SessionKey, id: string, digest: string): Promise<string> {
    return await claimRequest(this.#components, key, id, digest);
  }

  async refuse(target: UpdateStateTarget, kind: RequestKind, once: Once, created?: string): Promise<boolean> {
    return await refuseRequest(this.#components, target, kind, once, created);
  }

  async refuseFork(key: SessionKey, once: Once, revision: number): Promise<boolean> {
    const id = unfinishedId(revision + 1, once.id);
    return await refuseRequest(this.#components, key, 'create', { ...once, id }, undefined);
  }

  async forkOf(key: SessionKey, once: Once, signal?: Signal): Promise<RequestFork | undefined> {
    return await forkOf(this.#components, key, once, signal);
  }
}

function rangeOf(from: number, limit: number | undefined): NonNullable<LoadQuery['events']> {
  return limit === undefined ? { from } : limit === 0 ? { last: 0 } : { from, to: from + limit - 1 };
}
