// The keys that missing ones resemble.

import { isStatepadError, Template } from '../../index.js';

/** The number of keys up to which they are searched at once. */
const FEW = 300;

/** The time without changes until more of them are searched, in ms: nobody reads it while time is dragged. */
const WAIT = 250;

/** Finds for each missing key the one that it resembles. Among many keys this takes longer, and comes later. */
export class NearestKeys {
  readonly #found = new Map<string, string | undefined>();
  readonly #wanted = new Set<string>();
  #names: readonly string[] = [];
  /** The names of all keys; `undefined` once they were compared. */
  #next: (() => readonly string[]) | undefined;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  readonly #onFound: () => void;

  /** `onFound` is called when something was found later. */
  constructor(onFound: () => void) {
    this.#onFound = onFound;
  }

  /** Takes over the names of all keys, in the same order for the same keys. Only a missing key asks for them. */
  update(names: () => readonly string[]): void {
    this.#next = names;
  }

  /** The key that a missing one resembles; `undefined` also while it is not known. */
  of(missing: string): string | undefined {
    this.#renew();
    if (!this.#found.has(missing)) {
      if (this.#names.length <= FEW) {
        this.#found.set(missing, nearestOf(missing, this.#names));
      } else {
        this.#wanted.add(missing);
        clearTimeout(this.#waiting);
        this.#waiting = setTimeout(() => this.#search(), WAIT);
      }
    }
    return this.#found.get(missing);
  }

  #renew(): void {
    const names = this.#next?.() ?? this.#names;
    this.#next = undefined;
    if (names.length !== this.#names.length || names.some((name, place) => name !== this.#names[place])) {
      this.#names = names;
      this.#found.clear();
    }
  }

  #search(): void {
    this.#renew();
    for (const missing of this.#wanted) {
      this.#found.set(missing, nearestOf(missing, this.#names));
    }
    this.#wanted.clear();
    this.#onFound();
  }
}

/** The package says it in the error about a missing key. */
function nearestOf(missing: string, names: readonly string[]): string | undefined {
  const state = Object.create(null) as Record<string, string>;
  for (const name of names) {
    state[name] = '';
  }
  try {
    new Template(`{${missing}}`).render({ state });
  } catch (error) {
    if (isStatepadError(error)) {
      return error.missing?.[0]?.nearest;
    }
    throw error;
  }
  return undefined;
}
