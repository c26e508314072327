// The operators of a change over a store: the store resolves them itself, or they are resolved here, under a guard for
// the values that they read.

import { StatepadError } from '../../../model/errors.js';
import { deepFreeze, put } from '../../../model/json.js';
import { operatorName, type Operator } from '../../../model/operators.js';
import { misfit, resultsOf } from '../../../model/operator-results.js';
import {
  APP_PREFIX,
  USER_PREFIX,
  fullKey,
  mergeRecords,
  nameOf,
  underKeys,
  STORED_SCOPES,
  type StoredScope,
} from '../../../model/scope.js';
import { scopedDelta, type PreparedChange } from '../../../engine/sessions.js';
import type { ServiceLimits } from './limits.js';
import type { KeyedOperators } from '../../../model/operator-write.js';
import type { StoreError } from '../../../store/store-error.js';
import type {
  Change,
  Committed,
  Delta,
  Guard,
  ScopedOperators,
  ScopedValues,
  SessionStore,
} from '../../../store/contract.js';
import type { Json } from '../../../model/types.js';

/** The results of operators that are resolved here, and a guard for the values that they rest on. */
export interface Resolution {
  /** Under full keys. */
  readonly results: Readonly<Record<string, Json>>;
  readonly keys: NonNullable<Guard['keys']>;
}

/**
 * True when a store resolves these operators in its atomic step. Throws `INVALID_ARGUMENT` when they cannot be
 * resolved here either, because the store compares nothing, or keeps no operators.
 */
export function storeResolves(
  { resolves = [], guards, lacks = [] }: SessionStore,
  { resolvesHere }: Pick<ServiceLimits, 'resolvesHere'>,
  operators: KeyedOperators,
): boolean {
  const resolved = resolvesHere ? [] : resolves;
  const [unresolved] = Object.entries(operators).filter(([, operator]) => !resolved.includes(operatorName(operator)));
  if (unresolved !== undefined && (guards === 'none' || lacks.includes('operators'))) {
    const [key, operator] = unresolved;
    const lacking = resolvesHere ? 'does not compare its result with limits.value' : 'does not resolve it';
    const [what, why] =
      guards === 'none'
        ? ['protected from the writes of others', `${lacking}, and compares no values`]
        : ['written', 'does not keep operators'];
    const message = `${operatorName(operator)} of "${key}" cannot be ${what}: the store ${why}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { key });
  }
  return unresolved === undefined;
}

/** Resolves operators against values. Throws `STATE_CONFLICT` or `INVALID_ARGUMENT`, with the `key`. */
export function resolveLocally(operators: KeyedOperators, valueOf: (key: string) => Json | undefined): Resolution {
  const results = resultsOf(operators, valueOf);
  const keys = byScope(
    operators,
    (group: { set: Record<string, Json>; unset: string[] } = emptyDelta(), name, key) => {
      const value = valueOf(key);
      if (value === undefined) {
        group.unset.push(name);
      } else {
        put(group.set, name, value);
      }
      return group;
    },
  );
  return { results, keys };
}

/** Both guards together. Of two for the same value, the first one. */
export function mergeGuardedKeys(one: Guard['keys'] = {}, other: Guard['keys'] = {}): NonNullable<Guard['keys']> {
  const both: Partial<Record<StoredScope, Delta>> = { ...one };
  for (const scope of STORED_SCOPES) {
    const { set = {}, unset = [] } = one[scope] ?? {};
    const more = other[scope];
    if (more !== undefined) {
      const isNew = (name: string): boolean => !Object.hasOwn(set, name) && !unset.includes(name);
      const added = Object.entries(more.set ?? {}).filter(([name]) => isNew(name));
      both[scope] = {
        set: mergeRecords([set, Object.fromEntries(added)]),
        unset: [...unset, ...(more.unset ?? []).filter(isNew)],
      };
    }
  }
  return both;
}

/** The writes of a change, with the operators that its store resolves. */
export function contentOf(
  prepared: PreparedChange,
  operators: KeyedOperators | undefined,
): Pick<Change, 'delta' | 'operators'> {
  if (operators === undefined) {
    return { delta: scopedDelta(prepared) };
  }
  const { keys, words } = prepared;
  const isPlain = (_: unknown, index: number): boolean => !Object.hasOwn(operators, keys[index] as string);
  const plain = { ...prepared, keys: keys.filter(isPlain), words: words.filter(isPlain) };
  const named = byScope(operators, (group: Record<string, Operator> = {}, name, key) => {
    put(group, name, operators[key] as Operator);
    return group;
  });
  return { delta: scopedDelta(plain), operators: named };
}

/**
 * The results of a stored change's operators, under full keys. Throws `STORE_CORRUPT`, with `committed`, when the
 * store omits one: the current values may be those of other callers, and another call would write once more.
 */
export function keyedResults(
  { results = {} }: Pick<Committed, 'results'>,
  operators: ScopedOperators,
): Readonly<Record<string, Json>> {
  for (const scope of STORED_SCOPES) {
    for (const [name, operator] of Object.entries(operators[scope] ?? {})) {
      if (!Object.hasOwn(results[scope] ?? {}, name)) {
        const key = fullKey(scope, name);
        const what = `${operatorName(operator)} of "${key}"`;
        const message = `${what} is written, but the store did not return its result: do not write it again`;
        throw new StatepadError('STORE_CORRUPT', message, { key, committed: true });
      }
    }
  }
  return underFullKeys(results);
}

/** Values of all scopes under their full keys. */
export function underFullKeys({ app = {}, user = {}, session = {} }: ScopedValues): Readonly<Record<string, Json>> {
  return deepFreeze(mergeRecords([session, underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]));
}

/** The writes of a change to a scope, with the results of its operators. */
export function withResults(
  delta: Delta | undefined,
  results: Readonly<Record<string, Json>> | undefined,
): Delta | undefined {
  return results === undefined ? delta : { ...delta, set: mergeRecords([delta?.set ?? {}, results]) };
}

/** The error for an operator that a store has refused; `undefined` for other refusals. */
export function operatorRefusal(error: StoreError): StatepadError | undefined {
  const { code, key: name, scope, message } = error;
  if (name === undefined || scope === undefined || code === 'limit') {
    return undefined;
  }
  const key = fullKey(scope, name);
  const text = code === 'conflict' ? misfit(key, 'changed').message : message;
  return new StatepadError(code === 'conflict' ? 'STATE_CONFLICT' : 'INVALID_ARGUMENT', text, { key, cause: error });
}

function emptyDelta(): { set: Record<string, Json>; unset: string[] } {
  return { set: {}, unset: [] };
}

/** Groups the keys of operators by scope, in their order. */
function byScope<T>(
  operators: KeyedOperators,
  add: (group: T | undefined, name: string, key: string) => T,
): Readonly<Partial<Record<StoredScope, T>>> {
  const groups: Partial<Record<StoredScope, T>> = {};
  for (const key of Object.keys(operators)) {
    const [scope, name] = nameOf(key);
    groups[scope] = add(groups[scope], name, key);
  }
  return groups;
}
