// A change that the core has prepared, with its keys and values on this side.

import { isDeletion, scopeOfWord, type DeltaWords, type KeyedDelta } from './keys.js';
import { put } from '../model/json.js';
import { APP_PREFIX, USER_PREFIX, type StoredScope } from '../model/scope.js';
import type { ScopedDelta } from '../model/delta.js';
import type { Json } from '../model/types.js';

/** A set of stored scopes of a change. `session` includes the event. */
export interface ScopeSet {
  readonly session: boolean;
  readonly app: boolean;
  readonly user: boolean;
}

/** A change that the core has prepared: it must be applied or discarded. */
export interface PreparedChange extends DeltaWords {
  /** The core's name for it: for the engine alone. */
  readonly token: number;
  /** The stored scopes that it changes. */
  readonly scopes: ScopeSet;
  /** True when it has `temp:` keys. */
  readonly hasTemp: boolean;
  /** The values under full keys. `temp:` keys may have been removed since. */
  readonly delta: KeyedDelta['delta'];
}

/** The length of the prefix of each scope's keys. */
const PREFIX_LENGTHS = { session: 0, app: APP_PREFIX.length, user: USER_PREFIX.length } as const;

/** The delta of a change, split by scope, under names; the values are shared. */
export function scopedDelta({ keys, words, delta }: PreparedChange): ScopedDelta {
  const byScope: Partial<Record<StoredScope, { set: Record<string, Json>; unset: string[] }>> = {};
  for (let index = 0; index < keys.length; index++) {
    const word = words[index] as number;
    const scope = scopeOfWord(word);
    if (scope !== 'temp') {
      const key = keys[index] as string;
      const name = key.slice(PREFIX_LENGTHS[scope]);
      const { set, unset } = (byScope[scope] ??= { set: {}, unset: [] });
      if (isDeletion(word)) {
        unset.push(name);
      } else {
        put(set, name, delta[key] as Json);
      }
    }
  }
  return byScope;
}
