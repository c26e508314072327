// Writes in flight: their effect on the state is shown until the session itself reports it, or until they are refused.

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
 * A write to a session: a delta, or a function that gets the state and returns one. The function runs again when the
 * state has changed below it, so it must have no side effects.
 */
export type StateChange = StateDelta | ((state: StateRecord) => StateDelta);

/** The delta that a change makes of a state. */
export function deltaOf(change: StateChange, state: StateRecord): StateDelta {
  return typeof change === 'function' ? change(state) : change;
}

/** One write in flight. */
export class PendingWrite {
  readonly #change: StateChange;
  #status: 'waits' | 'sent' | 'accepted' = 'waits';
  /** The new values of its keys; `undefined` for deleted ones. */
  #results = new Map<string, Json | undefined>();
  /** The keys that were reported with other values since it was sent. */
  readonly #others = new Set<string>();
  /** The keys that the session reports with the written value. */
  readonly #done = new Set<string>();

  constructor(change: StateChange) {
    this.#change = change;
  }

  /** True when it has no effect on the state any more. */
  get isDone(): boolean {
    return this.#status === 'accepted' && [...this.#results.keys()].every((key) => this.#done.has(key));
  }

  get isAccepted(): boolean {
    return this.#status === 'accepted';
  }

  /** Marks it as sent: later reports may result from it. */
  send(): void {
    this.#status = 'sent';
  }

  /** Marks it as accepted: its results are final. A different value that was reported in the meantime is newer. */
  accept(): void {
    this.#status = 'accepted';
    this.#others.forEach((key) => this.#done.add(key));
  }

  /** The state with the write applied. */
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
   * Compares the write with reported values: of the written keys, or of all when they are unknown. Answers the keys
   * that have just reached their written values.
   */
  report(state: StateRecord, keys: readonly string[] | 'all'): string[] {
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
        this.#others.add(key);
      }
    }
    return reached;
  }

  /** Marks keys as done: later writes to them were reported. */
  supersede(keys: readonly string[]): void {
    keys.forEach((key) => this.#done.add(key));
  }

  /**
   * Compares with a state that was read after the write was accepted: keys whose values equal the reported ones are
   * done.
   */
  compare(read: StateRecord, reported: StateRecord): void {
    for (const key of this.#results.keys()) {
      if (sameJson(valueOf(read, key), valueOf(reported, key))) {
        this.#done.add(key);
      }
    }
  }
}

/** The writes of one session in flight, in order. */
export class PendingWrites {
  #writes: readonly PendingWrite[] = [];

  add(change: StateChange): PendingWrite {
    const write = new PendingWrite(change);
    this.#writes = [...this.#writes, write];
    return write;
  }

  /** Stops showing a write. */
  remove(write: PendingWrite): void {
    this.#writes = this.#writes.filter((each) => each !== write);
  }

  /** Stops showing the writes that were accepted. */
  removeAccepted(): void {
    this.#writes = this.#writes.filter((each) => !each.isAccepted);
  }

  /** The state with all writes applied, or with those before `until`. */
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

  /** See {@link PendingWrite.report}. */
  report(state: StateRecord, keys: readonly string[] | 'all'): void {
    this.#writes.forEach((write, index) => {
      const reached = write.report(state, keys);
      this.#writes.slice(0, index).forEach((earlier) => earlier.supersede(reached));
    });
    this.#writes = this.#writes.filter((write) => !write.isDone);
  }
}

/** The results of a change for its keys. Faults in the change are left to the source, which refuses it. */
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
    // The function of the change threw, or a value is no JSON: sending it reports that.
    results.clear();
  }
  return results;
}

function resultOf(write: unknown, current: Json | undefined): { readonly value: Json | undefined } | undefined {
  const operator = operatorOf(write);
  if (operator !== undefined) {
    const result = resolveOperator(operator, current);
    return 'fault' in result ? undefined : result;
  }
  if (isDeleted(write)) {
    return { value: undefined };
  }
  const text = JSON.stringify(write) as string | undefined;
  return text === undefined ? undefined : { value: deepFreeze(JSON.parse(text) as Json) };
}

/** The value of a key, or `undefined` if it is missing. */
function valueOf(state: StateRecord, key: string): Json | undefined {
  return Object.hasOwn(state, key) ? state[key] : undefined;
}
