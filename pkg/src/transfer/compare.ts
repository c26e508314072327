// Compares a session of a service with the one in the database.

import { sameJson } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { Members } from '../jsonl/members.js';
import type { Event, EventInit, Json, Session } from '../model/types.js';
import type { Planned } from '../adk-import/session.js';

/** The first difference, in words; `undefined` when there is none. */
export type Difference = string | undefined;

/** Compares a session of a service with the planned one: every event, and its own values. */
export function differenceOf(session: Session, { events, state }: Planned): Difference {
  const actual = session.events;
  return (
    eventDifference(actual, events) ??
    (actual.length === events.length
      ? undefined
      : `it has ${actual.length} events in the service, and ${events.length} in the database`) ??
    valueDifference(ownValues(session.state), state)
  );
}

/** True when the events of a session are the first of the planned ones: the others can be appended. */
export function isBeginningOf(session: Session, { events }: Planned): boolean {
  return session.events.length < events.length && eventDifference(session.events, events) === undefined;
}

/** Compares as many events as both have. */
function eventDifference(actual: readonly Event[], events: readonly EventInit[]): Difference {
  const length = Math.min(actual.length, events.length);
  for (let index = 0; index < length; index++) {
    // Any members: unknown ones are compared, too.
    const one: Members = { ...actual[index] };
    const other: Members = { ...events[index] };
    const name = namesOf(one, other).find((member) => !sameJson(one[member], other[member]));
    if (name !== undefined) {
      return `event ${JSON.stringify(other['id'])} has another ${name} in the service`;
    }
  }
  return undefined;
}

/** Compares values under names. */
export function valueDifference(actual: Readonly<Record<string, Json>>, expected: Members): Difference {
  const name = namesOf(actual, expected).find(
    (key) => Object.hasOwn(actual, key) !== Object.hasOwn(expected, key) || !sameJson(actual[key], expected[key]),
  );
  return name === undefined ? undefined : `the key ${JSON.stringify(name)} has a different value in the service`;
}

function namesOf(one: object, other: object): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

function ownValues(state: Readonly<Record<string, Json>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => nameOf(key)[0] === 'session'));
}
