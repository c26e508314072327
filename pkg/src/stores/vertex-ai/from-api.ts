// An event as the API has it, made the event that it was: by `rawEvent`, where that was written, or by its parts.

import { emptyActions, eventOfParts } from '../../api-event/from-parts.js';
import { membersOf, type Members } from '../../api-event/members.js';
import { lastPart } from './names.js';
import { shownDelta, type ApiState } from './state.js';
import { fromRfc3339 } from './times.js';
import { ID_METADATA } from './to-api.js';
import type { ApiEvent } from './api.js';

/** An event that was read. */
export interface ReadEvent {
  readonly id: string;
  /** The time that it is stored under, by which events are ordered. */
  readonly at: number;
  /** Its own time. */
  readonly time: number;
  /** The event as JSON text. */
  readonly data: string;
}

/** Reads an event. */
export function fromApiEvent(event: ApiEvent): ReadEvent {
  const at = fromRfc3339(event.timestamp);
  const custom = membersOf(event.eventMetadata?.['customMetadata']);
  const named = custom[ID_METADATA];
  const { rawEvent } = event;
  if (rawEvent !== undefined && typeof named === 'string') {
    return { id: named, at, time: timeIn(rawEvent, at), data: JSON.stringify(rawEvent) };
  }
  const whole = rawEvent === undefined ? byParts(event, at) : byRaw(event, rawEvent, at);
  return { id: whole['id'] as string, at, time: whole['timestamp'] as number, data: JSON.stringify(whole) };
}

/** The members that both ADKs read first. The author and the invocation of an event that names none stay its own. */
function byRaw(event: ApiEvent, raw: Members, at: number): Members {
  const id = raw['id'];
  const actions = membersOf(raw['actions']);
  return {
    ...raw,
    id: typeof id === 'string' && id !== '' ? id : lastPart(event.name),
    invocationId: raw['invocationId'] ?? event.invocationId ?? '',
    timestamp: timeIn(raw, at),
    actions: { ...emptyActions(), ...actions, stateDelta: shownDelta(membersOf(actions['stateDelta']) as ApiState) },
  };
}

/**
 * An event's own time. The time it is stored under can be later by less than a millisecond, see `timeBehind`; any
 * other time is not in milliseconds, as that of adk-python, or was written by a clock of its own.
 */
function timeIn(raw: Members, at: number): number {
  const own = raw['timestamp'];
  return typeof own === 'number' && Math.abs(at - own) < 1 ? own : at;
}

/** An event of one who writes no `rawEvent`. */
function byParts(event: ApiEvent, at: number): Members {
  const stateDelta = shownDelta(membersOf(event.actions?.['stateDelta']) as ApiState);
  return eventOfParts({ ...event }, { id: lastPart(event.name), timestamp: at, stateDelta });
}
