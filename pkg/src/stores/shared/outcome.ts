// The outcome of a change: committed or refused. Among several changes a refusal is an answer, not an exception.

import { isStoreError, type StoreError } from '../../store/store-error.js';
import type { Change, Committed } from '../../store/contract.js';

/** The outcome of a change: committed or refused. */
export type Outcome = Committed | StoreError;

/** Returns a committed change, or throws its refusal. */
export function committedOr(outcome: Outcome | undefined): Committed {
  if (isStoreError(outcome)) {
    throw outcome;
  }
  return outcome as Committed;
}

/** Returns the answer of a function, or the refusal that it throws. Other errors go on. */
export function outcomeOf<T>(decide: () => T): T | StoreError {
  try {
    return decide();
  } catch (error) {
    return refusalIn(error);
  }
}

/** The same for an answer that comes later. */
export async function outcomeLater<T>(pending: Promise<T>): Promise<T | StoreError> {
  try {
    return await pending;
  } catch (error) {
    return refusalIn(error);
  }
}

/** Waits for all answers, also when one of them fails: nothing is under way any more when this is over. */
export async function outcomesLater<T>(pending: readonly Promise<T>[]): Promise<(T | StoreError)[]> {
  const settled = await Promise.allSettled(pending.map(outcomeLater));
  return settled.map((each) => {
    if (each.status === 'rejected') {
      throw each.reason;
    }
    return each.value;
  });
}

/** Returns the answer of a read, or `undefined` when it is corrupt. Other errors go on. */
export async function unlessCorrupt<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isStoreError(error) && error.code === 'corrupt') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Commits changes one after the other, each by itself: one that is refused does not keep the others from being
 * written.
 */
export async function commitEach(
  changes: readonly Change[],
  commit: (changes: readonly [Change]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const change of changes) {
    const outcome = await outcomeLater(commit([change]));
    outcomes.push(...(isStoreError(outcome) ? [outcome] : outcome));
  }
  return outcomes;
}

/** Commits the changes that are not refused beforehand. Answers in the order of all of them. */
export async function commitUnrefused(
  changes: readonly Change[],
  refusal: (change: Change) => StoreError | undefined,
  commit: (changes: readonly Change[]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const refusals = changes.map(refusal);
  const others = changes.filter((_, index) => refusals[index] === undefined);
  const outcomes = others.length === 0 ? [] : [...(await commit(others))];
  return refusals.map((refused) => refused ?? (outcomes.shift() as Outcome));
}

function refusalIn(error: unknown): StoreError {
  if (isStoreError(error)) {
    return error;
  }
  throw error;
}
