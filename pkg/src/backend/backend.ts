// The seam between the service and its sessions, which are in memory or in a store. Requests are checked before.

import type { AdmittedCreation } from '../input/creation.js';
import type { ListPlan } from '../input/requests.js';
import type { ForkPlan } from './fork-plan.js';
import type { EventDraft } from '../input/event-draft.js';
import type { View } from '../session/handle.js';
import type { LeaseHold } from '../lease/lease-hold.js';
import type { LeaseAnswer, LeaseRequest, LeaseRow } from '../store/lease.js';
import type { Swept } from '../store/contract.js';
import type { StoreLack } from '../store/lacks.js';
import type {
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  SessionName,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';
import type { Signal } from '../async/abort.js';
import type { UpdateReservation, UpdateTarget, WriteConditions } from '../update/update-target.js';
import type { BackendAccess } from './backend-access.js';
import type { Once } from '../model/once.js';
import type { SharedPast } from '../past/shared-past.js';
import type { WholeSessionChange } from '../model/watch.js';
import type { ChangeSource, WatchPlan, WholePlan } from '../watch/change-source.js';

/** A checked request to create a session. */
export interface Creation extends AdmittedCreation {
  /** The time of creation, in milliseconds since the epoch; now when it is absent. */
  readonly time?: number | undefined;
  /** The id of its change, which is the creation id of the session; generated when it is absent. */
  readonly id?: string | undefined;
  /** The request that it is for, where that has an identity. */
  readonly once?: Once | undefined;
}

export type { SessionName };

/** A checked request to append an event. */
export interface AppendPlan {
  readonly session: SessionName;
  readonly draft: EventDraft;
  readonly expectedRevision: number | undefined;
  /** The lease of the write; by default that of the handle. */
  readonly lease?: LeaseHold | undefined;
  /** Called when the handle shows the event, before anyone else can see it. */
  readonly shown?: () => void;
}

/** The one session that may be deleted, and the lease of the deletion. */
export interface RemovalTarget {
  /** The creation id: another session under the key stays. */
  readonly created: string;
  readonly lease?: LeaseHold | undefined;
}

/** A slice of a sweep. */
export interface SweepPart {
  readonly appName: string | undefined;
  /** The most sessions and users together, from 1. */
  readonly limit: number;
  /** In milliseconds; absent where values of users stay. */
  readonly userTtl: number | undefined;
  /** True to remove nothing, and to count: see `SweepQuery.dry`. */
  readonly dry?: true | undefined;
}

type MaybePromise<T> = T | Promise<T>;

/** The sessions of a service. An operation that needs no waiting is done in the call itself. */
export interface SessionBackend {
  /** The features that the store lacks; absent in memory. */
  readonly lacks?: readonly StoreLack[] | undefined;
  create(creation: Creation, signal?: Signal): MaybePromise<Session>;
  get(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): MaybePromise<Session | undefined>;
  list(plan: ListPlan, signal?: Signal): MaybePromise<ListSessionsResponse>;
  /** Deletes a session; with `only` that one, and only while its lease is not lost. */
  remove(key: SessionKey, signal?: Signal, only?: RemovalTarget): MaybePromise<void>;
  append(plan: AppendPlan, signal?: Signal): MaybePromise<Event>;
  /**
   * Creates a fork, which is invisible until it is complete. Throws `SESSION_EXISTS`, also when another fork has begun
   * under its key.
   */
  fork(plan: ForkPlan, signal?: Signal): MaybePromise<Session>;
  /** The values of an app, or of a user in it, by name, in a record of the caller's own. */
  scope(appName: string, userId: string | undefined, signal?: Signal): MaybePromise<Record<string, unknown>>;
  /**
   * The access of `updateState` to a target; writes to a session under a `lease` carry that lease. `conditions` take
   * the place of the values that a function has read.
   */
  target(
    target: UpdateStateTarget,
    options: UpdateStateOptions,
    lease?: LeaseHold,
    conditions?: WriteConditions,
  ): MaybePromise<UpdateTarget>;
  /** The reservation that an update may take among all users of the store; `undefined` where there are none. */
  reservation?(target: UpdateStateTarget, signal?: Signal): UpdateReservation | undefined;
  /** The view of a handle, or of the current session, with its creation and all its events. */
  loadHistory(session: SessionName, signal?: Signal): MaybePromise<View>;
  /** The past of app and user values. */
  past(): Promise<SharedPast>;
  /** Brings a handle up to date. Throws `SESSION_NOT_FOUND`. */
  refresh(view: View, signal?: Signal): MaybePromise<void>;
  /**
   * Takes, renews or releases the lease of a handle's session; absent in memory. Throws `LEASE_HELD`, `LEASE_LOST`,
   * `SESSION_NOT_FOUND`; `INVALID_ARGUMENT` when the store has no leases. Calls `onDone` before any later request
   * begins.
   */
  lease?(view: View, request: LeaseRequest, signal?: Signal, onDone?: () => void): MaybePromise<LeaseAnswer>;
  /**
   * The row that the store keeps for the leases of a session; absent in memory. Throws `INVALID_ARGUMENT` where it
   * cannot be read.
   */
  readLease?(view: View, signal?: Signal): MaybePromise<LeaseRow | null>;
  /** The changes of a target, for one reader, who has to close the source. */
  watch(plan: WatchPlan): Promise<ChangeSource>;
  /** The changes of a whole session, for one reader, who has to close the source. */
  watchWhole(plan: WholePlan): Promise<ChangeSource<WholeSessionChange>>;
  /** The operations that few services need. Their code is loaded at the first call. */
  access(): Promise<BackendAccess>;
  /** Removes what has expired. Throws `INVALID_ARGUMENT` when the store has no such operation. */
  sweep(part: SweepPart, signal?: Signal): MaybePromise<Swept>;
  /** Takes, renews or releases a lease of the storage under a name; absent where nobody else sweeps. */
  readonly claim?: ((name: string, request: LeaseRequest) => Promise<LeaseAnswer>) | undefined;
  /** The view behind a handle that this backend returned. */
  view(session: unknown): View | undefined;
  /** Resolves when every write that was accepted is durable or has failed. */
  flush(): Promise<void>;
  /** Ends watches, waits for writes and for `last`, and closes the store; one that does not answer ends it all. */
  close(last?: () => Promise<void>): Promise<void>;
}

/** One page, with adk-js's meaning of each number. */
export function pageOf(
  plan: ListPlan,
  offset: number,
  total: number,
  sessions: Session[],
  cursor: string | undefined,
): ListSessionsResponse {
  const { limit } = plan;
  const answer = {
    sessions,
    page: limit ? Math.floor((plan.cursor === undefined ? plan.offset : offset) / limit) + 1 : plan.page,
    limit: limit ?? total,
    totalItems: total,
    totalPages: limit === undefined ? Math.min(total, 1) : limit === 0 ? 0 : Math.ceil(total / limit),
  };
  return cursor === undefined ? answer : { ...answer, cursor };
}
