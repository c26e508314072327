// Whether what a store answers follows what is cached. A store may go back: a replica is promoted, a backup restored.

import type { Marks } from '../../../store/contract.js';

/** Where an app's scope is, or a user's, and the change that brought it there, as far as the store tells. */
export interface ScopePosition {
  readonly pos: number;
  readonly mark: string | undefined;
}

/** The scopes that sessions share. */
export type SharedScope = keyof Marks;

/** What to do with a cached scope: leave it, add what others did, take all its values, or ask again without it. */
export type LoadStep = 'keep' | 'add' | 'replace' | 'reload';

/** A scope as an answer tells it. */
export interface ScopeAnswer {
  readonly at: ScopePosition;
  /** Whether its values are in the answer. */
  readonly hasValues: boolean;
  /** Whether what has happened since the known position is in the answer. */
  readonly hasChanged: boolean;
}

/** Whether two ids or marks of the same change differ. One that is not known is not compared. */
export function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/**
 * Whether the store has gone back since it was asked: a scope is behind where it was `sent`, or was moved by another
 * change.
 */
function isBehind(at: ScopePosition, sent: ScopePosition | undefined): boolean {
  return sent !== undefined && (at.pos < sent.pos || (at.pos === sent.pos && differ(at.mark, sent.mark)));
}

/**
 * How a scope goes on after a session was loaded. `sent` is what the store was answer to be known, `now` is what is
 * cached when the answer comes, as answers overtake each other.
 */
export function afterLoad(
  now: ScopePosition | undefined,
  sent: ScopePosition | undefined,
  { at, hasValues, hasChanged }: ScopeAnswer,
): LoadStep {
  const whole = hasValues ? 'replace' : 'reload';
  if (now === undefined || isBehind(at, sent)) {
    return whole;
  }
  if (now.pos >= at.pos) {
    return now.pos === at.pos && differ(now.mark, at.mark) ? whole : 'keep';
  }
  return hasChanged && sent !== undefined && now.pos >= sent.pos ? 'add' : whole;
}

/** What a scope was at just before a change of this service, and whether that change moved it, under which mark. */
export interface CommittedMove {
  readonly before: ScopePosition;
  /** The change's mark, if it moved the scope. */
  readonly own: string | undefined;
  /** Whether what others have done since the known position is in the answer. */
  readonly hasChanged: boolean;
}

/** What a change does to a cached scope: nothing, as it is there already; itself alone; or after what others did. */
export type CommitStep = 'keep' | 'own' | 'add' | 'reload';

/** How a scope goes on after a change of this service was stored. `sent` and `now` as in {@link afterLoad}. */
export function afterCommit(
  now: ScopePosition | undefined,
  sent: ScopePosition | undefined,
  { before, own, hasChanged }: CommittedMove,
): CommitStep {
  if (now === undefined || isBehind(before, sent)) {
    return 'reload';
  }
  if (now.pos === before.pos) {
    return differ(now.mark, before.mark) ? 'reload' : 'own';
  }
  if (now.pos > before.pos) {
    return now.pos === before.pos + 1 && differ(now.mark, own) ? 'reload' : 'keep';
  }
  return hasChanged && sent !== undefined && now.pos >= sent.pos ? 'add' : 'reload';
}

/** How far a session has come, and the id of the event that brought it there, as far as the store tells. */
export interface LogEnd {
  readonly rev: number;
  readonly last: string | undefined;
}

/**
 * Whether the store has gone back since it was asked: a session is behind where it was `sent`, or has another event
 * there.
 */
export function isRolledBack(answer: LogEnd, sent: LogEnd | undefined): boolean {
  return sent !== undefined && (answer.rev < sent.rev || (answer.rev === sent.rev && differ(answer.last, sent.last)));
}
