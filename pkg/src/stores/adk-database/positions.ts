// Positions of scopes, which the tables do not have: a number of this store for each version of a row that it has
// seen.

import type { ScopeName } from '../../store/contract.js';

/** The number of scopes that are remembered, and of versions of each. */
const SCOPES = 10_000;
const VERSIONS = 16;

/** A row as a statement has seen it: which version, if there is one, and whether its state is empty. */
export type RowVersion = readonly [version: string | null, isEmpty: boolean];

/** The versions of one scope that were seen. */
interface Scope {
  /** The highest number. */
  top: number;
  /** Numbers by versions, in the order in which they were first seen. */
  readonly numbers: Map<string, number>;
}

/**
 * Numbers versions of rows. Two versions never have the same number, and the one that a change has made is the next
 * after the one that it was made from: so a service that knows the values before it knows those after it.
 */
export class Positions {
  readonly #scopes = new Map<string, Scope>();
  /** No number of a scope that was forgotten is higher. */
  #forgotten = 0;

  /** The number of a version that was seen. 0 is a scope in which nothing ever was, as far as this store knows. */
  of(name: ScopeName, [version, isEmpty]: RowVersion): number {
    const scope = this.#scopeOf(name);
    const known = scope.numbers.get(version ?? '');
    if (known !== undefined) {
      return known;
    }
    const isUntouched = isEmpty && scope.numbers.size === 0 && this.#forgotten === 0;
    // 1 is what an untouched scope comes to by one change.
    return this.#add(scope, version, isUntouched ? 0 : Math.max(scope.top, 1) + 1);
  }

  /** The number of a version that a change has made of one that was seen. */
  moved(name: ScopeName, before: RowVersion, version: string): number {
    this.of(name, before);
    const scope = this.#scopeOf(name);
    return scope.numbers.get(version) ?? this.#add(scope, version, scope.top + 1);
  }

  /** True if a version has a number, or nothing else of its scope was seen since `top` was read. */
  isTimely(name: ScopeName, [version]: RowVersion, top: number): boolean {
    const scope = this.#scopes.get(keyOf(name));
    return scope === undefined || scope.numbers.has(version ?? '') || scope.top === top;
  }

  /** The highest number of a scope so far. */
  top(name: ScopeName): number {
    return this.#scopes.get(keyOf(name))?.top ?? 0;
  }

  /** The version that a number stands for, while it is remembered. */
  versionAt(name: ScopeName, number: number | undefined): string | undefined {
    for (const [version, each] of this.#scopes.get(keyOf(name))?.numbers ?? []) {
      if (each === number) {
        return version;
      }
    }
    return undefined;
  }

  #scopeOf(name: ScopeName): Scope {
    const key = keyOf(name);
    const scope = this.#scopes.get(key) ?? { top: 0, numbers: new Map<string, number>() };
    // Those that were used last are remembered.
    this.#scopes.delete(key);
    this.#scopes.set(key, scope);
    if (scope.numbers.size === 0) {
      scope.top = this.#forgotten;
    }
    const [oldest] = this.#scopes;
    if (this.#scopes.size > SCOPES && oldest !== undefined) {
      this.#scopes.delete(oldest[0]);
      this.#forgotten = Math.max(this.#forgotten, oldest[1].top);
    }
    return scope;
  }

  #add(scope: Scope, version: string | null, number: number): number {
    scope.numbers.set(version ?? '', number);
    scope.top = Math.max(scope.top, number);
    const [oldest] = scope.numbers.keys();
    if (scope.numbers.size > VERSIONS && oldest !== undefined) {
      scope.numbers.delete(oldest);
    }
    return number;
  }
}

function keyOf({ app, user }: ScopeName): string {
  return JSON.stringify([app, user]);
}
