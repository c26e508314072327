// The conditions that a caller names for one write, as a guard of the store.

import { isTemp, nameOf, type SharedScope, type StoredScope } from '../model/scope.js';
import type { State, WriteConditions } from './update-target.js';
import type { Guard } from '../store/contract.js';

/** The values of a target, and the positions at which they were read. */
export interface ReadMoment {
  readonly state: State;
  readonly pos: Readonly<Partial<Record<SharedScope, number>>>;
  /** The revision, of a session. */
  readonly rev?: number | undefined;
}

/**
 * The guard for the conditions of a write. Scopes that must have no other keys than the expected ones are guarded by
 * the positions of the read. A key that is too much there becomes a condition that fails: it is left to the store to
 * refuse, which knows whether an earlier attempt of the same request was carried out.
 */
export function guardOfConditions(
  { expected, whole = [] }: WriteConditions,
  { state, pos, rev }: ReadMoment,
): Pick<Guard, 'keys' | 'pos' | 'rev'> {
  if (whole.length === 0) {
    return Object.keys(expected).length === 0 ? {} : { keys: expected };
  }
  const keys = { ...expected };
  for (const [scope, name] of extraNames(expected, whole, state)) {
    keys[scope] = { ...keys[scope], unset: [...(keys[scope]?.unset ?? []), name] };
  }
  const shared = Object.fromEntries(Object.entries(pos).filter(([scope]) => whole.includes(scope as SharedScope)));
  return {
    keys,
    ...(Object.keys(shared).length > 0 && { pos: shared }),
    ...(rev !== undefined && whole.includes('session') && { rev }),
  };
}

/** A key of a state that is not among the expected ones, in scopes that must have no others. */
export function extraKey({ expected, whole = [] }: WriteConditions, state: State): string | undefined {
  const [extra] = extraNames(expected, whole, state);
  return extra?.[2];
}

/** The scopes, names and full keys that a state has beyond the expected ones. */
function* extraNames(
  expected: WriteConditions['expected'],
  whole: readonly StoredScope[],
  state: State,
): Generator<readonly [StoredScope, string, string]> {
  for (const key of whole.length === 0 ? [] : Object.keys(state)) {
    const [scope, name] = nameOf(key);
    if (!isTemp(key) && whole.includes(scope) && !Object.hasOwn(expected[scope]?.set ?? {}, name)) {
      yield [scope, name, key];
    }
  }
}
