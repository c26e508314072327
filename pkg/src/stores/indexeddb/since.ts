// The changes to an app or a user in an IndexedDB database since a position that a caller knows.

import { beginningWith, get, getAll, remove } from './requests.js';
import type { DeletionRow, ScopeKey, ValueRow } from './rows.js';
import { valuesIn } from './values.js';
import { MOVES_BETWEEN_TRIMS, REPORTED_MOVES } from '../shared/limits.js';
import type { Delta } from '../../store/contract.js';

/** The writes and deletions since a position. */
export interface Since {
  readonly values: readonly ValueRow[];
  readonly deletions: readonly DeletionRow[];
}

/** Reads the changes since a position. `undefined` if the mark there was another one, or is not known. */
export async function readSince(
  transaction: IDBTransaction,
  scope: ScopeKey,
  pos: number,
  mark: string,
): Promise<Since | undefined> {
  if ((await get(transaction, 'marks', [scope, pos]))?.mark !== mark) {
    return undefined;
  }
  const [values, deletions] = await Promise.all([
    getAll(transaction, 'values', IDBKeyRange.bound([scope, pos], [scope, []], true), { index: 'pos' }),
    // Names come before arrays.
    getAll(transaction, 'deletions', beginningWith([scope], [pos, []])),
  ]);
  return { values, deletions };
}

/** The same as a delta. Throws `corrupt`. */
export function deltaSince(
  pos: number,
  values: readonly Omit<ValueRow, 'home'>[],
  deletions: readonly Pick<DeletionRow, 'name'>[],
  whose: string,
): Delta {
  const made = values.filter((row) => (row.made ?? 0) > pos);
  const unset = [...new Set([...deletions, ...made].map(({ name }) => name))];
  return { ...(values.length > 0 && { set: valuesIn(values, whose) }), ...(unset.length > 0 && { unset }) };
}

/** Forgets the changes that are not reported any more, now and then. */
export function forgetBefore(transaction: IDBTransaction, scope: ScopeKey, before: number, pos: number): void {
  if (Math.floor(before / MOVES_BETWEEN_TRIMS) !== Math.floor(pos / MOVES_BETWEEN_TRIMS)) {
    forget(transaction, IDBKeyRange.bound([scope], [scope, pos - REPORTED_MOVES], false, true));
  }
}

/** Forgets all of it. */
export function forgetAll(transaction: IDBTransaction, scope: ScopeKey): void {
  forget(transaction, beginningWith([scope]));
}

function forget(transaction: IDBTransaction, range: IDBKeyRange): void {
  remove(transaction, 'marks', range);
  remove(transaction, 'deletions', range);
}
