// An event as its store has it.

import { underFullKeys } from './operators.js';
import { eventWith } from '../../input/event-draft.js';
import { StatepadError } from '../../model/errors.js';
import { deepFreeze } from '../../model/json.js';
import type { SessionRecord } from '../../session/record.js';
import type { StoredEvent } from '../../store/contract.js';
import type { Event } from '../../model/types.js';

/** An event as it was stored, with what its operators came to in its delta. Throws `STORE_CORRUPT`. */
export function parseEvent(
  { key: { sessionId: id } }: Pick<SessionRecord, 'key'>,
  { rev, data, results }: Pick<StoredEvent, 'rev' | 'data' | 'results'>,
): Event {
  try {
    const event = deepFreeze(JSON.parse(data) as Event);
    return results === undefined ? event : eventWith(event, underFullKeys(results));
  } catch (cause) {
    throw new StatepadError('STORE_CORRUPT', `event ${rev} of session "${id}" cannot be read`, { id, cause });
  }
}
