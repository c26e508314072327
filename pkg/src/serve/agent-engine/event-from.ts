// An event on its way in: whole, as `rawEvent`, or by its parts.

import { eventOfParts } from '../../api-event/from-parts.js';
import { membersOf, pick, present, textOr, type Members } from '../../api-event/members.js';
import { TRANSCRIPTIONS } from './event-to.js';
import { EXACT_TIME, millisecondsOf, momentOf, nanosecondsOf } from './moments.js';
import { invalidFields } from './wire/errors.js';
import { plainOf } from './plain.js';
import { formatTime } from './wire/time.js';
import { storedDeletions } from '../../model/deletion.js';
import { sameJson } from '../../model/json.js';
import { withoutTemp } from '../../model/scope.js';
import type { EventInit, Json } from '../../model/types.js';
import type { Message } from './wire/message.js';

/** An event that a client appends. */
export interface ReceivedEvent {
  readonly event: EventInit;
  /** All keys that it writes or deletes. */
  readonly keys: readonly string[];
  /** True for a piece of a stream, which nothing keeps. */
  readonly isPartial: boolean;
}

/**
 * The event of a message. Its time is the outer one: that of `rawEvent` is in seconds from some clients, and in
 * milliseconds from others. Throws where `rawEvent` writes other state than the message: readers of the one would see
 * another event than readers of the other.
 */
export function receivedEvent(message: Message): ReceivedEvent {
  const { rawEvent, ...parts } = plainOf(message) as Members;
  const moment = momentOf(message['timestamp'] as string);
  const timestamp = millisecondsOf(moment);
  const stateDelta = deltaOf(parts['actions']);
  const whole =
    rawEvent === undefined
      ? byParts(parts, timestamp, stateDelta)
      : byRaw(rawEvent as Members, parts, timestamp, stateDelta);
  const event = withExactTime(whole, nanosecondsOf(timestamp) === moment ? undefined : formatTime(moment));
  return {
    event,
    keys: [...Object.keys(stateDelta), ...storedDeletions(event['customMetadata'])],
    isPartial: event['partial'] === true,
  };
}

function byRaw(raw: Members, parts: Members, timestamp: number, stateDelta: Members): Members {
  const rawDelta = deltaOf(raw['actions']);
  if (!sameJson(stored(rawDelta), stored(stateDelta))) {
    throw invalidFields(['event.raw_event', 'The stateDelta of rawEvent.actions must be that of actions.']);
  }
  return {
    ...raw,
    author: textOr(raw['author'], parts['author'] as string),
    invocationId: textOr(raw['invocationId'], parts['invocationId'] as string),
    timestamp,
    actions: { ...membersOf(raw['actions']), stateDelta: rawDelta },
  };
}

function byParts(parts: Members, timestamp: number, stateDelta: Members): Members {
  const metadata = membersOf(parts['eventMetadata']);
  return {
    ...eventOfParts(parts, { id: '', timestamp, stateDelta }),
    ...pick(metadata, [...TRANSCRIPTIONS, 'usageMetadata']),
  };
}

function deltaOf(actions: unknown): Members {
  return membersOf(membersOf(actions)['stateDelta']);
}

function stored(delta: Members): Members {
  return withoutTemp(delta as Readonly<Record<string, Json>>);
}

/** Keeps a time that milliseconds cannot hold, in the place of any that the client has put there. */
function withExactTime(event: Members, time: string | undefined): Members {
  const { statepad, ...custom } = membersOf(event['customMetadata']);
  const { [EXACT_TIME]: given, ...own } = membersOf(statepad);
  if (time === undefined && given === undefined) {
    return event;
  }
  return { ...event, customMetadata: { ...custom, statepad: { ...own, ...present(EXACT_TIME, time) } } };
}
