// An event as its store has it.

import { StatepadError } from './errors.js';
import { deepFreeze } from './freeze.js';
import type { SessionRecord } from './handle.js';
import type { StoredEvent } from './store.js';
import type { Event } from './types.js';

/** An event as it was stored. Throws `STORE_CORRUPT`. */
export function parseEvent({ key: { sessionId: id } }: Pick<SessionRecord, 'key'>, { rev, data }: Pick<StoredEvent, 'rev' | 'data'>): Event {
  try {
    return deepFreeze(JSON.parse(data) as Event);
  } catch (cause) {
    throw new StatepadError('STORE_CORRUPT', `event ${rev} of session "${id}" cannot be read`, { id, cause });
  }
}
