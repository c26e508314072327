// What belongs to a session alone, of what it shows and of what its events write.

import { isList, isObject } from '../model/kinds.js';
import { put } from '../model/json.js';
import { nameOf } from '../model/scope.js';

/** Whether a key is the session's own: it has no prefix. */
export function isSessionKey(key: string): boolean {
  return nameOf(key)[0] === 'session';
}

/** Those values that are the session's own. */
export function sessionValues<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  const own: Record<string, T> = {};
  for (const key of Object.keys(values)) {
    if (isSessionKey(key)) {
      put(own as Record<string, never>, key, values[key] as never);
    }
  }
  return own;
}

/** The metadata of an event that only writes the session's own keys: of what it says of other keys nothing is left. */
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
