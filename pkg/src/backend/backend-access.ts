// The operations of a backend that few services need: those for servers, and the lists of names.

import type { CreationEvent } from '../session/creation-event.js';
import type { KeyedOperators } from '../model/operator-write.js';
import type { Once } from '../model/once.js';
import type { Event, Session, SessionKey, UpdateStateTarget } from '../model/types.js';
import type { Signal } from '../async/abort.js';
import type { NamePage, NameQuery } from '../store/contract.js';

type MaybePromise<T> = T | Promise<T>;

/** A contiguous run of the events of a session. */
export interface EventsFrom {
  /** The first revision, from 1. */
  readonly from: number;
  /** The most events; all when it is absent. */
  readonly limit?: number | undefined;
}

/** Some events of a session, and its revision. */
export interface EventPage {
  readonly events: readonly Event[];
  readonly revision: number;
}

/** The creation of a session. */
export interface CreationTime {
  /** The id of the change that created it. */
  readonly created: string;
  /** In milliseconds since the epoch. */
  readonly time: number | undefined;
}

/** See `SessionBackend.access`. */
export interface BackendAccess {
  /** True when {@link BackendAccess.owners} can answer. */
  readonly hasOwners: boolean;
  /** True when sessions can be leased. */
  readonly hasLeases: boolean;
  /** The users that have a session with this id. Throws `INVALID_ARGUMENT` where the store has no such operation. */
  owners(appName: string, sessionId: string, signal?: Signal): MaybePromise<readonly string[]>;
  /** A page of apps; of users in an app. Both throw `INVALID_ARGUMENT` where the store has no such operation. */
  listApps(query: NameQuery, signal?: Signal): MaybePromise<NamePage>;
  listUsers(appName: string, query: NameQuery, signal?: Signal): MaybePromise<NamePage>;
  /**
   * A new handle of a session that is in memory and current, with its last event if that is in memory, too;
   * `undefined` where it has to be read.
   */
  current(key: SessionKey): Session | undefined;
  /** Some events of a session; `undefined` for a missing one. */
  events(key: SessionKey, range: EventsFrom, signal?: Signal): MaybePromise<EventPage | undefined>;
  /** The creation of a session; `undefined` for a missing one. Its time is absent where the store keeps none. */
  creation(key: SessionKey, signal?: Signal): MaybePromise<CreationTime | undefined>;
  /** The requests of a store; absent in memory. */
  readonly requests?: StoredRequests;
}

/** The memory of a store for requests with an identity. */
export interface StoredRequests {
  /** True when a write with these operators takes one attempt: the store resolves them itself. */
  resolves(operators: KeyedOperators): boolean;
  /**
   * Reserves an id for a request: the digest of the first request that has reserved it, which may be another one.
   * `key` is that of a session which the id alone determines.
   */
  claim(key: SessionKey, id: string, digest: string): Promise<string>;
  /**
   * Records the refusal of a request, so that an attempt of it that arrives later is refused, too. Returns true if an
   * earlier one was carried out. `created` is the creation id of the session that it writes to.
   */
  refuse(target: UpdateStateTarget, kind: RequestKind, once: Once, created?: string): Promise<boolean>;
  /** The same for a fork that branches off at a revision. */
  refuseFork(key: SessionKey, once: Once, revision: number): Promise<boolean>;
  /** The fork that an earlier attempt of a request has begun under a key, if it has. */
  forkOf(key: SessionKey, once: Once, signal?: Signal): Promise<RequestFork | undefined>;
}

/** A fork that a request has begun. */
export interface RequestFork {
  /** The revision of the source at which it branches off. */
  readonly revision: number;
  /** True when it is complete. */
  readonly isWhole: boolean;
  /** True when nothing that it shows has certainly changed since it was. */
  readonly isUnmoved: boolean;
}

/** The kind of change that a request makes. */
export type RequestKind = 'create' | 'append' | 'update';

/** The creation id of a session with the time of its creation. */
export function creationOf(created: string, creation: CreationEvent | 'unknown' | undefined): CreationTime {
  return { created, time: creation === 'unknown' ? undefined : creation?.timestamp };
}
