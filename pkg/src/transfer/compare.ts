// Compares a session of a service with the one that was planned.

import { sameJson } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { Event, EventInit, Session } from '../model/types.js';
import type { Members, Planned } from './planned.js';

/** The first difference, in words; `undefined` when there is none. */
export type Difference = string | undefined;

/** Compares a session of a service with the planned one, which `origin` has: every event, and its own values. */
export function differenceOf(session: Session, { events, state }: Planned, origin: string): Difference {
  const actual = session.events;
  return (
    eventDifference(actual, events) ??
    (actual.length === events.length
      ? undefined
      : `it has ${actual.length} events in the service, and ${events.length} in ${origin}`) ??
    valueDifference(ownValues(session.state), state)
  );
}

/**
 * True when a session is an earlier moment of the planned one: its events are the first of those, and its own keys
 * that the others do not write have their values. The others can be appended.
 */
export function isBeginningOf(session: Session, { events, state }: Planned): boolean {
  const missing = events.slice(session.events.length);
  if (missing.length === 0 || eventDifference(session.events, events) !== undefined) {
    return false;
  }
  const later = new Set(missing.flatMap(({ actions }) => Object.keys(actions?.stateDelta ?? {})));
  const settled = (values: Members): Members =>
    Object.fromEntries(Object.entries(values).filter(([key]) => !later.has(key)));
  return valueDifference(settled(ownValues(session.state)), settled(state)) === undefined;
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
export function valueDifference(actual: Members, expected: Members): Difference {
  const name = namesOf(actual, expected).find(
    (key) => Object.hasOwn(actual, key) !== Object.hasOwn(expected, key) || !sameJson(actual[key], expected[key]),
  );
  return name === undefined ? undefined : `the key ${JSON.stringify(name)} has a different value in the service`;
}

function namesOf(one: object, other: object): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

function ownValues(state: Members): Members {
  return Object.fromEntries(Object.entries(state).filter(([key]) => nameOf(key)[0] === 'session'));
}
