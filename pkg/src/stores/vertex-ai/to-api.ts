// An event on its way to the API: under the names that the API has for its parts, and whole, as `rawEvent`.
//
// The whole event is what statepad and both ADKs read; the other fields are for those who know no `rawEvent`.

import { isObject } from '../../model/value-types.js';
import { StoreError } from '../../store/store-error.js';
import { membersOf, type Members } from '../../api-event/members.js';
import { adkMetadata, partsOf } from '../../api-event/to-parts.js';
import { checkNumbers, checkStruct } from './structs.js';
import { toRfc3339 } from './times.js';
import type { Change } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/**
 * The metadata for the id of an event that does not say it itself, or lacks what an event of ADK has: nothing is
 * filled in then when it is read.
 */
export const ID_METADATA = 'statepad:id';

/** Members that every event of statepad and of adk-js has. */
const RECORDS = ['stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'];

/** An append as the API takes it. Throws `rejected`. */
export function toApiEvent({ event, time }: Change, stateDelta: Readonly<Record<string, Json>>): object {
  const raw = parsed(event?.data ?? '');
  checkStruct(raw, 'the event');
  checkParts(membersOf(raw['content'])['parts']);
  const id = event?.id ?? '';
  const custom = { ...adkMetadata(raw), ...(!isWhole(raw, id) && { [ID_METADATA]: id }) };
  return { ...partsOf(raw, { id, stateDelta, custom }), timestamp: toRfc3339(time), rawEvent: raw };
}

/** True when an event says all that ADK's events say. */
function isWhole(raw: Members, id: string): boolean {
  const actions = membersOf(raw['actions']);
  return raw['id'] === id && typeof raw['timestamp'] === 'number' && RECORDS.every((name) => isObject(actions[name]));
}

/** Throws `rejected` for members of content that the API has no name for, and ADK drops. */
function checkParts(parts: unknown): void {
  (Array.isArray(parts) ? (parts as unknown[]) : []).forEach((part, index) => {
    if (membersOf(part)['partMetadata'] !== undefined) {
      const what = `content.parts[${index}].partMetadata`;
      throw new StoreError('rejected', `${what} cannot be stored: the API has no such field. Omit it`);
    }
  });
}

function parsed(data: string): Members {
  let raw: unknown;
  try {
    raw = JSON.parse(data);
  } catch (cause) {
    throw new StoreError('rejected', 'an event must be JSON: the API keeps no other text', { cause });
  }
  if (!isObject(raw)) {
    throw new StoreError('rejected', 'an event must be an object of JSON: the API keeps nothing else');
  }
  checkNumbers(data, 'the event');
  return raw as Members;
}
