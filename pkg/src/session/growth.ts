// The limits of scopes and logs without a store. The sizes of scopes are bounds, which cost an append next to nothing:
// they are measured only where a bound is beyond the limit.

import { isDeletion, scopeOfWord } from '../engine/keys.js';
import { LIMIT_SCOPES, checkResultSizes } from '../input/sizes.js';
import { jsonBound, jsonSize } from '../model/json-size.js';
import { limitExceeded, type Limits } from '../model/limits.js';
import { APP_PREFIX, USER_PREFIX, type StoredScope } from '../model/scope.js';
import { utf8Length } from '../model/utf8.js';
import type { PreparedChange } from '../engine/sessions.js';
import type { SessionRecord } from './record.js';
import type { ScopeValues } from './scope-values.js';
import type { Json, UpdateStateTarget } from '../model/types.js';

/** The values of the scopes that a change writes to; absent where there are none yet. */
export type ScopesOfChange = Readonly<Record<StoredScope, ScopeValues | undefined>>;

const PREFIX_BYTES = { session: 0, app: APP_PREFIX.length, user: USER_PREFIX.length } as const;

/** True when an append of so many bytes is within all limits for certain, as nearly all are. */
export function hasRoom(
  limits: Limits,
  { values, revision }: SessionRecord,
  { scopes, keys: { length } }: PreparedChange,
  bound: number,
): boolean {
  if (values === undefined || revision >= limits.events) {
    return false;
  }
  const [own, app, user] = values;
  return (
    own.hasRoom(length, bound, limits) &&
    (!scopes.app || app.hasRoom(length, bound, limits)) &&
    (!scopes.user || user.hasRoom(length, bound, limits))
  );
}

/** Notes the bytes of an append that {@link hasRoom}. */
export function noteBytes({ values }: SessionRecord, { scopes }: PreparedChange, bound: number): void {
  if (values !== undefined) {
    const [own, app, user] = values;
    own.bytes += bound;
    app.bytes += scopes.app ? bound : 0;
    user.bytes += scopes.user ? bound : 0;
  }
}

/** The growth of scopes by one change that was prepared. */
export class Growth {
  readonly #limits: Limits;
  readonly #target: UpdateStateTarget;
  readonly #change: PreparedChange;
  /** The most bytes that the change writes. */
  #bound: number;
  /** The sizes of scopes after the change, where they were measured. */
  #measured: Partial<Record<StoredScope, number>> | undefined;

  constructor(limits: Limits, target: UpdateStateTarget, change: PreparedChange, bound: number) {
    this.#limits = limits;
    this.#target = target;
    this.#change = change;
    this.#bound = bound;
  }

  /** Compares the number of events that a session comes to. Throws `LIMIT_EXCEEDED`. */
  checkEvents(size: number): void {
    const { events: limit } = this.#limits;
    if (size > limit) {
      throw limitExceeded(this.#target, { exceeded: 'events', size, limit });
    }
  }

  /** Compares what the change comes to with the limits of scopes. Throws `LIMIT_EXCEEDED`. */
  check(scopes: ScopesOfChange, results: Readonly<Record<string, Json>> | undefined): void {
    const { keys, state } = this.#limits;
    if (results !== undefined) {
      this.#bound += jsonBound(results);
    }
    for (const scope of LIMIT_SCOPES) {
      if (this.#change.scopes[scope]) {
        const values = scopes[scope];
        if (results !== undefined) {
          const valueOf = (key: string): Json | undefined => values?.get(key);
          checkResultSizes(this.#limits, { results, valueOf }, this.#target, [scope]);
        }
        if ((values?.count ?? 0) + this.#change.keys.length > keys) {
          this.#checkKeys(scope, values);
        }
        if (values?.isExact === true || (values?.bytes ?? 0) + this.#bound > state) {
          (this.#measured ??= {})[scope] = this.#checkState(scope, values);
        }
      }
    }
  }

  /** Notes what the change has written, once it is applied. */
  note(scopes: ScopesOfChange): void {
    for (const scope of LIMIT_SCOPES) {
      const values = this.#change.scopes[scope] ? scopes[scope] : undefined;
      if (values !== undefined) {
        const size = this.#measured?.[scope];
        values.bytes = size ?? values.bytes + this.#bound;
        // Near the limit each write is measured, and further away none: the whole is not measured again and again.
        values.isExact = size !== undefined && size > this.#limits.state / 2;
      }
    }
  }

  /** The writes to a scope: its keys, each with the new value, or `undefined` where it is deleted. */
  *#writesTo(scope: StoredScope): Iterable<[string, Json | undefined]> {
    const { keys, words, delta } = this.#change;
    for (let index = 0; index < keys.length; index++) {
      const word = words[index] as number;
      if (scopeOfWord(word) === scope) {
        const key = keys[index] as string;
        yield [key, isDeletion(word) ? undefined : delta[key]];
      }
    }
  }

  #checkKeys(scope: StoredScope, values: ScopeValues | undefined): void {
    const { keys: limit } = this.#limits;
    const before = values?.count ?? 0;
    let size = before;
    for (const [key, value] of this.#writesTo(scope)) {
      size += (value === undefined ? 0 : 1) - (values?.get(key) === undefined ? 0 : 1);
    }
    if (size > before && size > limit) {
      throw limitExceeded(this.#target, { exceeded: 'keys', size, limit, scope });
    }
  }

  /** Measures a scope after the change. */
  #checkState(scope: StoredScope, values: ScopeValues | undefined): number {
    const { state: limit } = this.#limits;
    const before = values === undefined ? 0 : values.isExact ? values.bytes : measure(scope, values);
    let size = before;
    for (const [key, value] of this.#writesTo(scope)) {
      size += sizeOf(scope, key, value) - sizeOf(scope, key, values?.get(key));
    }
    if (size > before && size > limit) {
      throw limitExceeded(this.#target, { exceeded: 'state', size, limit, scope });
    }
    return size;
  }
}

function measure(scope: StoredScope, values: ScopeValues): number {
  let size = 0;
  values.forEach((key, value) => {
    size += sizeOf(scope, key, value);
  });
  return size;
}

/** The bytes of a name and its value. */
function sizeOf(scope: StoredScope, key: string, value: Json | undefined): number {
  return value === undefined ? 0 : utf8Length(key) - PREFIX_BYTES[scope] + jsonSize(value);
}
