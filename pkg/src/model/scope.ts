// The prefixes as JavaScript users spell them. Their meaning is defined in the core (src/scope.rs).

import { put } from './json.js';
import type { Json } from './types.js';

/** The prefix of keys shared by all users of an app. */
export const APP_PREFIX = 'app:';
/** The prefix of keys shared by all sessions of a user in an app. */
export const USER_PREFIX = 'user:';
/** The prefix of keys that live for one invocation and are never stored. */
export const TEMP_PREFIX = 'temp:';

/** True when a key lives for one invocation only. */
export function isTemp(key: string): boolean {
  return key.startsWith(TEMP_PREFIX);
}

/**
 * Values in one record, as users hold it: an ordinary object, where even `__proto__` is an own member. Of equal keys
 * the last one counts. (A loop: `Object.assign` takes thirty times as long for 10,000 keys.)
 */
export function mergeRecords(records: Iterable<Readonly<Record<string, Json>>>): Record<string, Json> {
  const merged: Record<string, Json> = {};
  for (const part of records) {
    for (const key of Object.keys(part)) {
      put(merged, key, part[key] as Json);
    }
  }
  return merged;
}

/** The values without `temp:` keys, which are not stored. */
export function withoutTemp(state: Readonly<Record<string, Json>>): Record<string, Json> {
  const stored: Record<string, Json> = {};
  for (const key of Object.keys(state)) {
    if (!isTemp(key)) {
      put(stored, key, state[key] as Json);
    }
  }
  return stored;
}

/** The full key of a name. */
export function fullKey(scope: StoredScope, name: string): string {
  return (scope === 'app' ? APP_PREFIX : scope === 'user' ? USER_PREFIX : '') + name;
}

/** Values of one scope under their full keys. */
export function underKeys(prefix: string, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const record: Record<string, Json> = {};
  for (const name of Object.keys(values)) {
    put(record, prefix + name, values[name] as Json);
  }
  return record;
}

/** A scope that sessions share. */
export type SharedScope = 'app' | 'user';
/** A scope that is stored. */
export type StoredScope = 'app' | 'user' | 'session';

/** The scopes that sessions share. */
export const SHARED_SCOPES = ['app', 'user'] as const satisfies readonly SharedScope[];
/** The scopes that are stored, in the order in which a change is looked at, resolved and written. */
export const STORED_SCOPES = [...SHARED_SCOPES, 'session'] as const satisfies readonly StoredScope[];

/** The scope and the name of a stored key. */
export function nameOf(key: string): readonly [StoredScope, string] {
  for (const [scope, prefix] of [
    ['app', APP_PREFIX],
    ['user', USER_PREFIX],
  ] as const) {
    if (key.startsWith(prefix)) {
      return [scope, key.slice(prefix.length)];
    }
  }
  return ['session', key];
}
