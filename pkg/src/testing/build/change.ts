// Changes for a store, with their events.

import { APP, HOME, KEY, TIME } from './keys.js';
import type { Change } from '../../store/contract.js';
import { beginningOf, dataOf } from './stored.js';

/** The members of a change that have defaults. */
type More = Partial<Omit<Change, 'id' | 'kind' | 'delta'>>;

/** Creates the usual session. */
export function create(id = 'c', delta: Change['delta'] = {}, more: More = {}): Change {
  return { id, kind: 'create', key: KEY, time: TIME, delta, ...more };
}

/** Creates the usual session, with an event for its first values. */
export function begin(id = 'c', delta: Change['delta'] = {}, more: More = {}): Change {
  const time = more.time ?? TIME;
  return create(id, delta, { event: { id, time, data: beginningOf(id).data }, ...more });
}

/** Appends to the usual session. */
export function append(id: string, delta: Change['delta'] = {}, more: More = {}): Change {
  const time = more.time ?? TIME;
  return { id, kind: 'append', key: KEY, time, event: { id, time, data: dataOf(id) }, delta, ...more };
}

/** Updates the app alone. */
export function appUpdate(id: string, delta: Change['delta'], more: More = {}): Change {
  return update(id, delta, { key: { appName: APP }, ...more });
}

/** Updates the usual user and the app. */
export function update(id: string, delta: Change['delta'], more: More = {}): Change {
  return { id, kind: 'update', key: HOME, time: TIME, delta, ...more };
}

/** A delta for each scope: a refused change must leave nothing of it. */
export const EVERYTHING: Change['delta'] = {
  app: { set: { new: 1 }, unset: ['a'] },
  user: { set: { new: 1 }, unset: ['u'] },
  session: { set: { new: 1 }, unset: ['s'] },
};
