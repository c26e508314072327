// State that tracks its writes.

import { admitValue, put } from './admit.js';
import { DELETED, isDeleted } from './deleted.js';
import { APP_PREFIX, TEMP_PREFIX, USER_PREFIX } from './scope.js';
import type { Json } from './types.js';

/** State that can be read: values under full keys. */
export interface ReadonlyState {
  /** The value of a key, or `defaultValue` when it is not there. `null` is a value. */
  get<T = Json>(key: string, defaultValue?: T): T | undefined;
  /** Whether the key is there. */
  has(key: string): boolean;
  /** All values, in a record of the caller's own. The record has no prototype. */
  toRecord(): Record<string, Json>;
}

/**
 * Values under a delta of pending writes, as ADK's `State`: reads see the writes at once, and the delta goes into the
 * next event. Unlike there, `value` is never written to, no lookup reaches a prototype, a value that was read is frozen,
 * and keys can be deleted.
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

  /** `value` is read; `delta` takes the writes, {@link DELETED} for deleted keys. */
  constructor(value: Readonly<Record<string, unknown>> = {}, delta: Readonly<Record<string, unknown>> = {}) {
    this.#value = value;
    this.#delta = delta;
  }

  /** The value of a key, or `defaultValue` when it is not there. `null` is a value. */
  get<T = Json>(key: string, defaultValue?: T): T | undefined {
    const pending = this.pending(key);
    if (pending !== undefined) {
      return isDeleted(pending) ? defaultValue : (pending as T);
    }
    const value = this.committed();
    return Object.hasOwn(value, key) ? (value[key] as T) : defaultValue;
  }

  /** Sets a key to a value, whole. The value is copied and frozen. Throws `VALUE_NOT_JSON`. */
  set(key: string, value: unknown): void {
    this.write(key, isDeleted(value) ? DELETED : admitValue(value, `state[${JSON.stringify(key)}]`));
  }

  /** Whether the key is there. */
  has(key: string): boolean {
    const pending = this.pending(key);
    return pending === undefined ? Object.hasOwn(this.committed(), key) : !isDeleted(pending);
  }

  /** Deletes a key. Says whether it was there. */
  delete(key: string): boolean {
    const there = this.has(key);
    if (there) {
      this.write(key, DELETED);
    }
    return there;
  }

  /** Sets several keys: all of them, or none when one is not JSON. Throws `VALUE_NOT_JSON`. */
  update(delta: Readonly<Record<string, unknown>>): void {
    const admitted = Object.entries(delta).map(
      ([key, value]) => [key, isDeleted(value) ? DELETED : admitValue(value, `state[${JSON.stringify(key)}]`)] as const,
    );
    admitted.forEach(([key, value]) => this.write(key, value));
  }

  /** The value of a key, after setting it to `defaultValue` when it is not there. Throws `VALUE_NOT_JSON`. */
  setDefault(key: string, defaultValue: unknown): Json {
    if (!this.has(key)) {
      this.set(key, defaultValue);
    }
    return this.get(key) as Json;
  }

  /** Whether writes are pending. */
  hasDelta(): boolean {
    return Object.keys(this.#delta).length > 0;
  }

  /** All values with the pending writes over them, in a record of the caller's own. The record has no prototype. */
  toRecord(): Record<string, Json> {
    const record = Object.create(null) as Record<string, Json>;
    Object.assign(record, this.committed());
    for (const [key, value] of this.entries()) {
      if (isDeleted(value)) {
        delete record[key];
      } else {
        record[key] = value as Json;
      }
    }
    return record;
  }

  /** @internal What is under the pending writes. */
  protected committed(): Readonly<Record<string, unknown>> {
    return this.#value;
  }

  /** @internal The pending write to a key. */
  protected pending(key: string): unknown {
    return Object.hasOwn(this.#delta, key) ? this.#delta[key] : undefined;
  }

  /** @internal All pending writes. */
  protected entries(): Iterable<readonly [string, unknown]> {
    return Object.entries(this.#delta);
  }

  /** @internal Adds a pending write. */
  protected write(key: string, value: unknown): void {
    put(this.#delta, key, value);
  }
}
