// The view of sessions and changes that a principal may have: keys of scopes that it may not read are removed.

import type { Rights } from './principal.js';
import { put } from '../model/json.js';
import { changeJson } from '../model/json-numbers.js';
import { nameOf } from '../model/scope.js';
import { isList, isPlain } from '../model/value-types.js';
import type { Event, Session } from '../model/types.js';
import type { WatchedChange, WholeSessionChange } from '../model/watch.js';

/** The visible part of a session, as a plain object. */
export function visibleSession(rights: Rights, session: Session): Session {
  const { id, appName, userId, state, events, lastUpdateTime, revision, expireTime } = session;
  const visible = {
    ...{ id, appName, userId, state, events, lastUpdateTime, revision },
    ...(expireTime !== undefined && { expireTime }),
  };
  return rights.seesAll
    ? visible
    : { ...visible, state: visibleState(rights, state), events: events.map((event) => visibleEvent(rights, event)) };
}

/** The values that a principal may read. */
export function visibleState<T>(rights: Rights, state: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return rights.readsAll ? state : visibleKeys(rights, state);
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
      return { ...change, event: visibleEvent(rights, change.event) };
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

/** The visible part of an event. Other programs may have stored one without actions. */
export function visibleEvent(rights: Rights, event: Event): Event {
  if (rights.seesAll) {
    return event;
  }
  const { actions, customMetadata } = event as Partial<Event>;
  const { statepad } = customMetadata ?? {};
  return {
    ...event,
    ...(isPlain(actions?.stateDelta) && {
      actions: { ...actions, stateDelta: visibleKeys(rights, actions.stateDelta) },
    }),
    ...(isPlain(statepad) && { customMetadata: { ...customMetadata, statepad: visibleMetadata(rights, statepad) } }),
    ...visibleCopies(rights, event),
  };
}

/** The member in which adk-rust keeps an event once more, as a text, in the spelling of its own. */
const RUST = '_adkRust';

/** The visible part of the copies that an event has of itself; a copy that cannot be read is left out. */
function visibleCopies(rights: Rights, event: Event): Readonly<Record<string, unknown>> {
  const envelope = (event as unknown as Readonly<Record<string, unknown>>)[RUST];
  if (!isPlain(envelope) || typeof envelope['adkEvent'] !== 'string') {
    return envelope === undefined ? {} : { [RUST]: undefined };
  }
  try {
    const adkEvent = changeJson(envelope['adkEvent'], (copy) => visibleCopy(rights, copy));
    return { [RUST]: { ...envelope, adkEvent } };
  } catch {
    return { [RUST]: undefined };
  }
}

function visibleCopy(rights: Rights, copy: unknown): unknown {
  const { actions } = copy as { readonly actions?: unknown };
  if (!isPlain(actions) || !isPlain(actions['state_delta'])) {
    return copy;
  }
  return { ...(copy as object), actions: { ...actions, state_delta: visibleKeys(rights, actions['state_delta']) } };
}

/** The package's own metadata of an event lies under keys of the state, or lists them. */
function visibleMetadata(rights: Rights, metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const visible: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (!isHidden(rights, name, value)) {
      put(visible, name, isList(value) ? value.filter((key) => isVisible(rights, key)) : visibleMember(rights, value));
    }
  }
  return visible;
}

/** A digest of the request tells of values that it has; the source of a fork is another session. */
function isHidden(rights: Rights, name: string, value: unknown): boolean {
  const { sessionId } = (name === 'forkedFrom' && isPlain(value) ? value : {}) as { readonly sessionId?: unknown };
  return (
    (name === 'request' && !rights.readsAll) || (typeof sessionId === 'string' && !rights.hasSessionId(sessionId))
  );
}

function visibleMember(rights: Rights, value: unknown): unknown {
  return isPlain(value) ? visibleKeys(rights, value) : value;
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

function isVisible(rights: Rights, key: unknown): boolean {
  return typeof key !== 'string' || rights.reads(nameOf(key)[0]);
}
