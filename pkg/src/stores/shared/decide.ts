// The decision of a commit: the order in which a store looks for reasons not to write a change.

import { STORED_SCOPES, type SharedScope, type StoredScope } from '../../model/scope.js';
import { checkFence } from '../../store/lease.js';
import { refusedBefore, sessionExists, sessionNotFound, wrongRevision, wrongState } from '../../store/refusals.js';
import { checkLimits, type ScopeSizes } from './growth.js';
import { isNamed } from './keys.js';
import { resolveChange, type CurrentValues, type ResolvedChange } from './operators.js';
import type { Change, Committed, Delta, Guard, Pos, Rev } from '../../store/contract.js';

/** The part of a committed change that the answer to its duplicate repeats. */
export type CommitContent = Pick<Committed, 'data' | 'results' | 'digest'>;

/** The part of a change that is remembered with its id, or with its call. */
export type CallRecord = Pick<Change, 'digest'>;

/** The answer to a duplicate, without its part about the scopes. */
export interface Duplicate extends CommitContent, Pick<Committed, 'rev' | 'prev'> {
  readonly duplicate: true;
}

/**
 * The app, the user and the session of a change, as they are before it. A method is called only where its answer
 * counts, so that a store reads no more than it needs.
 */
export interface CommitFacts extends CurrentValues {
  /** The session of the change's key. */
  readonly session: { readonly created: string; readonly rev: Rev } | undefined;
  /** The record of the creation of that session. */
  creationOf(change: Change): CallRecord;
  /** The event of the session, or the update, with the id of the change. */
  contentOf(change: Change): CommitContent | undefined;
  /** The record of a change that created a session which was removed since; `undefined` for others. */
  tombstoneOf(change: Change): CallRecord | undefined;
  /** The record of an earlier attempt of the call of the change that was refused; `undefined` where there is none. */
  refusalOf(change: Change): CallRecord | undefined;
  /** The fencing token of the session; 0 where there is none. */
  fence(): number;
  /** The position of a scope; 0 where there is none. */
  pos(scope: SharedScope): number;
  /** Compares the values of a scope with those that a guard expects. */
  holds(scope: StoredScope, expected: Delta): boolean;
  /** Of a store that keeps `limits`: the sizes that they are compared with. */
  readonly sizes?: ScopeSizes;
}

/**
 * Decides a change: answers its deltas with the results of operators, or a duplicate. Throws the first refusal in
 * the order of `SessionStore.commit`, and `corrupt` where an operator finds an unreadable value. SQL and Lua that
 * decide by themselves keep to the same order.
 */
export function decideCommit(change: Change, facts: CommitFacts): Duplicate | ResolvedChange {
  const { kind, guard } = change;
  const { session } = facts;
  const isThere = isNamed(session, guard);
  const duplicate = duplicateOf(change, facts, isThere);
  if (duplicate !== undefined) {
    return duplicate;
  }
  const refusal = facts.refusalOf(change);
  if (refusal !== undefined) {
    throw refusedBefore(change, refusal.digest);
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
  const resolved = resolveChange(change, facts);
  if (facts.sizes !== undefined) {
    checkLimits(change, resolved, session?.rev ?? 0, facts.sizes);
  }
  return resolved;
}

/** The whole answer to a duplicate. `pos` are the current positions. */
export function answerTo(
  { rev, prev, duplicate, ...content }: Duplicate,
  pos: Pos,
  history: Pick<Committed, 'before' | 'changed'>,
): Committed {
  return { rev, prev, pos, duplicate, ...history, ...content };
}

function duplicateOf(change: Change, facts: CommitFacts, isThere: boolean): Duplicate | undefined {
  const { id, kind } = change;
  const { session } = facts;
  const rev = session?.rev ?? 0;
  if (kind === 'create') {
    if (session?.created === id) {
      return { rev, prev: rev, duplicate: true, ...facts.creationOf(change) };
    }
    const tombstone = facts.tombstoneOf(change);
    return tombstone && { rev: 0, prev: 0, duplicate: true, ...tombstone };
  }
  if (kind === 'append' && !isThere) {
    return undefined;
  }
  const content = facts.contentOf(change);
  return content && { rev, prev: kind === 'append' ? rev : null, duplicate: true, ...content };
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
