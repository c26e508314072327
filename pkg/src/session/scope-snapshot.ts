// The values of scopes as handles show them: shared by all handles of a version, and read when first looked at.

import { deepFreeze } from '../model/json.js';
import type { SessionScopes } from '../engine/sessions.js';
import type { Json } from '../model/types.js';

/** What tells the values of a scope as JSON text: the core. */
export interface ScopeSource {
  scopeText(scope: number, fullKeys: boolean): string;
}

const NO_SOURCE: ScopeSource = { scopeText: () => '{}' };

/** The values of one scope at one version, parsed when first looked at. */
export class ScopeSnapshot {
  /** How many handles show this version. One that was thrown away counts until the scope moves: that is harmless. */
  holders = 0;
  #record: Readonly<Record<string, Json>> | undefined;
  /** What {@link ScopeSnapshot.keep} has kept, or why it could not. */
  #text: string | undefined;
  #failure: { readonly cause: unknown } | undefined;
  /** How often the scope had moved. */
  version: number;
  readonly #source: ScopeSource;
  readonly #scope: number;

  constructor(source: ScopeSource, scope: number, version: number) {
    this.#source = source;
    this.#scope = scope;
    this.version = version;
  }

  /** A snapshot of values that stay as they are. */
  static of(values: Readonly<Record<string, Json>>): ScopeSnapshot {
    const snapshot = new ScopeSnapshot(NO_SOURCE, 0, 0);
    snapshot.#record = values;
    return snapshot;
  }

  /** The values under their full keys. */
  record(): Readonly<Record<string, Json>> {
    if (this.#failure !== undefined) {
      throw this.#failure.cause;
    }
    if (this.#record === undefined) {
      const text = this.#text ?? this.#source.scopeText(this.#scope, true);
      this.#record = deepFreeze(JSON.parse(text) as Record<string, Json>);
      this.#text = undefined;
    }
    return this.#record;
  }

  /** Shows the next version: for a single holder, which moves with the scope. */
  moveOn(): void {
    this.version += 1;
    this.#record = undefined;
    this.#text = undefined;
  }

  /**
   * Keeps this version for its holders, before the scope moves. Where the core has no memory to tell it, reading the
   * values throws that error: a full memory must not keep a session from being deleted.
   */
  keep(): void {
    if (this.#record === undefined && this.#text === undefined && this.holders > 0) {
      try {
        this.#text = this.#source.scopeText(this.#scope, true);
      } catch (cause) {
        this.#failure = { cause };
      }
    }
  }
}

/** The snapshots of a session's own scope, its app's and its user's. */
export type SessionSnapshots = [ScopeSnapshot, ScopeSnapshot, ScopeSnapshot];

/** The current snapshot of each scope. */
export class ScopeSnapshots {
  readonly #source: ScopeSource;
  /** By the scope's number. */
  readonly #current: (ScopeSnapshot | undefined)[] = [];
  /** By the scope's number: how often it has moved. */
  readonly #versions: number[] = [];

  constructor(source: ScopeSource) {
    this.#source = source;
  }

  /** The current snapshots, for a new handle. */
  take([own, app, user]: SessionScopes): SessionSnapshots {
    const snapshots: SessionSnapshots = [this.#of(own), this.#of(app), this.#of(user)];
    for (const snapshot of snapshots) {
      snapshot.holders += 1;
    }
    return snapshots;
  }

  /** Puts the current snapshots in the place of those that a handle shows. */
  update(shown: SessionSnapshots, scopes: SessionScopes): void {
    for (let index = 0; index < 3; index++) {
      const current = this.#of(scopes[index] as number);
      const before = shown[index] as ScopeSnapshot;
      if (current !== before) {
        before.holders -= 1;
        current.holders += 1;
        shown[index] = current;
      }
    }
  }

  /**
   * Before the values of a scope move: handles that show them keep them, and the next handle gets the new version.
   * `leaving` is what a handle shows that moves with the scope.
   */
  beforeMove(scope: number, leaving?: ScopeSnapshot): void {
    this.#versions[scope] = (this.#versions[scope] ?? 0) + 1;
    const snapshot = this.#current[scope];
    if (snapshot === undefined) {
      return;
    }
    if (snapshot.holders === (snapshot === leaving ? 1 : 0)) {
      snapshot.moveOn();
    } else {
      snapshot.keep();
      this.#current[scope] = undefined;
    }
  }

  #of(scope: number): ScopeSnapshot {
    return (this.#current[scope] ??= new ScopeSnapshot(this.#source, scope, this.#versions[scope] ?? 0));
  }
}
