// Writes that are on their way: what they make of the state is shown until the session itself tells it, or until they
// are refused.

import { isDeleted } from '../model/deletion.js';
import { deepFreeze, put, sameJson } from '../model/json.js';
import { operatorOf } from '../model/operator-write.js';
import { resolveOperator } from '../model/operators.js';
import { isTemp } from '../model/scope.js';
import type { Json } from '../model/types.js';

/** The values of a session under their full keys. */
export type StateRecord = Readonly<Record<string, Json>>;

/**
 * Keys to set, with their prefix. `DELETED` deletes one, and operators (`increment`, …) stand in the place of values.
 */
export type StateDelta = Readonly<Record<string, unknown>>;

/**
 * What is written to a session: a delta, or a function that gets the state and returns one. The function is run again
 * when the state under it has changed, so it must not do anything else.
 */
export type StateChange = StateDelta | ((state: StateRecord) => StateDelta);

/** The delta that a change makes of a state. */
export function deltaOf(change: StateChange, state: StateRecord): StateDelta {
  return typeof change === 'function' ? change(state) : change;
}

/** One write that is on its way. */
export class PendingWrite {
  readonly #change: StateChange;
  #status: 'waits' | 'sent' | 'accepted' = 'waits';
  /** What it makes of its keys; `undefined` where it deletes one. */
  #results = new Map<string, Json | undefined>();
  /** The keys that were told with other values since it was sent. */
  readonly #told = new Set<string>();
  /** The keys whose value the session tells by now. */
  readonly #done = new Set<string>();

  constructor(change: StateChange) {
    this.#change = change;
  }

  /** True when it shows in nothing any more. */
  get isDone(): boolean {
    return this.#status === 'accepted' && [...this.#results.keys()].every((key) => this.#done.has(key));
  }

  get isAccepted(): boolean {
    return this.#status === 'accepted';
  }

  /** It is sent now: what is told from now on may come of it. */
  send(): void {
    this.#status = 'sent';
  }

  /** It was accepted: what it came to is fixed. What was told with another value meanwhile is the newer one. */
  accept(): void {
    this.#status = 'accepted';
    this.#told.forEach((key) => this.#done.add(key));
  }

  /** The state with what the write makes of it. */
  over(state: StateRecord): StateRecord {
    if (this.#status !== 'accepted') {
      this.#results = resultsOf(this.#change, state);
    }
    const results = [...this.#results].filter(([key]) => !this.#done.has(key));
    if (results.length === 0) {
      return state;
    }
    const after: Record<string, Json> = {};
    Object.entries(state).forEach(([key, value]) => put(after, key, value));
    for (const [key, value] of results) {
      if (value === undefined) {
        delete after[key];
      } else {
        put(after, key, value);
      }
    }
    return Object.freeze(after);
  }

  /**
   * The session tells these values: of the keys that were written, or of all when nothing is known of that. Answers
   * the keys that have just come to what the write makes of them.
   */
  tell(state: StateRecord, keys: readonly string[] | 'all'): string[] {
    if (this.#status === 'waits') {
      return [];
    }
    const reached: string[] = [];
    for (const key of keys === 'all' ? this.#results.keys() : keys) {
      if (this.#status === 'accepted') {
        this.#done.add(key);
      } else if (this.#results.has(key) && sameJson(valueOf(state, key), this.#results.get(key))) {
        this.#done.add(key);
        reached.push(key);
      } else if (keys !== 'all') {
        this.#told.add(key);
      }
    }
    return reached;
  }

  /** A key is done: a later write of it is told. */
  supersede(keys: readonly string[]): void {
    keys.forEach((key) => this.#done.add(key));
  }

  /** The state was read after the write was accepted: of keys that have the values that are told nothing will come. */
  compare(read: StateRecord, told: StateRecord): void {
    for (const key of this.#results.keys()) {
      if (sameJson(valueOf(read, key), valueOf(told, key))) {
        this.#done.add(key);
      }
    }
  }
}

/** The writes of one session that are on their way, in the order in which they were made. */
export class PendingWrites {
  #writes: readonly PendingWrite[] = [];

  add(change: StateChange): PendingWrite {
    const write = new PendingWrite(change);
    this.#writes = [...this.#writes, write];
    return write;
  }

  /** It is not shown any more. */
  remove(write: PendingWrite): void {
    this.#writes = this.#writes.filter((each) => each !== write);
  }

  /** Those that were accepted are not shown any more. */
  removeAccepted(): void {
    this.#writes = this.#writes.filter((each) => !each.isAccepted);
  }

  /** The state with all writes; with those before `until`, if it is given. */
  over(state: StateRecord, until?: PendingWrite): StateRecord {
    let after = state;
    for (const write of this.#writes) {
      if (write === until) {
        break;
      }
      after = write.over(after);
    }
    return after;
  }

  /** See {@link PendingWrite.tell}. */
  tell(state: StateRecord, keys: readonly string[] | 'all'): void {
    this.#writes.forEach((write, index) => {
      const reached = write.tell(state, keys);
      this.#writes.slice(0, index).forEach((earlier) => earlier.supersede(reached));
    });
    this.#writes = this.#writes.filter((write) => !write.isDone);
  }
}

/** What a change makes of its keys. What it makes of others, or cannot make, is for the source to refuse. */
function resultsOf(change: StateChange, state: StateRecord): Map<string, Json | undefined> {
  const results = new Map<string, Json | undefined>();
  try {
    for (const [key, value] of Object.entries(deltaOf(change, state))) {
      const result = resultOf(value, valueOf(state, key));
      if (result !== undefined && !isTemp(key)) {
        results.set(key, result.value);
      }
    }
  } catch {
    // The function of the change has thrown, or a value is no JSON: sending it tells.
    results.clear();
  }
  return results;
}

function resultOf(given: unknown, current: Json | undefined): { readonly value: Json | undefined } | undefined {
  const operator = operatorOf(given);
  if (operator !== undefined) {
    const result = resolveOperator(operator, current);
    return 'fault' in result ? undefined : result;
  }
  if (isDeleted(given)) {
    return { value: undefined };
  }
  const text = JSON.stringify(given) as string | undefined;
  return text === undefined ? undefined : { value: deepFreeze(JSON.parse(text) as Json) };
}

/** The value of a key, if it is there. */
function valueOf(state: StateRecord, key: string): Json | undefined {
  return Object.hasOwn(state, key) ? state[key] : undefined;
}
