// The sizes of scopes, and the limits that a change must not exceed: see `StoreLimits`.

import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import { utf8Length } from '../../model/utf8.js';
import { beyondLimit } from '../../store/refusals.js';
import type { ResolvedChange } from './operators.js';
import type { Change, Delta, Rev, StoreLimits } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The number of names of a scope, and the bytes of its names and values together. A growth may be negative. */
export interface Size {
  readonly keys: number;
  readonly bytes: number;
}

/** The sizes of the scopes of a change, as they are before it. */
export interface ScopeSizes {
  /** The size of a scope; 0 where there is none, as for a session that is created. */
  size(scope: StoredScope): Size;
  /** The bytes of the text of a value; `undefined` when the name is not there. */
  bytesOf(scope: StoredScope, name: string): number | undefined;
  /** See {@link growthBy}: for a store that counts it anyway. */
  growth?(scope: StoredScope, delta: Delta): Size;
}

/** The size of a value: the number of UTF-8 bytes of its text as `JSON.stringify` writes it. */
export function valueBytes(value: Json): number {
  return utf8Length(JSON.stringify(value));
}

/**
 * The difference that a delta makes to the size of a scope. `bytesOf` is asked for the names of the delta alone;
 * `bytesAfter` are those of the values that it sets.
 */
export function growthBy(
  { set = {}, unset = [] }: Delta,
  bytesOf: (name: string) => number | undefined,
  bytesAfter = (name: string): number => valueBytes(set[name] as Json),
): Size {
  let [keys, bytes] = [0, 0];
  const count = (name: string, before: number | undefined, after: number | undefined): void => {
    const length = utf8Length(name);
    if (before !== undefined) {
      keys -= 1;
      bytes -= length + before;
    }
    if (after !== undefined) {
      keys += 1;
      bytes += length + after;
    }
  };
  const names = Object.keys(set);
  names.forEach((name) => count(name, bytesOf(name), bytesAfter(name)));
  new Set(unset).forEach((name) => {
    // A name that is set again behind its deletion was counted with its value.
    if (!Object.hasOwn(set, name)) {
      count(name, bytesOf(name), undefined);
    }
  });
  return { keys, bytes };
}

/**
 * Compares the limits of a change with what would be stored. `rev` is the revision of the session before it. Throws
 * `limit` for the first that would be exceeded, in the order of `SessionStore.commit`.
 */
export function checkLimits(change: Change, resolved: ResolvedChange, rev: Rev, sizes: ScopeSizes): void {
  const { limits } = change;
  if (limits === undefined) {
    return;
  }
  const { events = Infinity } = limits;
  if (change.kind === 'append' && rev + 1 > events) {
    throw beyondLimit(change, { exceeded: 'events', size: rev + 1, limit: events });
  }
  for (const scope of STORED_SCOPES) {
    checkResults(change, limits, resolved, scope, sizes);
    checkScope(change, limits, resolved.delta[scope], scope, sizes);
  }
}

/** Compares the results of operators. One that is no larger than the value that was there is never refused. */
function checkResults(
  change: Change,
  { value: limit = Infinity }: StoreLimits,
  { results = {} }: ResolvedChange,
  scope: StoredScope,
  sizes: ScopeSizes,
): void {
  const ofScope = results[scope];
  if (ofScope === undefined || limit === Infinity) {
    return;
  }
  for (const key of Object.keys(ofScope)) {
    const size = valueBytes(ofScope[key] as Json);
    if (size > limit && size > (sizes.bytesOf(scope, key) ?? 0)) {
      throw beyondLimit(change, { exceeded: 'value', size, limit, scope, key });
    }
  }
}

/** Compares the number of names, and then the bytes, of a scope that a change makes larger. */
function checkScope(
  change: Change,
  { keys = Infinity, state = Infinity }: StoreLimits,
  delta: Delta | undefined,
  scope: StoredScope,
  sizes: ScopeSizes,
): void {
  if (delta === undefined || (keys === Infinity && state === Infinity)) {
    return;
  }
  const growth = sizes.growth?.(scope, delta) ?? growthBy(delta, (name) => sizes.bytesOf(scope, name));
  if (growth.keys <= 0 && growth.bytes <= 0) {
    return;
  }
  const before = sizes.size(scope);
  const after: Size = { keys: before.keys + growth.keys, bytes: before.bytes + growth.bytes };
  if (growth.keys > 0 && after.keys > keys) {
    throw beyondLimit(change, { exceeded: 'keys', size: after.keys, limit: keys, scope });
  }
  if (growth.bytes > 0 && after.bytes > state) {
    throw beyondLimit(change, { exceeded: 'state', size: after.bytes, limit: state, scope });
  }
}
