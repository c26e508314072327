// The cached values of shared scopes, an app's and a user's, each at a position of its store.

import { afterLoad, type ScopePosition } from './continuity.js';
import {
  Positions,
  SHARED,
  knownOf,
  positionIn,
  type KnownPositions,
  type SentChange,
  type SharedScopeEntry,
  type Steps,
} from './positions.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { newId } from '../../../model/ids.js';
import { deepFreeze } from '../../../model/json.js';
import { underKeys, type SharedScope } from '../../../model/scope.js';
import type { KeyedDelta, ScopeKey, SessionScopes } from '../../../engine/sessions.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { Committed, Delta, Known, Loaded, Values } from '../../../store/contract.js';

/** The values are in the registry, the positions here. */
export class SharedScopes {
  readonly #registry: SessionRegistry;
  readonly #positions = new Positions();

  constructor(registry: SessionRegistry) {
    this.#registry = registry;
  }

  /** True when the positions of a session's scopes are known. */
  areKnown({ scopes: [, app, user] }: SessionRecord): boolean {
    return this.#positions.get(app) !== undefined && this.#positions.get(user) !== undefined;
  }

  /** The positions of the scopes of a cached session, where they are known. */
  knownPositionsOf({ scopes: [, app, user] }: SessionRecord): KnownPositions {
    return knownOf(this.#positions.get(app), this.#positions.get(user));
  }

  /** The positions of an app, and of a user in it, where they are known. */
  knownPositions({ appName, userId }: ScopeKey): KnownPositions {
    const at = (user?: string): ScopePosition | undefined =>
      this.#positions.get(this.#registry.engine.scopeOf(appName, user) ?? NOT_LOADED);
    return knownOf(at(), userId === undefined ? undefined : at(userId));
  }

  /** The numbers of an app's scope and a user's in it, at their indexes in a session's scopes. */
  scopesOf({ appName, userId }: ScopeKey): SessionScopes {
    const app = this.#registry.engine.scopeOf(appName);
    const user = userId === undefined ? undefined : this.#registry.engine.scopeOf(appName, userId);
    return [NOT_LOADED, app ?? NOT_LOADED, user ?? NOT_LOADED];
  }

  /**
   * Merges an answer to a query with the `known` positions. Returns true if the values of both scopes are cached now.
   */
  mergeLoaded(record: SessionRecord, loaded: Loaded, known: Known): boolean {
    return SHARED.map((entry) => this.#mergeScope(record, entry, loaded, known)).every(Boolean);
  }

  #mergeScope(
    record: SessionRecord,
    { scope, index, prefix }: SharedScopeEntry,
    loaded: Loaded,
    known: Known,
  ): boolean {
    const { pos, marks, state, changed } = loaded;
    const number = record.scopes[index];
    const at: ScopePosition = { pos: pos[scope], mark: marks?.[scope] };
    const values = state[scope];
    const delta = changed?.[scope];
    const now = this.#positions.get(number);
    const answer = { at, hasValues: values !== undefined, hasChanged: delta !== undefined };
    switch (afterLoad(now, positionIn(known, scope), answer)) {
      case 'keep':
        if (now?.pos === at.pos && now.mark === undefined) {
          this.#positions.set(number, at);
        }
        return true;
      case 'add':
        this.#applyDelta(record.key, scope, prefix, delta as Delta);
        break;
      case 'replace':
        this.#registry.replaceScope(number, underKeys(prefix, values as Values));
        break;
      case 'reload':
        this.#positions.invalidate(number);
        return false;
    }
    this.#positions.set(number, at);
    return true;
  }

  /** The actions on the scopes after a change; `undefined` when one of them has to be loaded. */
  steps(scopes: SessionScopes, sentChange: SentChange, committed: Committed): Steps | undefined {
    return this.#positions.steps(scopes, sentChange, committed);
  }

  /** Applies the changes of others since the load, before a change of this service. */
  applyConcurrent(key: ScopeKey, steps: Steps, { changed }: Committed): void {
    for (const { scope, prefix } of SHARED) {
      if (steps[scope] === 'add') {
        this.#applyDelta(key, scope, prefix, changed?.[scope] as Delta);
      }
    }
  }

  /** Takes over the positions of an answer, after the change was applied. */
  advance(scopes: SessionScopes, steps: Steps, sentChange: SentChange, committed: Committed): void {
    this.#positions.advance(scopes, steps, sentChange, committed);
  }

  /** Invalidates the positions of an app, and of a user in it: their values are loaded before their next use. */
  invalidate(key: ScopeKey): void {
    this.scopesOf(key).forEach((number) => {
      if (number !== NOT_LOADED) {
        this.#positions.invalidate(number);
      }
    });
  }

  /** Removes the position of an evicted scope. */
  evicted(number: number): void {
    this.#positions.invalidate(number);
  }

  /** Applies changes of others to a scope. A key that is deleted and written again goes to the end. */
  #applyDelta(
    { appName, userId }: ScopeKey,
    scope: SharedScope,
    prefix: string,
    { set = {}, unset = [] }: Delta,
  ): void {
    const target = { appName, userId: scope === 'user' ? userId : undefined };
    const apply = (written: KeyedDelta): void => {
      const change = this.#registry.engine.prepareUpdate(target, { id: newId(), timestamp: 0, ...written }, {});
      this.#registry.applyUpdate(change);
    };
    if (unset.length > 0) {
      const delta = underKeys(prefix, Object.fromEntries(unset.map((name) => [name, null])));
      apply({ delta, deleted: Object.keys(delta) });
    }
    if (Object.keys(set).length > 0) {
      apply({ delta: deepFreeze(underKeys(prefix, set)), deleted: [] });
    }
  }
}
