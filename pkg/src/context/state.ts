// State that tracks its writes.

import { admitDelta, admitValue } from '../input/admit.js';
import { append, compareAndSet, increment, setOnce } from '../input/operators.js';
import { over, visibleValue } from './composed.js';
import { DELETED, isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { checkObject } from '../checks/arguments.js';
import { APP_PREFIX, TEMP_PREFIX, USER_PREFIX } from '../model/scope.js';
import { put } from '../model/json.js';
import { OperatorWrite, operatorOf } from '../model/operator-write.js';
import type { Operator } from '../model/operators.js';
import type { Json } from '../model/types.js';

/** A deeply read-only type: values that are read are frozen. */
export type DeepReadonly<T> = unknown extends T
  ? unknown
  : Json extends T
    ? Json | (undefined extends T ? undefined : never)
    : { readonly [Member in keyof T]: DeepReadonly<T[Member]> };

/** Readable state: values under full keys. */
export interface ReadonlyState {
  /** The value of a key, or `defaultValue` when it is missing. `null` is a value. */
  get(key: string, defaultValue?: undefined): Json | undefined;
  get(key: string, defaultValue: null): Json;
  get(key: string, defaultValue: boolean): boolean;
  get(key: string, defaultValue: number): number;
  get(key: string, defaultValue: string): string;
  get<T>(key: string): DeepReadonly<T> | undefined;
  get<T>(key: string, defaultValue: T): DeepReadonly<T>;
  /** True when the key is present. */
  has(key: string): boolean;
  /** All values, in a frozen record. */
  toRecord(): Readonly<Record<string, Json>>;
}

/**
 * Values under a delta of pending writes, as ADK's `State`: reads see the writes at once, and the delta goes into the
 * next event. Unlike there, `value` is never written to, no lookup reaches a prototype, values that are read are
 * frozen, and keys can be deleted.
 *
 * @example
 * const actions = createEventActions();
 * const state = new State(session.state, actions.stateDelta);
 * state.set('user:visits', 2);
 * await service.appendEvent({ session, event: { author: 'agent', actions } });
 */
export class State implements ReadonlyState {
  /** The prefix of keys shared by all users of an app. */
  static readonly APP_PREFIX = APP_PREFIX;
  /** The prefix of keys shared by all sessions of a user in an app. */
  static readonly USER_PREFIX = USER_PREFIX;
  /** The prefix of keys that live for one invocation and are never stored. */
  static readonly TEMP_PREFIX = TEMP_PREFIX;

  readonly #value: Readonly<Record<string, unknown>>;
  readonly #delta: Record<string, unknown>;

  /** Reads come from `value`; writes go to `delta`, {@link DELETED} for deleted keys. */
  constructor(value: Readonly<Record<string, unknown>> = {}, delta: Readonly<Record<string, unknown>> = {}) {
    checkObject(value, 'value');
    checkObject(delta, 'delta');
    this.#value = value;
    this.#delta = delta;
  }

  /** The value of a key, frozen, or `defaultValue` when it is missing. `null` is a value. */
  get(key: string, defaultValue?: undefined): Json | undefined;
  get(key: string, defaultValue: null): Json;
  get(key: string, defaultValue: boolean): boolean;
  get(key: string, defaultValue: number): number;
  get(key: string, defaultValue: string): string;
  get<T>(key: string): DeepReadonly<T> | undefined;
  get<T>(key: string, defaultValue: T): DeepReadonly<T>;
  get(key: string, defaultValue?: unknown): unknown {
    const pending = this.pending(key);
    if (pending !== undefined) {
      return isDeleted(pending) ? defaultValue : this.frozen(pending, key);
    }
    const value = this.committed();
    return Object.hasOwn(value, key) ? this.frozen(value[key], key) : defaultValue;
  }

  /**
   * Sets a key to a whole value, which is copied and frozen. Throws `VALUE_NOT_JSON`, also for a key that only
   * JavaScript can hold, and `INVALID_ARGUMENT`.
   */
  set(key: string, value: unknown): void {
    this.update({ [checkName(key)]: value });
  }

  /** True when the key is present. */
  has(key: string): boolean {
    const pending = this.pending(key);
    return pending === undefined ? Object.hasOwn(this.committed(), key) : !isDeleted(pending);
  }

  /** Deletes a key. Returns true if it was present. */
  delete(key: string): boolean {
    const there = this.has(key);
    if (there) {
      this.write(key, DELETED);
    }
    return there;
  }

  /** Sets several keys: all of them, or none when one is not JSON. Throws as {@link State.set}. */
  update(values: Readonly<Record<string, unknown>>): void {
    checkObject(values, 'values');
    const { delta, deleted, operators = {} } = admitDelta(values, 'state');
    const writes = Object.keys(delta).map((key) => {
      if (Object.hasOwn(operators, key)) {
        return [key, this.over(key, operators[key] as Operator)] as const;
      }
      return [key, deleted.includes(key) ? DELETED : delta[key]] as const;
    });
    writes.forEach(([key, value]) => this.write(key, value));
  }

  /**
   * Adds to a number. The increment is resolved when the event is committed, so that increments of all writers add
   * up. Until then the key reads as if it were resolved now. Throws `INVALID_ARGUMENT`, also after a pending operator
   * other than `increment`, or over a pending value that is no number.
   */
  increment(key: string, by = 1): void {
    this.set(key, increment(by));
  }

  /** Adds items to the end of a list, as {@link State.increment} adds to a number. Throws `VALUE_NOT_JSON`, too. */
  append(key: string, ...items: readonly unknown[]): void {
    this.set(key, append(...items));
  }

  /**
   * Sets a key if it is missing when the event is committed. Throws `VALUE_NOT_JSON`, and `INVALID_ARGUMENT` after a
   * pending operator other than `setOnce`.
   */
  setOnce(key: string, value: unknown): void {
    this.set(key, setOnce(value));
  }

  /**
   * Sets a key to `value` if it has the value `expected` when the event is committed; `undefined` expects a missing
   * key. Otherwise the event is refused with `STATE_CONFLICT`. Throws `VALUE_NOT_JSON`, `INVALID_ARGUMENT` after a
   * pending operator, and `STATE_CONFLICT` over a pending value that differs.
   */
  compareAndSet(key: string, expected: unknown, value: unknown): void {
    this.set(key, compareAndSet(expected, value));
  }

  /** The value of a key, after setting it to `defaultValue` if it is missing. Throws `VALUE_NOT_JSON`. */
  setDefault(key: string, defaultValue: unknown): Json {
    if (!this.has(key)) {
      this.set(key, defaultValue);
    }
    return this.get(key) as Json;
  }

  /** True when writes are pending. */
  hasDelta(): boolean {
    return Object.keys(this.#delta).length > 0;
  }

  /** All values with the pending writes over them, in a frozen record. */
  toRecord(): Readonly<Record<string, Json>> {
    const values = new Map(Object.entries(this.committed()));
    for (const key of this.keys()) {
      const value = this.pending(key);
      if (value === undefined) {
        continue;
      }
      if (isDeleted(value)) {
        values.delete(key);
      } else {
        values.set(key, value);
      }
    }
    const record: Record<string, Json> = {};
    for (const [key, value] of values) {
      put(record, key, this.frozen(value, key) as Json);
    }
    return Object.freeze(record);
  }

  /** @internal The values below the pending writes. */
  protected committed(): Readonly<Record<string, unknown>> {
    return this.#value;
  }

  /** @internal The pending write to a key, an operator resolved over the committed value. */
  protected pending(key: string): unknown {
    const pending = Object.hasOwn(this.#delta, key) ? this.#delta[key] : undefined;
    const operator = operatorOf(pending);
    return operator === undefined ? pending : visibleValue([operator], this.stored(key));
  }

  /** @internal The committed value of a key. */
  protected stored(key: string): Json | undefined {
    const value = this.committed();
    return Object.hasOwn(value, key) ? (value[key] as Json) : undefined;
  }

  /** @internal The result of an operator over the pending write to a key. Throws as {@link over}. */
  protected over(key: string, operator: Operator): unknown {
    return Object.hasOwn(this.#delta, key) ? over(key, this.#delta[key], operator) : new OperatorWrite(operator);
  }

  /** @internal The keys of all pending writes. */
  protected keys(): readonly string[] {
    return Object.keys(this.#delta);
  }

  /** @internal Adds a pending write. */
  protected write(key: string, value: unknown): void {
    put(this.#delta, key, value);
  }

  /** @internal A value for readers: one that is not frozen is copied. Throws `VALUE_NOT_JSON`. */
  protected frozen(value: unknown, key: string): unknown {
    return isFrozen(value) ? value : admitValue(value, `state[${JSON.stringify(key)}]`);
  }
}

/** Refuses symbols, which JSON would lose, and other kinds of keys, which JavaScript would turn into text. */
function checkName(key: unknown): string {
  if (typeof key !== 'string') {
    throw new StatepadError('INVALID_ARGUMENT', `key must be a string, not a ${typeof key}`, { path: 'key' });
  }
  return key;
}

/** Values that are known to be deeply frozen. */
const known = new WeakSet();

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || known.has(value)) {
    return true;
  }
  if (!Object.isFrozen(value) || !Object.values(value).every(isFrozen)) {
    return false;
  }
  known.add(value);
  return true;
}
