// The view of sessions and changes that a principal may have: keys of scopes that it may not read are removed.

import type { Rights } from './principal.js';
import { put } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { Event, Session } from '../model/types.js';
import type { WatchedChange, WholeSessionChange } from '../model/watch.js';

/** The visible part of a session, as a plain object. */
export function visibleSession(rights: Rights, session: Session): Session {
  const { id, appName, userId, state, events, lastUpdateTime, revision } = session;
  const visible = { id, appName, userId, state, events, lastUpdateTime, revision };
  return rights.readsAll
    ? visible
    : { ...visible, state: visibleKeys(rights, state), events: events.map((event) => visibleEvent(rights, event)) };
}

/** The visible part of a change; `undefined` for a hidden one. */
export function visibleChange<Change extends WatchedChange | WholeSessionChange>(
  rights: Rights,
  change: Change,
): Change | undefined {
  switch (change.type) {
    case 'session':
      return { ...change, session: visibleSession(rights, change.session) };
    case 'event':
      return rights.readsAll ? change : { ...change, event: visibleEvent(rights, change.event) };
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

/** The visible part of an event. */
export function visibleEvent(rights: Rights, event: Event): Event {
  const { actions, customMetadata } = event;
  const stateDelta = visibleKeys(rights, actions.stateDelta);
  const metadata = customMetadata?.statepad as Readonly<Record<string, unknown>> | undefined;
  return {
    ...event,
    actions: { ...actions, stateDelta },
    ...(metadata !== undefined && {
      customMetadata: { ...customMetadata, statepad: visibleMetadata(rights, metadata) },
    }),
  };
}

/** The package's own metadata of an event lies under keys of the state, or lists them. */
function visibleMetadata(rights: Rights, metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const visible: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) {
    const isRecord = typeof value === 'object' && value !== null;
    visible[name] = Array.isArray(value)
      ? value.filter((key) => typeof key !== 'string' || isVisible(rights, key))
      : isRecord
        ? visibleKeys(rights, value as Readonly<Record<string, unknown>>)
        : value;
  }
  return visible;
}

function visibleKeys<T>(rights: Rights, record: Readonly<Record<string, T>>): Record<string, T> {
  const visible: Record<string, T> = {};
  for (const key of Object.keys(record)) {
    if (isVisible(rights, key)) {
      put(visible, key, record[key] as T);
    }
  }
  return visible;
}

function isVisible(rights: Rights, key: string): boolean {
  return rights.reads(nameOf(key)[0]);
}
