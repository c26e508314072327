// Records the reads of an update function: only those values must not change until its delta is written.

import { isTemp, nameOf, type StoredScope } from '../model/scope.js';
import type { Delta, Guard } from '../store/contract.js';
import type { Json } from '../model/types.js';

type State = Readonly<Record<string, Json>>;

/** State that records which of its keys were read. */
export class ReadTracker {
  /** The function's argument. */
  readonly state: State;
  readonly #values: State;
  readonly #keys = new Set<string>();
  #isWhole = false;

  constructor(values: State) {
    this.#values = values;
    const track = (key: string | symbol): void => {
      if (typeof key === 'string') {
        this.#keys.add(key);
      }
    };
    this.state = new Proxy(values, {
      get: (target, key) => {
        track(key);
        return Reflect.get(target, key) as unknown;
      },
      has: (target, key) => {
        track(key);
        return Reflect.has(target, key);
      },
      getOwnPropertyDescriptor: (target, key) => {
        track(key);
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      ownKeys: (target) => {
        this.#isWhole = true;
        return Reflect.ownKeys(target);
      },
    });
  }

  /** True when the function has read the list of keys. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The most shared scope among those that were read or are written. */
  widest(delta: Readonly<Record<string, unknown>>): StoredScope {
    const keys = [...this.#keys, ...Object.keys(delta)];
    const scopes = new Set(keys.filter((key) => !isTemp(key)).map((key) => nameOf(key)[0]));
    return this.#isWhole || scopes.has('app') ? 'app' : scopes.has('user') ? 'user' : 'session';
  }

  /** The values that were read, under full keys, and the keys that were read and are missing. */
  keysRead(): Reads {
    const read = emptyReads();
    const keys = this.#isWhole ? new Set([...Object.keys(this.#values), ...this.#keys]) : this.#keys;
    for (const key of keys) {
      this.#addTo(read, key, key);
    }
    return read;
  }

  /** The values, and the missing keys, that were read, by scope and name; of the list of keys nothing. */
  guardedKeys(): NonNullable<Guard['keys']> {
    const groups: Record<StoredScope, Reads> = { app: emptyReads(), user: emptyReads(), session: emptyReads() };
    for (const key of this.#keys) {
      const [scope, name] = nameOf(key);
      this.#addTo(groups[scope], key, name);
    }
    return Object.fromEntries(Object.entries(groups).filter(([, group]) => !isEmpty(group)));
  }

  #addTo({ set, unset }: Reads, key: string, name: string): void {
    if (isTemp(key)) {
      return;
    }
    if (Object.hasOwn(this.#values, key)) {
      set[name] = this.#values[key] as Json;
    } else {
      unset.push(name);
    }
  }
}

/** Values that were read, and missing names. */
export interface Reads {
  readonly set: Record<string, Json>;
  readonly unset: string[];
}

function emptyReads(): Reads {
  return { set: Object.create(null) as Record<string, Json>, unset: [] };
}

function isEmpty({ set = {}, unset = [] }: Delta): boolean {
  return unset.length === 0 && Object.keys(set).length === 0;
}
