// Parts of the database's answers that reads and commits have in common.

import { StoreError } from '../../store/store-error.js';
import { fromColumn } from '../shared/column-text.js';
import { emptyValues } from '../shared/values.js';
import type { Changed, Delta, Marks, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** Names and their values as JSON, as they lie in the table. */
export type Entries = readonly (readonly [name: string, value: string])[];

/** What has happened to a scope, as `changedSince` tells it. */
export interface Told {
  readonly set: Entries;
  readonly unset: readonly string[];
}

/** Values as they are handed out. Throws `corrupt` when one is not JSON. */
export function valuesOf(rows: Entries, owner: string): Values {
  const values = emptyValues();
  for (const [name, text] of rows) {
    const key = fromColumn(name);
    try {
      values[key] = JSON.parse(text) as Json;
    } catch (cause) {
      throw new StoreError('corrupt', `the value "${key}" of ${owner} cannot be read`, { cause });
    }
  }
  return Object.freeze(values);
}

/** Marks as they are handed out; null is one that is not known. */
export function marksOf(app: string | null | undefined, user: string | null | undefined): Marks {
  return { ...(typeof app === 'string' && { app: fromColumn(app) }), ...(typeof user === 'string' && { user: fromColumn(user) }) };
}

/** What has happened to the scopes as it is handed out; `undefined` when nothing is told. */
export function changedOf(app: Told | null | undefined, user: Told | null | undefined, owner: string): Changed | undefined {
  if (!app && !user) {
    return undefined;
  }
  return { ...(app && { app: deltaOf(app, owner) }), ...(user && { user: deltaOf(user, owner) }) };
}

function deltaOf({ set, unset }: Told, owner: string): Delta {
  return {
    ...(set.length > 0 && { set: valuesOf(set, owner) }),
    ...(unset.length > 0 && { unset: unset.map(fromColumn) }),
  };
}
