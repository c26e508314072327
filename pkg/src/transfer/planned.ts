// A session from elsewhere, planned for a service.

import { refuse } from './refuse.js';
import type { StoredEnd } from '../service/log-writer.js';
import { isObject } from '../model/value-types.js';
import { isTemp } from '../model/scope.js';
import { put } from '../model/json.js';
import type { EventInit, SessionKey } from '../model/types.js';

/** A parsed object. */
export type Members = Readonly<Record<string, unknown>>;

/** An app, or a user in it. */
export interface ScopeKey {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** The planned form of a session in a service. */
export interface Planned {
  readonly key: SessionKey;
  /** The time when it was created, in milliseconds since the epoch; now when it is `undefined`. */
  readonly created: number | undefined;
  /** Its end, if it had one. */
  readonly end?: StoredEnd | undefined;
  /** The values of its creation, under full keys. */
  readonly beginning: Members;
  /** The events in their stored form; a correction is the last of them. */
  readonly events: readonly EventInit[];
  /** True when an event is added at its end, which makes the state that of its origin. */
  readonly isCorrected: boolean;
  /** Its own values at the end. */
  readonly state: Members;
}

/** The event in its stored form: with all actions, and without `temp:` keys. */
export function storedForm(event: EventInit): EventInit {
  const inputActions = event.actions ?? {};
  const { stateDelta = {} } = isObject(inputActions) ? inputActions : refuse('actions must be an object');
  const delta: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(
    isObject(stateDelta) ? stateDelta : refuse('stateDelta must be an object'),
  )) {
    if (!isTemp(key)) {
      put(delta, key, value);
    }
  }
  const actions = {
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    ...inputActions,
    stateDelta: delta as Readonly<Record<string, unknown>>,
  };
  return { ...event, actions };
}
