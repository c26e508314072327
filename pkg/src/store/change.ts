// The writes of a store: changes, the conditions that they are written under, and their outcomes.

import type { Expiry, StoreLimits } from './growth.js';
import type { Delta } from '../model/delta.js';
import type { Operator } from '../model/operators.js';
import type { Json, SessionKey } from '../model/types.js';

export type { Delta } from '../model/delta.js';
export type { Operator, OperatorName } from '../model/operators.js';

/** The values of one scope under their names, in the order in which the names were first written. No prototype. */
export type Values = Readonly<Record<string, Json>>;

/** The number of events appended to a session: 0 at its creation. */
export type Rev = number;

/**
 * The number of changes of the app's scope, and of the user's, in the order of the store: 0 before the first. Equal
 * numbers mean equal values. It never decreases, not even when all keys of a scope are deleted.
 */
export interface Pos {
  readonly app: number;
  /** 0 where there is no user. */
  readonly user: number;
}

/**
 * The change that brought an app's scope, and a user's, to its position: its {@link Change.call}, or else its id.
 * Absent at position 0, and where it is unknown, as after an upgrade or `removeScope`; two marks are compared only
 * if both are present. Equal positions with different marks mean that the store has gone back, and others have written
 * since.
 */
export interface Marks {
  readonly app?: string;
  readonly user?: string;
}

/** The caller's copy of a session and its scopes. Absent members are unknown. */
export interface Known {
  /** The `Row.created` of the session. */
  readonly created?: string;
  /** The revision of the session. Only together with `created`. */
  readonly rev?: Rev;
  /** The id of the event at `rev`; absent at revision 0. */
  readonly last?: string;
  /** The positions of the scopes. */
  readonly pos?: Partial<Pos>;
  /** The marks of the scopes at these positions. */
  readonly marks?: Marks;
}

/** Changes that others have made to app and user state since the caller's position. */
export interface Changed {
  readonly app?: Delta;
  readonly user?: Delta;
}

/**
 * The conditions under which a change is written. Absent members are not compared. A store compares the others in the
 * atomic step that writes, after it has looked for a duplicate.
 */
export interface Guard {
  /** The `Row.created` that the session must have: `not-found` otherwise, as it is another session. */
  readonly created?: string;
  /** The revision that the session must be at: `conflict` otherwise, with `actual`. */
  readonly rev?: Rev;
  /** The positions that the scopes must be at: `conflict` otherwise. */
  readonly pos?: Partial<Pos>;
  /**
   * Names that must have these values (`set`, compared as `JSON.stringify` writes them) or be absent (`unset`):
   * `conflict` otherwise.
   */
  readonly keys?: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
  /**
   * The fencing token that the session must be at: `fenced` otherwise. Only for stores with `lease`. Compared after
   * `created`, and before the other conditions.
   */
  readonly fence?: number;
}

/** Operators under names, by scope, in the order of writing. */
export interface ScopedOperators {
  readonly app?: Readonly<Record<string, Operator>>;
  readonly user?: Readonly<Record<string, Operator>>;
  readonly session?: Readonly<Record<string, Operator>>;
}

/** Values under names, by scope: a scope without any is absent. */
export interface ScopedValues {
  readonly app?: Values;
  readonly user?: Values;
  readonly session?: Values;
}

/**
 * The value that a store writes, all of it or nothing: one event and its deltas, already split by scope. It never has
 * `temp:` keys.
 *
 * - `create` makes a session, at revision 0. `key` is complete. The event has the initial state, so that the past can
 *   be read: it is stored as the event of revision 0. It may be absent.
 * - `append` adds the next event of a session. `key` is complete, and there is an event.
 * - `update` writes app and user state alone. `key` has no `sessionId`; it has no `userId` either when only app state
 *   is written.
 */
