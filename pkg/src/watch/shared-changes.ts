// Changes of app and user values: the writes of one change, or the difference between two moments.

import { DELETED, type Deleted } from '../model/deletion.js';
import { deepFreeze, put, sameJson } from '../model/json.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import type { LogEntry } from '../store/contract.js';
import type { Json, UpdateStateTarget } from '../model/types.js';
import type { SharedChange } from '../model/watch.js';

type Values = Readonly<Record<string, Json>>;

/** The prefix of the keys that are watched. */
export function prefixOf({ userId }: UpdateStateTarget): string {
  return userId === undefined ? APP_PREFIX : USER_PREFIX;
}

/** The change of a log entry, from the position before it. */
export function entryChange(prefix: string, { pos, by, writes }: LogEntry): SharedChange {
  const delta: Record<string, Json | Deleted> = {};
  for (const { name, to } of writes) {
    put(delta, prefix + name, to === undefined ? DELETED : deepFreeze(to));
  }
  const writer = by === undefined ? {} : { by: Object.freeze({ ...by }) };
  return Object.freeze({ type: 'values', position: pos, from: pos - 1, delta: Object.freeze(delta), ...writer });
}

/** The difference between the values at two positions, under names. */
export function coalescedChange(
  prefix: string,
  from: number,
  before: Values,
  position: number,
  after: Values,
): SharedChange {
  const delta: Record<string, Json | Deleted> = {};
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) {
      put(delta, prefix + name, DELETED);
    }
  }
  for (const name of Object.keys(after)) {
    const value = after[name] as Json;
    if (!Object.hasOwn(before, name) || !sameJson(before[name], value)) {
      put(delta, prefix + name, deepFreeze(value));
    }
  }
  return Object.freeze({ type: 'values', position, from, delta: Object.freeze(delta) });
}

/** A change that reports no values: the reader has to load those of the position. */
export function reloadAt(position: number): SharedChange {
  return Object.freeze({ type: 'reload', position });
}
