// The session scope of a state, and of the writes of an event.

import { isList, isObject } from '../model/value-types.js';
import { put } from '../model/json.js';
import { nameOf } from '../model/scope.js';

/** True for a key without prefix. */
export function isSessionKey(key: string): boolean {
  return nameOf(key)[0] === 'session';
}

/** The values of the session scope. */
export function sessionValues<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  const own: Record<string, T> = {};
  for (const key of Object.keys(values)) {
    if (isSessionKey(key)) {
      put(own as Record<string, never>, key, values[key] as never);
    }
  }
  return own;
}

/** The metadata of an event reduced to the session scope: entries of other keys are removed. */
export function sessionMetadata(metadata: Readonly<Record<string, unknown>> | undefined): typeof metadata {
  const statepad = metadata?.['statepad'];
  if (!isObject(statepad)) {
    return metadata;
  }
  const { deleted, operators, ...rest } = statepad as { deleted?: unknown; operators?: unknown };
  return {
    ...metadata,
    statepad: {
      ...rest,
      ...(isList(deleted) && { deleted: deleted.filter((key) => typeof key === 'string' && isSessionKey(key)) }),
      ...(isObject(operators) && { operators: sessionValues(operators as Record<string, unknown>) }),
    },
  };
}

/** The metadata of an event without that of its delta. */
export function withoutWrites(metadata: Readonly<Record<string, unknown>> | undefined): typeof metadata {
  const statepad = metadata?.['statepad'];
  if (!isObject(statepad)) {
    return metadata;
  }
  const rest: Record<string, unknown> = { ...statepad };
  delete rest['deleted'];
  delete rest['operators'];
  return { ...metadata, statepad: rest };
}
