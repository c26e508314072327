// Parses events of a store.

import { underFullKeys } from '../commit/operators.js';
import { eventWith } from '../../../input/event-draft.js';
import { StatepadError } from '../../../model/errors.js';
import { deepFreeze } from '../../../model/json.js';
import { bigintOf, lostNumber, lostTitle, parseWith } from '../../../model/json-numbers.js';
import type { SessionRecord } from '../../../session/record.js';
import type { StoredEvent } from '../../../store/contract.js';
import type { Event } from '../../../model/types.js';

/**
 * The event as it was stored, with the results of its operators in its delta. Throws `STORE_CORRUPT`, also for a
 * number that JavaScript cannot represent.
 */
export function parseEvent(
  { key: { sessionId: id } }: Pick<SessionRecord, 'key'>,
  { rev, data, results, integers }: Pick<StoredEvent, 'rev' | 'data' | 'results' | 'integers'>,
): Event {
  const what = `event ${rev} of session "${id}"`;
  const number = lostNumber(data);
  if (number !== undefined && (integers !== 'bigint' || bigintOf(number.token) === undefined)) {
    throw new StatepadError('STORE_CORRUPT', `${what} has ${lostTitle(number)}`, { id });
  }
  try {
    const event = deepFreeze((number === undefined ? JSON.parse(data) : parseWith(data, integerOf)) as Event);
    return results === undefined ? event : eventWith(event, underFullKeys(results));
  } catch (cause) {
    throw new StatepadError('STORE_CORRUPT', `${what} cannot be read`, { id, cause });
  }
}

function integerOf(token: string): bigint {
  const integer = bigintOf(token);
  if (integer === undefined) {
    throw new RangeError(`it has ${lostTitle({ token, path: [] })}`);
  }
  return integer;
}
