// The operations that a server of a service needs beyond the public ones of the service.

import type { LeaseAnswer } from '../store/lease.js';
import type { Once } from '../model/once.js';
import type { StoredScope } from '../model/scope.js';
import type { Rewound } from '../model/rewind.js';
import type {
  Abortable,
  AppendEventRequest,
  CreateSessionRequest,
  Event,
  EventInit,
  Json,
  Session,
  SessionEnd,
  SessionKey,
  SessionName,
  UpdateStateTarget,
} from '../model/types.js';

/** A write to the state of a target, under conditions that the caller names. */
export interface StateWrite extends Abortable {
  /** Values, operators and `DELETED`, under full keys. */
  readonly delta: Readonly<Record<string, unknown>>;
  /** Full keys that must have these values, or must be absent. `STATE_CONFLICT` otherwise. */
  readonly expected?: {
    readonly set?: Readonly<Record<string, Json>> | undefined;
    readonly unset?: readonly string[] | undefined;
    /** The scopes that must have no other keys than those of `set`. */
    readonly whole?: readonly StoredScope[] | undefined;
  };
  /** Of the event, where the target is a session. */
  readonly author?: string | undefined;
  readonly invocationId?: string | undefined;
}

/** The proof of a lease, as a remote holder keeps it. */
export interface LeaseProof {
  /** The fencing token. */
  readonly token: number;
  /** The holder that took it. */
  readonly holder: string;
  /** The id of the change that created the leased session. */
  readonly created: string;
}

/** A request for a lease by a remote holder. */
export interface RemoteLeaseRequest extends Abortable {
  readonly holder: string;
  /** In milliseconds; 0 releases it. */
  readonly ttl: number;
  /** To renew or release it. */
  readonly proof?: LeaseProof | undefined;
}

/** A creation that its maker recognises later. */
export interface CreationIdentity {
  /** A digest of the request. */
  readonly digest: string;
  /** The first event. */
  readonly first?: EventInit | undefined;
}

/**
 * The operations that `statepad/serve` needs beyond those of the service. Each `once` makes the operation idempotent:
 * repeated with the same id and digest it resolves as the first attempt did, and an attempt that arrives after a
 * refusal is refused, too (with `STATE_CONFLICT`, or as before). Throws `KEY_REUSED` for another digest under a known
 * id. In memory outcomes are known for 24 hours, over a store for as long as it knows changes and refusals.
 *
 * A session that was deleted and created anew is another one: a write that is repeated then is carried out there. A
 * fork that was deleted since is `SESSION_NOT_FOUND`, and does not come back.
 *
 * Stores that remember less make requests less certain. Without `digests` another request under a known id is answered
 * as the first one, but for writes to a session, whose events have the digest; and a fork of the current revision may
 * branch off at another one when it is repeated before it was begun. Without `calls` no refusal is remembered. Without
 * `creations` a repeated creation brings a deleted session back. A store that lacks `repeats` makes an update again.
 */
export interface ServingAccess {
  /** The clock of the service, in milliseconds since the epoch. */
  now(): number;
  /** False where the store has no `owners`. */
  readonly hasOwners: boolean;
  /** The users in an app that have a session with this id, in the order of UTF-8 bytes. */
  owners(appName: string, sessionId: string, options?: Abortable): Promise<readonly string[]>;
  /** The id of the change that created the session of a handle: another session under its key has another one. */
  createdOf(session: Session): string;
  create(request: CreateSessionRequest, once?: Once): Promise<Session>;
  /**
   * Creates a session whose creation id contains `digest`, unless the store names creations itself. With `first` the
   * session is not seen before that event is there, whose delta may write `app:` and `user:` keys as well, while
   * `state` has the session's own. A creation that was cut off between the two is continued by one of the same
   * digest, and replaced by any other one.
   */
  createAs(request: CreateSessionRequest, identity: CreationIdentity): Promise<Session>;
  /** The time of a session's creation, by the id of the change; `undefined` where the store does not keep it. */
  creation(
    key: SessionKey,
    options?: Abortable,
  ): Promise<{ readonly created: string; readonly time: number | undefined } | undefined>;
  /**
   * As `appendEvent`. The answer has a handle that shows the session after it: the given one, or else a new one with
   * no event but the last, for which the store is hardly ever asked again. With `created` only to the session that
   * this change created: `SESSION_NOT_FOUND` otherwise.
   */
  append(
    request: AppendEventRequest & { readonly created?: string | undefined },
  ): Promise<{ readonly event: Event; readonly session: Session }>;
  /** As `updateState`, but of one write whose conditions are `expected`, never run again after a conflict. */
  write(target: UpdateStateTarget | Session, write: StateWrite, once?: Once): Promise<Readonly<Record<string, Json>>>;
  /**
   * As `rewind`. With `marker` the appended event is that one, with the delta of the rewind in the place of its
   * `stateDelta`: its id, author, time and all else stay. Where the session has an event of its id, that one is the
   * answer if it rewinds to the same invocation; `EVENT_ID_CONFLICT` otherwise.
   */
  rewind(
    session: SessionName,
    options: Abortable & {
      readonly before: string;
      readonly marker?: EventInit | undefined;
      readonly artifactDelta?: Readonly<Record<string, number>> | undefined;
    },
    once?: Once,
  ): Promise<Rewound>;
  redo(session: SessionName, options: Abortable, once?: Once): Promise<Rewound>;
  fork(
    session: SessionName,
    options: Abortable & SessionEnd & { readonly at?: number | undefined; readonly sessionId?: string | undefined },
    once?: Once,
  ): Promise<Session>;
  /** Takes, renews or releases a lease for a remote holder. Throws as `lease`. */
  lease(key: SessionKey, request: RemoteLeaseRequest): Promise<LeaseAnswer & { readonly created: string }>;
  /** A new handle of a session, whose writes carry a lease that a remote holder has. */
  underLease(session: Session, proof: LeaseProof): Session;
  /** Deletes a session; with `created` only the one that this change created; with a `proof` under that lease. */
  remove(
    key: SessionKey,
    options?: Abortable & { readonly created?: string | undefined; readonly proof?: LeaseProof | undefined },
  ): Promise<void>;
  /** The events of a session from a revision on (1 is the first), at most `limit` of them, and its revision. */
  events(
    key: SessionKey,
    range: Abortable & { readonly from: number; readonly limit?: number | undefined },
  ): Promise<{ readonly events: readonly Event[]; readonly revision: number } | undefined>;
}
