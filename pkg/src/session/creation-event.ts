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
}

/** The creation event of an initial state; where that is stored unchanged, the two share the object. */
export function creationEvent(timestamp: number, { delta, deleted }: AdmittedDelta): CreationEvent {
  if (deleted.length === 0 && !Object.keys(delta).some(isTemp)) {
    return { timestamp, state: delta };
  }
  const state = withoutTemp(delta);
  deleted.forEach((key) => delete state[key]);
  return { timestamp, state };
}

/** The creation as it was stored, or `'unknown'` where none can be read: it is then inferred from the values. */
export function parseCreation(stored: StoredEvent | undefined): CreationEvent | 'unknown' {
  try {
    const { timestamp, state } = JSON.parse(stored?.rev === 0 ? stored.data : '{}') as Partial<CreationEvent>;
    const isRecord = typeof state === 'object' && (state as object | null) !== null && !Array.isArray(state);
    return typeof timestamp === 'number' && isRecord ? deepFreeze({ timestamp, state }) : 'unknown';
  } catch {
    return 'unknown';
  }
}
