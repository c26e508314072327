// The view of sessions and changes that a principal may have: keys of scopes that it may not read are removed.

import type { Rights } from './principal.js';
import { put } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { Event, Session } from '../model/types.js';
import type { WatchedChange, WholeSessionChange } from '../model/watch.js';

/** The visible part of a session, as a plain object. */
export function seenSession(rights: Rights, session: Session): Session {
  const { id, appName, userId, state, events, lastUpdateTime, revision } = session;
  const seen = { id, appName, userId, state, events, lastUpdateTime, revision };
  return rights.readsAll
    ? seen
    : { ...seen, state: seenKeys(rights, state), events: events.map((event) => seenEvent(rights, event)) };
}

/** The visible part of a change; `undefined` for a hidden one. */
export function seenChange<Change extends WatchedChange | WholeSessionChange>(
  rights: Rights,
  change: Change,
): Change | undefined {
  switch (change.type) {
    case 'session':
      return { ...change, session: seenSession(rights, change.session) };
    case 'event':
      return rights.readsAll ? change : { ...change, event: seenEvent(rights, change.event) };
    case 'values': {
      if ('scope' in change) {
        return rights.reads(change.scope) ? change : undefined;
      }
      const { by, ...rest } = change;
      return by === undefined || rights.seesSession(by) ? change : (rest as Change);
    }
    default:
      return change;
  }
}

function seenEvent(rights: Rights, event: Event): Event {
  const { actions, customMetadata } = event;
  const stateDelta = seenKeys(rights, actions.stateDelta);
  const own = customMetadata?.statepad as Readonly<Record<string, unknown>> | undefined;
  return {
    ...event,
    actions: { ...actions, stateDelta },
    ...(own !== undefined && { customMetadata: { ...customMetadata, statepad: seenMetadata(rights, own) } }),
  };
}

/** The package's own metadata of an event lies under keys of the state, or lists them. */
function seenMetadata(rights: Rights, own: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const seen: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(own)) {
    const isRecord = typeof value === 'object' && value !== null;
    seen[name] = Array.isArray(value)
      ? value.filter((key) => typeof key !== 'string' || isSeen(rights, key))
      : isRecord
        ? seenKeys(rights, value as Readonly<Record<string, unknown>>)
        : value;
  }
  return seen;
}

function seenKeys<T>(rights: Rights, record: Readonly<Record<string, T>>): Record<string, T> {
  const seen: Record<string, T> = {};
  for (const key of Object.keys(record)) {
    if (isSeen(rights, key)) {
      put(seen, key, record[key] as T);
    }
  }
  return seen;
}

function isSeen(rights: Rights, key: string): boolean {
  return rights.reads(nameOf(key)[0]);
}
