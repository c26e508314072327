// What a store has of an event, and the delta of one name.

import type { Delta, StoredEvent, Values } from '../../store/contract.js';

/** The event that {@link begin} has made. It is not what {@link append} would have made under the same id. */
export function beginningOf(id = 'c'): StoredEvent {
  return { rev: 0, data: JSON.stringify({ created: id }) };
}

/** The text of an event that {@link append} has made: of one that every ADK can read. */
export function dataOf(id: string): string {
  return JSON.stringify({ id, invocationId: 'i', author: 'user' });
}

/** The events that {@link append} has made, from the first revision. */
export function eventsOf(...ids: readonly string[]): StoredEvent[] {
  return ids.map((id, index) => ({ rev: index + 1, data: dataOf(id) }));
}

/** Sets a name. */
export function set(name: string, value: Values[string]): Delta {
  return { set: { [name]: value } };
}
