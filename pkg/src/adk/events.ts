// Conversion of events between ADK's types and the package's.

import type { Event } from '@google/adk';
import type { Event as Stored, EventInit } from '../model/types.js';

/**
 * An event as an entry of the list. One with thoughts has a delta of its own: the compactor that prunes them makes a
 * copy that shares it, and an agent with an output key writes into that copy.
 */
export function listed(event: Stored): Event {
  const { content, actions } = event;
  const isLoose = content?.parts?.some(({ thought }) => thought) ?? false;
  return fromStored(isLoose ? { ...event, actions: { ...actions, stateDelta: { ...actions.stateDelta } } } : event);
}

/** ADK's types for the same JSON: theirs are mutable. */
export function fromStored(event: Stored): Event {
  return event as unknown as Event;
}

export function toInit(event: Event): EventInit {
  return event;
}

/** The delta of an event, which may be missing in one from another program. */
export function deltaOf(event: Event): Readonly<Record<string, unknown>> {
  const delta = (event as { actions?: { stateDelta?: unknown } | null }).actions?.stateDelta;
  return typeof delta === 'object' && delta !== null ? (delta as Record<string, unknown>) : {};
}

/** A copy that can be changed without the caller's event. */
export function copyOf(event: Event): Event {
  return { ...event, actions: { ...event.actions } };
}

/** An event without some keys of its delta. */
export function without(event: Event, keys: readonly string[]): Event {
  if (keys.length === 0) {
    return event;
  }
  const copy = copyOf(event);
  copy.actions.stateDelta = Object.fromEntries(Object.entries(deltaOf(event)).filter(([key]) => !keys.includes(key)));
  return copy;
}
