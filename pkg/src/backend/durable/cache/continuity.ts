// Checks that an answer of the store continues what is cached. A store may go back: a replica is promoted, a backup
// restored. A log is told by its revision and its last event, a shared scope by its position and mark. One case passes
// unnoticed: a store goes back, an event that was lost is sent again and comes to its old revision after other events,
// and the store goes forward to a copy in which that event stands there, too.

/**
 * The position of a shared scope, and the mark of the change that brought it there, as far as the store reports them.
 */
export interface ScopePosition {
  readonly pos: number;
  readonly mark: string | undefined;
}

/**
 * The action on a cached scope after a load: leave it, add the changes of others, replace all values, or load without
 * it.
 */
export type LoadStep = 'keep' | 'add' | 'replace' | 'reload';

/** A scope in an answer of the store. */
export interface ScopeAnswer {
  readonly at: ScopePosition;
  /** True when the answer has its values. */
  readonly hasValues: boolean;
  /** True when the answer has the changes since the known position. */
  readonly hasChanged: boolean;
}

/** True when two ids or marks of the same change differ. An unknown one matches any. */
export function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/**
 * True when the store has gone back since it was asked: a scope is behind its `known` position, or another change
 * brought it there.
 */
function isBehind(at: ScopePosition, known: ScopePosition | undefined): boolean {
  return known !== undefined && (at.pos < known.pos || (at.pos === known.pos && differ(at.mark, known.mark)));
}

/**
 * The action on a scope after a session was loaded. `known` is the position in the query, `now` the cached one when
 * the answer arrives, as answers overtake each other.
 */
export function afterLoad(
  now: ScopePosition | undefined,
  known: ScopePosition | undefined,
  { at, hasValues, hasChanged }: ScopeAnswer,
): LoadStep {
  const whole = hasValues ? 'replace' : 'reload';
  if (now === undefined || isBehind(at, known)) {
    return whole;
  }
  if (now.pos >= at.pos) {
    return now.pos === at.pos && differ(now.mark, at.mark) ? whole : 'keep';
  }
  return hasChanged && known !== undefined && now.pos >= known.pos ? 'add' : whole;
}

/** The position of a scope right before a change of this service, and the mark of that change. */
export interface CommittedMove {
  readonly before: ScopePosition;
  /** The change's mark, if it moved the scope. */
  readonly own: string | undefined;
  /** True when the answer has the changes of others since the known position. */
  readonly hasChanged: boolean;
}

/**
 * The action on a cached scope after a commit: none, as it has the change already; apply the change alone, or after
 * those of others; or load the scope.
 */
export type CommitStep = 'keep' | 'own' | 'add' | 'reload';

/** The action on a scope after a change of this service was stored. `known` and `now` as in {@link afterLoad}. */
export function afterCommit(
  now: ScopePosition | undefined,
  known: ScopePosition | undefined,
  { before, own, hasChanged }: CommittedMove,
): CommitStep {
  if (now === undefined || isBehind(before, known)) {
    return 'reload';
  }
  if (now.pos === before.pos) {
    return differ(now.mark, before.mark) ? 'reload' : 'own';
  }
  if (now.pos > before.pos) {
    return now.pos === before.pos + 1 && differ(now.mark, own) ? 'reload' : 'keep';
  }
  return hasChanged && known !== undefined && now.pos >= known.pos ? 'add' : 'reload';
}

/** The revision of a session, and the id of the event there, as far as the store reports it. */
export interface LogEnd {
  readonly rev: number;
  readonly last: string | undefined;
}

/**
 * True when the store has gone back since it was asked: a session is behind its `known` revision, or has another event
 * there.
 */
export function isRolledBack(answer: LogEnd, known: LogEnd | undefined): boolean {
  return (
    known !== undefined && (answer.rev < known.rev || (answer.rev === known.rev && differ(answer.last, known.last)))
  );
}
