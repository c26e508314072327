// Events on their way from ADK's types to ours and back.

import type { Event } from '@google/adk';
import type { Event as Stored, EventInit } from '../model/types.js';

/**
 * An event as it stands in the list. One with thoughts has a delta of its own: the compactor that prunes them makes a
 * copy that shares it, and an agent with an output key writes into that copy.
 */
export function listed(event: Stored): Event {
  const { content, actions } = event;
  const isLoose = content?.parts?.some(({ thought }) => thought) ?? false;
  return fromStored(isLoose ? { ...event, actions: { ...actions, stateDelta: { ...actions.stateDelta } } } : event);
}

/** ADK's types for the same JSON: theirs may be written to. */
export function fromStored(event: Stored): Event {
  return event as unknown as Event;
}

export function toInit(event: Event): EventInit {
  return event;
}

/** An event that was read from elsewhere may lack what ADK's types promise. */
export function deltaOf(event: Event): Readonly<Record<string, unknown>> {
  const delta = (event as { actions?: { stateDelta?: unknown } | null }).actions?.stateDelta;
  return typeof delta === 'object' && delta !== null ? (delta as Record<string, unknown>) : {};
}

/** What may be changed without the caller's event changing. */
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
