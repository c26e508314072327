// What has happened to an app or a user in an IndexedDB database since a position that a caller knows.

import { beginningWith, get, getAll, remove, type GoneRow, type ScopeKey, type ValueRow } from './schema.js';
import { valuesOf } from './values.js';
import type { Delta } from '../../store/contract.js';

/** How many positions back it can be told at least, and how often what is beyond them is forgotten. */
const TOLD = 1_000;
const ROUND = 256;

/** What has been written and deleted since a position. */
export interface Since {
  readonly values: readonly ValueRow[];
  readonly gone: readonly GoneRow[];
}

/** Reads what has happened since a position. `undefined` where that mark was another one there, or it is not known. */
export async function readSince(transaction: IDBTransaction, scope: ScopeKey, pos: number, mark: string): Promise<Since | undefined> {
  if ((await get(transaction, 'marks', [scope, pos]))?.mark !== mark) {
    return undefined;
  }
  const [values, gone] = await Promise.all([
    getAll(transaction, 'values', IDBKeyRange.bound([scope, pos], [scope, []], true), { index: 'pos' }),
    // Names come before arrays.
    getAll(transaction, 'gone', beginningWith([scope], [pos, []])),
  ]);
  return { values, gone };
}

/** The same as a delta. Throws `corrupt`. */
export function deltaSince(pos: number, values: readonly Omit<ValueRow, 'home'>[], gone: readonly Pick<GoneRow, 'name'>[]): Delta {
  const made = values.filter((row) => (row.made ?? 0) > pos);
  const unset = [...new Set([...gone, ...made].map(({ name }) => name))];
  return { ...(values.length > 0 && { set: valuesOf(values) }), ...(unset.length > 0 && { unset }) };
}

/** Forgets what is not told any more, now and then. */
export function forgetBefore(transaction: IDBTransaction, scope: ScopeKey, before: number, pos: number): void {
  if (Math.floor(before / ROUND) !== Math.floor(pos / ROUND)) {
    forget(transaction, IDBKeyRange.bound([scope], [scope, pos - TOLD], false, true));
  }
}

/** Forgets all of it. */
export function forgetAll(transaction: IDBTransaction, scope: ScopeKey): void {
  forget(transaction, beginningWith([scope]));
}

function forget(transaction: IDBTransaction, range: IDBKeyRange): void {
  remove(transaction, 'marks', range);
  remove(transaction, 'gone', range);
}
