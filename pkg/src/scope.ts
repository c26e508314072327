// The prefixes as JavaScript users spell them. What they mean is decided in the core (src/scope.rs).

import type { Json } from './types.js';

/** The prefix of keys shared by all users of an app. */
export const APP_PREFIX = 'app:';
/** The prefix of keys shared by all sessions of a user in an app. */
export const USER_PREFIX = 'user:';
/** The prefix of keys that live for one invocation and are never stored. */
export const TEMP_PREFIX = 'temp:';

/** Whether a key lives for one invocation only. */
export function isTemp(key: string): boolean {
  return key.startsWith(TEMP_PREFIX);
}

/** The values that are stored, in a record without a prototype. */
export function withoutTemp(state: Readonly<Record<string, Json>>): Record<string, Json> {
  const stored = Object.create(null) as Record<string, Json>;
  for (const key of Object.keys(state).filter((name) => !isTemp(name))) {
    stored[key] = state[key] as Json;
  }
  return stored;
}

/** Values of one scope under their full keys, in a record without a prototype. */
export function underKeys(prefix: string, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const record = Object.create(null) as Record<string, Json>;
  for (const name of Object.keys(values)) {
    record[prefix + name] = values[name] as Json;
  }
  return record;
}

/** The scopes that are stored. */
export type StoredScope = 'app' | 'user' | 'session';

/** The scope and the name of a key that is stored. */
export function nameOf(key: string): readonly [StoredScope, string] {
  for (const [scope, prefix] of [['app', APP_PREFIX], ['user', USER_PREFIX]] as const) {
    if (key.startsWith(prefix)) {
      return [scope, key.slice(prefix.length)];
    }
  }
  return ['session', key];
}
