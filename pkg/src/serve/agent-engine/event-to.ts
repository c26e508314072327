// An event on its way out: under the names of the API for its parts, and whole, as `rawEvent`.

import { adkMetadata, partsOf } from '../../api-event/to-parts.js';
import { membersOf, pick, present, type Members } from '../../api-event/members.js';
import { CHOICES, FURTHER_FIELDS } from './leniencies.js';
import { eventName, type EngineTarget } from './target.js';
import { messagePart } from './wire/message.js';
import { EXACT_TIME, momentOf, nanosecondsOf, timeText } from './moments.js';
import { plainOf } from './plain.js';
import { parseTime } from './wire/time.js';
import { visibleEvent } from '../../http/visible.js';
import { isObject } from '../../model/value-types.js';
import type { Event } from '../../model/types.js';
import type { Rights } from '../../http/principal.js';

/** Transcriptions, which are metadata to the API. No ADK sends them beside `rawEvent`. */
export const TRANSCRIPTIONS = ['inputTranscription', 'outputTranscription'];

/** An event in an answer, as far as the client may see it. */
export function eventAnswer(stored: Event, { name, version }: EngineTarget, rights: Rights): object {
  const { hasEmptyContent, hasAdkMetadata, hasFurtherFields } = CHOICES[version];
  const event = withoutOwn(visibleEvent(rights, stored));
  const stateDelta = membersOf(membersOf(event['actions'])['stateDelta']);
  const parts = partsOf(event, {
    id: stored.id,
    stateDelta,
    custom: hasAdkMetadata ? adkMetadata(event) : {},
  });
  const whole = {
    ...parts,
    eventMetadata: {
      ...membersOf(parts['eventMetadata']),
      ...pick(event, TRANSCRIPTIONS),
      ...(hasFurtherFields && pick(event, ['usageMetadata'])),
    },
    actions: { ...filledMembers(membersOf(parts['actions'])), ...(hasFurtherFields && furtherActions(event)) },
  };
  const { author, invocationId, content, actions, eventMetadata, ...others } = plainOf(
    messagePart('SessionEvent', whole, version, hasFurtherFields ? FURTHER_FIELDS : undefined),
  ) as Members;
  return {
    ...others,
    name: eventName(name, stored.id),
    author,
    ...present('content', content ?? (hasEmptyContent ? {} : undefined)),
    invocationId,
    actions: actions ?? {},
    timestamp: exactTimeOf(stored) ?? timeText(stored.timestamp),
    eventMetadata: eventMetadata ?? {},
    rawEvent: event,
  };
}

/** The members of actions that say anything: the API has no empty records where none were written. */
function filledMembers(actions: Members): Members {
  return Object.fromEntries(
    Object.entries(actions).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0),
  );
}

/** The time of an event in nanoseconds. */
export function timeOf(event: Event): bigint {
  const exact = exactTimeOf(event);
  return exact === undefined ? nanosecondsOf(event.timestamp) : momentOf(exact);
}

function furtherActions(event: Members): Members {
  const actions = membersOf(event['actions']);
  const confirmations = membersOf(actions['requestedToolConfirmations']);
  return {
    ...(Object.keys(confirmations).length > 0 && { requestedToolConfirmations: confirmations }),
    ...pick(actions, ['endOfAgent']),
  };
}

function exactTimeOf({ customMetadata }: Event): string | undefined {
  const exact = membersOf(customMetadata?.['statepad'])[EXACT_TIME];
  return typeof exact === 'string' && parseTime(exact) !== undefined ? exact : undefined;
}

/** An event without the time that this API keeps in its metadata. */
function withoutOwn(event: Event): Members {
  const { customMetadata, ...others } = event;
  const { statepad, ...custom } = membersOf(customMetadata);
  const { [EXACT_TIME]: exact, ...own } = membersOf(statepad);
  if (exact === undefined) {
    return { ...event };
  }
  const metadata = { ...custom, ...(Object.keys(own).length > 0 && { statepad: own }) };
  return { ...others, ...(Object.keys(metadata).length > 0 && { customMetadata: metadata }) };
}
