// The writes of a store: changes, the conditions that they are written under, and their outcomes.

import type { Delta } from '../model/delta.js';
import type { Operator } from '../model/operators.js';
import type { Json, SessionKey } from '../model/types.js';

export type { Delta } from '../model/delta.js';
export type { Operator, OperatorName } from '../model/operators.js';

/** The values of one scope under their names, in the order in which the names were first written. No prototype. */
export type Values = Readonly<Record<string, Json>>;

/** The number of changes that a session has seen since its creation, which is 0: the events appended to it. */
export type Rev = number;

/**
 * The number of changes that have touched the app's scope, and the user's, in the order in which the store made them:
 * 0 before the first. Equal numbers mean equal values. It never goes back, not even when all keys of a scope are
 * deleted.
 */
export interface Pos {
  readonly app: number;
  /** 0 where there is no user. */
  readonly user: number;
}

/**
 * The change that brought an app's scope, and a user's, to its position: its {@link Change.call}, or else its id.
 * Absent at position 0, and where it is not known, as after an upgrade or `removeScope`; two marks are compared only
 * when both are there. Equal positions with other marks mean that the store has gone back since, and others have
 * written.
 */
export interface Marks {
  readonly app?: string;
  readonly user?: string;
}

/** The state that a caller has in memory of a session and its scopes. Absent parts are not known. */
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
 * The conditions under which a change is written. Absent parts are not looked at. A store looks at them in the same
 * atomic step in which it writes, and after it has looked for a duplicate.
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
   * The fencing token that the session must be at: `fenced` otherwise. Only for stores that have `lease`. Looked at
   * before all else of the guard but `created`, and after it has been looked for a duplicate.
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
 * The value that a store writes, all of it or nothing: one event and its deltas, already split by scope. `temp:` keys
 * are never in it.
 *
 * - `create` makes a session, at revision 0. `key` is whole; the event says what the session began with, so that its
 *   past can be read: it is stored as the event of revision 0. A creation without one is made all the same.
 * - `append` gives a session its next event. `key` is whole, there is an event.
 * - `update` writes app and user state alone. `key` has no `sessionId`; no `userId` either when only app state is
 *   written.
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
   * The time of creation, or the event's: what `list` sorts by. In milliseconds since the epoch, any finite number.
   */
  readonly time: number;
  /** The event as JSON text, opaque to the store. Never changed, and returned as it is. */
  readonly event?: { readonly id: string; readonly time: number; readonly data: string };
  readonly delta: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
  /**
   * Names to be written by operators, which are not in `delta`: only those that {@link SessionStore.resolves} names.
   * They are resolved in the same atomic step, after `delta` was merged, against the values that are there then, and
   * written as if `delta` had set them last, in their order. Their results are answered as `Committed.results`, and
   * kept: beside the event as `StoredEvent.results`, and beside the id of an update, for its duplicates. The event's
   * text is not touched. When one of them does not fit the value that it finds, nothing is written: `conflict` with
   * `key` (the name) and `scope` where `compareAndSet` finds another value, `rejected` with both where the value is of
   * another kind, or the sum is beyond a double. That is looked at last, when all of the guard holds.
   */
  readonly operators?: ScopedOperators;
  readonly guard?: Guard;
  /** The caller's copy of the scopes: only for {@link Committed.changed}, and never a condition. */
  readonly known?: Pick<Known, 'pos' | 'marks'>;
  /**
   * Identifies this call, where the id does not: an event whose id its author chose may be sent again
   * by another call, and other sessions may have one of that id. The same in all tries of a call. Absent: the id.
   */
  readonly call?: string;
  /**
   * The number of the try of this call, from the second one on: 2, 3 and so on. An earlier try may still be on its
   * way. When a change with an `attempt` is refused (`exists`, `not-found`, `conflict`, `fenced`, and `rejected` where
   * an operator does not fit), a store remembers its `call` for an hour at least, and refuses every later try of it
   * with `conflict`: nothing of a call is written after its caller has learned that it was refused. A change without
   * `attempt` leaves nothing behind when it is refused.
   */
  readonly attempt?: number;
  /** The id of a `Reservation`: it ends in the same step in which the change is written, or known to be. */
  readonly reservation?: string;
}

/** The answer to a change that is durable. */
export interface Committed {
  /** The session's revision after the change; 0 for an update. */
  readonly rev: Rev;
  /**
   * The revision before it: others have written when this is not what one knew. `null` for a creation and an update.
   */
  readonly prev: Rev | null;
  /** The positions of the scopes after the change. */
  readonly pos: Pos;
  /** Of a creation, by a store that lacks `created`: the `Row.created` that the session has. */
  readonly created?: string;
  /** The store had the change before, and has done nothing; `rev`, `prev` (the same) and `pos` are those of now. */
  readonly duplicate?: true;
  /** Of a duplicate append: the event that is stored under this id. */
  readonly data?: string;
  /**
   * The results of the operators of the change. For a duplicate: the results when it was written, whatever has been
   * written since, for as long as the duplicate is known; only for a creation they may be absent then.
   */
  readonly results?: ScopedValues;
  /**
   * The state of the session and the scopes just before this change: the id of the event at `prev` (of an append,
   * absent at revision 0) and the marks of the scopes. For a duplicate: their present state. It shows that a store has
   * gone back.
   */
  readonly before?: Marks & { readonly session?: string };
  /**
   * The changes that others have made to the scopes between {@link Change.known} and this change, which is not part of
   * them. A scope that others have moved and that is absent here has to be loaded. Names come in the order of writing;
   * one that was deleted and written again is in both `unset`, which comes first, and `set`.
   */
  readonly changed?: Changed;
}