export interface Change {
  /**
   * The idempotency key. Of an append it is the event's id, unique in its session; of the others it is unique
   * everywhere.
   */
  readonly id: string;
  readonly kind: 'create' | 'append' | 'update';
  readonly key: Partial<SessionKey> & Pick<SessionKey, 'appName'>;
  /**
   * The time of creation, or of the event, by which `list` sorts: milliseconds since the epoch, any finite number.
   */
  readonly time: number;
  /** The event as JSON text, opaque to the store. Never changed, and returned as it is. */
  readonly event?: { readonly id: string; readonly time: number; readonly data: string };
  readonly delta: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
  /**
   * The operators of names that are not in `delta`: only operators of {@link SessionStore.resolves}. The store
   * resolves them in the same atomic step, with the values after `delta` was merged, and writes the results as if
   * `delta` had set them last, in their order. The results are in `Committed.results`. They are stored beside the
   * event, as `StoredEvent.results`, and beside the id of an update, for its duplicates; the event's text stays as it
   * is. If an operator does not fit the value, nothing is written: `conflict` with `key` (the name) and `scope` when
   * `compareAndSet` meets another value, `rejected` with both when the value is of another kind, or the sum is beyond
   * a double. This is checked last, when the whole guard holds.
   */
  readonly operators?: ScopedOperators;
  readonly guard?: Guard;
  /** The caller's copy of the scopes: only for {@link Committed.changed}, and never a condition. */
  readonly known?: Pick<Known, 'pos' | 'marks'>;
  /**
   * Identifies this call where the id does not: another call may send an event with the same id, if its author chose
   * the id, and other sessions may have an event of that id. The same in all attempts of a call. By default the id.
   */
  readonly call?: string;
  /**
   * The number of this attempt of the call, from the second one on: 2, 3 and so on. An earlier attempt may still be on
   * its way. When a change with an `attempt` is refused (`exists`, `not-found`, `conflict`, `fenced`, `limit`, and
   * `rejected` because of an operator), the store remembers its `call` for at least 24 hours, and refuses later
   * attempts with `conflict`: nothing of a call is written after its caller was told of the refusal. A refused change
   * without `attempt` leaves nothing behind.
   */
  readonly attempt?: number;
  /**
   * A digest of the request that the call was made for, at most 200 characters. A store that keeps `digests` stores it
   * with what it remembers of the call: the creation of a session, while it lives and after it was removed; an update;
   * the first refusal of a call. A repeated call gets it back, so that its caller can tell a repeated request from
   * another one under the same id. It is never a condition. An append has one for its refusal alone: once it is
   * written, its event is compared.
   */
  readonly digest?: string;
  /** Compared with what would be stored, after the operators: only for stores that keep `limits`. */
  readonly limits?: StoreLimits;
  /**
   * The end of the session, of a creation: only for stores that keep `expiry` or `lifetime`. From that moment of the
   * store's clock on the session is not there, whether it was removed or not: `load` answers `null`, lists and
   * `owners` leave it out, appends, leases and guards meet no session, a creation under its key makes another one,
   * and its own creation sent again is a duplicate as that of a removed session (`rev` and `prev` are 0). It is
   * decided in the atomic step that reads or writes.
   */
  readonly expires?: Expiry;
  /** The id of a `Reservation`: it ends in the step that writes the change, or recognizes a duplicate. */
  readonly reservation?: string;
}

/** The answer to a durable change. */
export interface Committed {
  /** The session's revision after the change; 0 for an update. */
  readonly rev: Rev;
  /**
   * The revision before it: others have written if the caller knew another one. `null` for a creation and an update.
   */
  readonly prev: Rev | null;
  /** The positions of the scopes after the change. */
  readonly pos: Pos;
  /** For a creation, from a store that lacks `created`: the `Row.created` of the session. */
  readonly created?: string;
  /**
   * The time at which the session expires after the change, in milliseconds since the epoch, by the store's clock;
   * absent where it does not, and for an update.
   */
  readonly expires?: number;
  /** The store already had the change, and wrote nothing; `rev`, `prev` (the same) and `pos` are the present ones. */
  readonly duplicate?: true;
  /** For a duplicate append: the event that is stored under this id. */
  readonly data?: string;
  /** For a duplicate creation or update, from a store that keeps `digests`: the {@link Change.digest} of the first. */
  readonly digest?: string;
  /**
   * The results of the operators of the change. For a duplicate: the results when it was written, whatever was written
   * since, as long as the duplicate is known; only those of a creation may be absent then.
   */
  readonly results?: ScopedValues;
  /**
   * The state of the session and the scopes just before this change: the id of the event at `prev` (of an append,
   * absent at revision 0) and the marks of the scopes. For a duplicate: their present state. It shows that a store has
   * gone back.
   */
  readonly before?: Marks & { readonly session?: string };
  /**
   * The changes of others to the scopes between {@link Change.known} and this change, which is not among them. A scope
   * that others have changed and that is absent must be loaded. Names are in the order of writing; a name that was
   * deleted and written again is in `unset`, which comes first, and in `set`.
   */
  readonly changed?: Changed;
}
