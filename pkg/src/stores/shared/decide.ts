// What becomes of a change: the order in which a store looks for reasons not to write it.

import { STORED_SCOPES, type SharedScope, type StoredScope } from '../../model/scope.js';
import { checkFence } from '../../store/lease.js';
import { refusedBefore, sessionExists, sessionNotFound, wrongRevision, wrongState } from '../../store/refusals.js';
import { isNamed } from './keys.js';
import { resolveChange, type CurrentValues, type ResolvedChange } from './operators.js';
import type { Change, Committed, Delta, Guard, Pos, Rev } from '../../store/contract.js';

/** What is kept of a change under its id. */
export type Written = Pick<Committed, 'data' | 'results'>;

/** The answer to a change that was made before, but for what it tells of the scopes. */
export interface Duplicate extends Written, Pick<Committed, 'rev' | 'prev'> {
  readonly duplicate: true;
}

/**
 * What a store knows of the app, the user and the session of a change, as they are before it. A method is called only
 * where its answer counts.
 */
export interface CommitFacts extends CurrentValues {
  /** The session of the change's key. */
  readonly session: { readonly created: string; readonly rev: Rev } | undefined;
  /** What is kept of the session's event, or the update, that has the id of the change. */
  written(change: Change): Written | undefined;
  /** Whether the change created a session that is removed since. */
  isOfRemoved(change: Change): boolean;
  /** Whether an earlier try of the change's call was refused. */
  isRefused(change: Change): boolean;
  /** The fencing token of the session; 0 where there is none. */
  fence(): number;
  /** The position of a scope; 0 where there is none. */
  pos(scope: SharedScope): number;
  /** Whether the values of a scope are as a guard expects them. */
  holds(scope: StoredScope, expected: Delta): boolean;
}

/**
 * Decides a change: what it is to write, or the answer to a duplicate. Throws the first refusal in the order that the
 * comment of `SessionStore.commit` lays down, and `corrupt` where an operator finds an unreadable value. Whatever
 * decides elsewhere, in SQL or Lua, keeps to the same order.
 */
export function decideCommit(change: Change, facts: CommitFacts): Duplicate | ResolvedChange {
  const { kind, guard } = change;
  const { session } = facts;
  const isThere = isNamed(session, guard);
  const duplicate = duplicateOf(change, facts, isThere);
  if (duplicate !== undefined) {
    return duplicate;
  }
  if (facts.isRefused(change)) {
    throw refusedBefore(change);
  }
  if (kind === 'create' && session !== undefined) {
    throw sessionExists(change);
  }
  if (kind === 'append' && !isThere) {
    throw sessionNotFound(change);
  }
  if (guard !== undefined) {
    checkGuard(change, guard, facts);
  }
  return resolveChange(change, facts);
}

/** The whole answer to a duplicate, with the positions of now and what is told of the scopes. */
export function answerTo(
  { rev, prev, duplicate, ...written }: Duplicate,
  pos: Pos,
  told: Pick<Committed, 'before' | 'changed'>,
): Committed {
  return { rev, prev, pos, duplicate, ...told, ...written };
}

function duplicateOf(change: Change, facts: CommitFacts, isThere: boolean): Duplicate | undefined {
  const { id, kind } = change;
  const { session } = facts;
  const rev = session?.rev ?? 0;
  if (kind === 'create') {
    if (session?.created === id) {
      return { rev, prev: rev, duplicate: true };
    }
    return facts.isOfRemoved(change) ? { rev: 0, prev: 0, duplicate: true } : undefined;
  }
  if (kind === 'append' && !isThere) {
    return undefined;
  }
  const written = facts.written(change);
  return written && { rev, prev: kind === 'append' ? rev : null, duplicate: true, ...written };
}

/** Throws `fenced` or `conflict` when a guard does not hold. */
function checkGuard(change: Change, { fence, rev, pos, keys }: Guard, facts: CommitFacts): void {
  if (fence !== undefined) {
    checkFence(facts.fence(), fence);
  }
  const actual = facts.session?.rev ?? 0;
  if (rev !== undefined && rev !== actual) {
    throw wrongRevision(change, actual);
  }
  if (!isAt(pos, facts) || !hasValues(keys, facts)) {
    throw wrongState();
  }
}

function isAt({ app, user }: NonNullable<Guard['pos']> = {}, facts: CommitFacts): boolean {
  return (app === undefined || app === facts.pos('app')) && (user === undefined || user === facts.pos('user'));
}

function hasValues(keys: NonNullable<Guard['keys']> = {}, facts: CommitFacts): boolean {
  return STORED_SCOPES.every((scope) => {
    const expected = keys[scope];
    return expected === undefined || facts.holds(scope, expected);
  });
}
