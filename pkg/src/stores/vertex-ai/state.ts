// State as the API keeps it: one record under full keys, in which nothing can be deleted.
//
// A deleted key has the value `null`, and beside it a mark, in the same scope: `user:statepad:gone:theme` for
// `user:theme`. The key is deleted as long as its value is `null` and the mark is `true`, so that a value that another
// writer sets is there, mark or not. Setting `null` takes the mark back. Marks are never shown.

import { StoreError } from '../../store/store-error.js';
import { APP_PREFIX, nameOf, STORED_SCOPES, TEMP_PREFIX, USER_PREFIX, type StoredScope } from '../../model/scope.js';
import { put } from '../../model/json.js';
import { emptyValues } from '../shared/values.js';
import { checkStruct, checkText } from './structs.js';
import type { Change, Delta, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** State under full keys, as the API has it. */
export type ApiState = Readonly<Record<string, Json>>;

/** The values of a session and of the scopes that it shares with others. */
export type ScopedState = Readonly<Record<StoredScope, Values>>;

/** The beginning of a mark's name, behind the prefix of its scope. */
const MARK = 'statepad:gone:';
const PREFIXES = { app: APP_PREFIX, user: USER_PREFIX, session: '' } as const;

/** Splits a state by scope, without deleted keys and without marks. */
export function splitState(state: ApiState = {}): ScopedState {
  const split = { app: emptyValues(), user: emptyValues(), session: emptyValues() };
  for (const key of Object.keys(state)) {
    const [scope, name] = nameOf(key);
    const value = state[key] as Json;
    if (!name.startsWith(MARK) && !(value === null && isMarked(state, scope, name))) {
      split[scope][name] = value;
    }
  }
  return split;
}

/**
 * A change's deltas as the API takes them. `now` is the state that is there; without it the session is being created.
 * Throws `rejected` for names and values that the API cannot keep.
 */
export function stateDelta(delta: Change['delta'], now?: ApiState): Record<string, Json> {
  const written: Record<string, Json> = {};
  for (const scope of STORED_SCOPES) {
    addScope(written, scope, delta[scope] ?? {}, now);
  }
  return written;
}

function addScope(written: Record<string, Json>, scope: StoredScope, delta: Delta, now: ApiState | undefined): void {
  const { set = {}, unset = [] } = delta;
  for (const name of unset) {
    put(written, keyOf(scope, name), null);
    put(written, markOf(scope, name), true);
  }
  for (const name of Object.keys(set)) {
    const value = set[name] as Json;
    const key = keyOf(scope, name);
    checkStruct(value, `the value of "${key}"`);
    put(written, key, value);
    // A mark may come to be there before this is written, which counts for `null` alone. No new session has one.
    const mayBeMarked = value === null && !(scope === 'session' && now === undefined);
    const mark = markOf(scope, name);
    if (mayBeMarked || Object.hasOwn(written, mark) || isMarked(now ?? {}, scope, name)) {
      put(written, mark, false);
    }
  }
}

/** A record of state under full keys without marks and `temp:` keys: the delta of another writer. */
export function shownDelta(delta: ApiState): Record<string, Json> {
  const shown: Record<string, Json> = {};
  for (const key of Object.keys(delta)) {
    if (!key.startsWith(TEMP_PREFIX) && !nameOf(key)[1].startsWith(MARK)) {
      put(shown, key, delta[key] as Json);
    }
  }
  return shown;
}

function isMarked(state: ApiState, scope: StoredScope, name: string): boolean {
  const mark = markOf(scope, name);
  return Object.hasOwn(state, mark) && state[mark] === true;
}

function markOf(scope: StoredScope, name: string): string {
  return `${PREFIXES[scope]}${MARK}${name}`;
}

/** The full key of a name. Throws `rejected` for one that reads as another key. */
function keyOf(scope: StoredScope, name: string): string {
  const key = PREFIXES[scope] + name;
  const [keyScope] = nameOf(key);
  if (keyScope !== scope || (scope === 'session' && name.startsWith(TEMP_PREFIX)) || name.startsWith(MARK)) {
    throw new StoreError(
      'rejected',
      `the name "${name}" of the ${scope} cannot be stored: the API reserves such keys`,
    );
  }
  checkText(name, `the name "${name}"`);
  return key;
}
