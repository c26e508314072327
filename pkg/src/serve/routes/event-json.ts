// Events in JSON. Deletions and operators are as in stored events: named in the metadata, and `null` in the delta.

import { invalid } from '../../checks/arguments.js';
import { storedDeletions } from '../../model/deletion.js';
import { put } from '../../model/json.js';
import { isTemp } from '../../model/scope.js';
import { isPlain } from '../../model/value-types.js';
import { operatorWrite, type MarkedDelta } from './delta.js';
import type { EventInit } from '../../model/types.js';

/** An event to append. */
export interface ReadEvent {
  readonly event: EventInit;
  /** Its writes, and all other keys that it names: for the check of rights. */
  readonly writes: MarkedDelta;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * An event for admission, without `temp:` keys. A key of `customMetadata.statepad.operators` is resolved at commit;
 * but where the delta has a value for it, the event is a copy of a stored one, and has its result. Throws
 * `INVALID_ARGUMENT`, `VALUE_NOT_JSON`.
 */
export function readEvent(json: Members): ReadEvent {
  const actions = (json['actions'] ?? {}) as Members;
  const metadata = json['customMetadata'];
  const { statepad } = (isPlain(metadata) ? metadata : {}) as { readonly statepad?: unknown };
  const own = isPlain(statepad) ? statepad : {};
  const deleted = storedDeletions(metadata).filter((key) => !isTemp(key));
  const operators = storedOperators(own);

  const delta = withoutTemp((actions['stateDelta'] ?? {}) as Members);
  const resolved: Record<string, unknown> = {};
  for (const key of Object.keys(operators)) {
    if (Object.hasOwn(delta, key) && delta[key] !== null) {
      put(resolved, key, operators[key]);
    } else {
      put(delta, key, operatorWrite(operators[key], `customMetadata.statepad.operators[${JSON.stringify(key)}]`));
    }
  }
  const others = without(own, (name) => name === 'deleted' || name === 'operators');
  const kept = {
    ...others,
    ...(deleted.length > 0 && { deleted }),
    ...(Object.keys(resolved).length > 0 && { operators: resolved }),
  };
  const event = {
    ...json,
    ...(json['actions'] !== undefined && { actions: { ...actions, stateDelta: delta } }),
    ...(json['actions'] === undefined && Object.keys(delta).length > 0 && { actions: { stateDelta: delta } }),
    ...(isPlain(statepad) && { customMetadata: { ...(metadata as Members), statepad: kept } }),
  };
  return { event, writes: named(delta, [...deleted, ...Object.keys(resolved)]) };
}

function storedOperators({ operators = {} }: { readonly operators?: unknown }): Members {
  return isPlain(operators)
    ? withoutTemp(operators)
    : invalid('customMetadata.statepad.operators', 'must be an object of operators under their keys');
}

/** A copy without `temp:` keys. */
function withoutTemp(record: Members): Record<string, unknown> {
  return without(record, isTemp);
}

function without(record: Members, isLeftOut: (name: string) => boolean): Record<string, unknown> {
  const copied: Record<string, unknown> = {};
  for (const name of Object.keys(record)) {
    if (!isLeftOut(name)) {
      put(copied, name, record[name]);
    }
  }
  return copied;
}

/** A delta with further keys that an event names. */
function named(delta: MarkedDelta, keys: readonly string[]): MarkedDelta {
  const all = withoutTemp(delta);
  for (const key of keys) {
    if (!Object.hasOwn(all, key)) {
      put(all, key, null);
    }
  }
  return all;
}
