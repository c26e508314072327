// The creation of a session, which its store keeps as the event of revision 0, so that its history is complete.

import { deepFreeze } from '../model/json.js';
import { isTemp, withoutTemp } from '../model/scope.js';
import type { AdmittedDelta } from '../input/admit.js';
import type { StoredEvent } from '../store/contract.js';
import type { Json } from '../model/types.js';

/** The event of revision 0. */
export interface CreationEvent {
  /** In milliseconds since the epoch. */
  readonly timestamp: number;
  /** The initial state under full keys, without `temp:` keys. */
  readonly state: Readonly<Record<string, Json>>;
  /** The time from a write to the end of the session, in milliseconds, where writes move that. */
  readonly ttl?: number;
}

/** The creation event of an initial state; where that is stored unchanged, the two share the object. */
export function creationEvent(
  timestamp: number,
  { delta, deleted }: AdmittedDelta,
  ttl: number | undefined,
): CreationEvent {
  if (deleted.length === 0 && !Object.keys(delta).some(isTemp)) {
    return withTtl({ timestamp, state: delta }, ttl);
  }
  const state = withoutTemp(delta);
  deleted.forEach((key) => delete state[key]);
  return withTtl({ timestamp, state }, ttl);
}

function withTtl(creation: CreationEvent, ttl: unknown): CreationEvent {
  return typeof ttl === 'number' ? { ...creation, ttl } : creation;
}

/** The creation as it was stored, or `'unknown'` where none can be read: it is then inferred from the values. */
export function parseCreation(stored: StoredEvent | undefined): CreationEvent | 'unknown' {
  try {
    const { timestamp, state, ttl } = JSON.parse(stored?.rev === 0 ? stored.data : '{}') as Partial<CreationEvent>;
    const isRecord = typeof state === 'object' && (state as object | null) !== null && !Array.isArray(state);
    return typeof timestamp === 'number' && isRecord ? deepFreeze(withTtl({ timestamp, state }, ttl)) : 'unknown';
  } catch {
    return 'unknown';
  }
}
