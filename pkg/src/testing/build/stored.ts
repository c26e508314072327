// Stored events, and the delta of one name.

import type { StoredScope } from '../../model/scope.js';
import type { Delta, StoredEvent, Values } from '../../store/contract.js';

/** The event of {@link begin}. It differs from the one that {@link append} makes under the same id. */
export function beginningOf(id = 'c'): StoredEvent {
  return { rev: 0, data: JSON.stringify({ created: id }) };
}

/** The text of an event of {@link append}, which every ADK can read. */
export function dataOf(id: string): string {
  return JSON.stringify({ id, invocationId: 'i', author: 'user' });
}

/** The events of {@link append}, from the first revision. */
export function eventsOf(...ids: readonly string[]): StoredEvent[] {
  return ids.map((id, index) => ({ rev: index + 1, data: dataOf(id) }));
}

/** Sets a name. */
export function set(name: string, value: Values[string]): Delta {
  return { set: { [name]: value } };
}

/** The same in the app, the user and the session. */
export function inAll<Item>(item: Item): Record<StoredScope, Item> {
  return { app: item, user: item, session: item };
}
