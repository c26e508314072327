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

  /** The values, and the missing keys, that were read. */
  guardedKeys(): NonNullable<Guard['keys']> {
    const groups: Record<StoredScope, { set: Record<string, Json>; unset: string[] }> = {
      app: emptyDelta(),
      user: emptyDelta(),
      session: emptyDelta(),
    };
    for (const key of this.#keys) {
      if (!isTemp(key)) {
        const [scope, name] = nameOf(key);
        const group = groups[scope];
        if (Object.hasOwn(this.#values, key)) {
          group.set[name] = this.#values[key] as Json;
        } else {
          group.unset.push(name);
        }
      }
    }
    return Object.fromEntries(Object.entries(groups).filter(([, group]) => !isEmpty(group)));
  }
}

function emptyDelta(): { set: Record<string, Json>; unset: string[] } {
  return { set: Object.create(null) as Record<string, Json>, unset: [] };
}

function isEmpty({ set = {}, unset = [] }: Delta): boolean {
  return unset.length === 0 && Object.keys(set).length === 0;
}
