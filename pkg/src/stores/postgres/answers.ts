// Parts of the database's answers that reads and commits have in common.

import { fromColumn } from '../shared/column-text.js';
import { parseValue, valuesOf } from '../shared/values.js';
import type { Delta, Values } from '../../store/contract.js';

/** Names and their values as JSON, as they lie in the table. */
export type Entries = readonly (readonly [name: string, value: string])[];

/** The changes of a scope, as `changedFunction` reports them. */
export interface ReportedChanges {
  readonly set: Entries;
  readonly unset: readonly string[];
}

/** Values as they are handed out. Throws `corrupt` when one is not JSON. `whose` is a title, for messages. */
export function valuesIn(rows: Entries, whose: string): Values {
  const entries = rows.map(([column, text]) => {
    const name = fromColumn(column);
    return [name, parseValue(name, text, whose)] as const;
  });
  return Object.freeze(valuesOf(entries));
}

/** A text, or `undefined` where there is none. */
export function textIn(column: string | null | undefined): string | undefined {
  return typeof column === 'string' ? fromColumn(column) : undefined;
}

/** The changes of a scope as they are handed out; `undefined` when none are reported. */
export function deltaOf(changes: ReportedChanges | null | undefined, whose: string): Delta | undefined {
  return changes
    ? {
        ...(changes.set.length > 0 && { set: valuesIn(changes.set, whose) }),
        ...(changes.unset.length > 0 && { unset: changes.unset.map(fromColumn) }),
      }
    : undefined;
}
