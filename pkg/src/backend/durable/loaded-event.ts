// An event as its store has it.

import { StatepadError } from '../../model/errors.js';
import { deepFreeze } from '../../model/json.js';
import type { SessionRecord } from '../../session/record.js';
import type { StoredEvent } from '../../store/contract.js';
import type { Event } from '../../model/types.js';

/** An event as it was stored. Throws `STORE_CORRUPT`. */
export function parseEvent(
  { key: { sessionId: id } }: Pick<SessionRecord, 'key'>,
  { rev, data }: Pick<StoredEvent, 'rev' | 'data'>,
): Event {
  try {
    return deepFreeze(JSON.parse(data) as Event);
  } catch (cause) {
    throw new StatepadError('STORE_CORRUPT', `event ${rev} of session "${id}" cannot be read`, { id, cause });
  }
}
