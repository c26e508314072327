// The cached values that sessions share: an app's and a user's, each at a position of its store.

import { afterLoad, type ScopePosition, type SharedScope } from './continuity.js';
import {
  Positions,
  SHARED,
  knownOf,
  sentOf,
  type KnownPositions,
  type SentChange,
  type SharedScopeEntry,
  type Steps,
} from './positions.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { newId } from '../../../model/ids.js';
import { deepFreeze } from '../../../model/json.js';
import { underKeys } from '../../../model/scope.js';
import type { KeyedDelta, ScopeKey, SessionScopes } from '../../../engine/sessions.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { Committed, Delta, Known, Loaded, Values } from '../../../store/contract.js';

/** The values lie in the registry, the positions here. */
export class SharedScopes {
  readonly #registry: SessionRegistry;
  readonly #positions = new Positions();

  constructor(registry: SessionRegistry) {
    this.#registry = registry;
  }

  /** Whether it is known where the scopes of a session are. */
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

  /** The numbers of an app's number and a user's in it, in the places that they have for a session. */
  scopesOf({ appName, userId }: ScopeKey): SessionScopes {
    const app = this.#registry.engine.scopeOf(appName);
    const user = userId === undefined ? undefined : this.#registry.engine.scopeOf(appName, userId);
    return [NOT_LOADED, app ?? NOT_LOADED, user ?? NOT_LOADED];
  }

  /**
   * Merges what a store has answered when it was answer what is `known`. Whether the values of both scopes are here now.
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
    switch (afterLoad(now, sentOf(known, scope), answer)) {
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

  /** How the scopes go on after a change; `undefined` when one of them has to be loaded. */
  steps(scopes: SessionScopes, sent: SentChange, committed: Committed): Steps | undefined {
    return this.#positions.steps(scopes, sent, committed);
  }

  /** Before a change is applied: what others have done to the scopes since they were loaded. */
  applyConcurrent(key: ScopeKey, steps: Steps, { changed }: Committed): void {
    for (const { scope, prefix } of SHARED) {
      if (steps[scope] === 'add') {
        this.#applyDelta(key, scope, prefix, changed?.[scope] as Delta);
      }
    }
  }

  /** After a change was applied: the scopes are where the store says. */
  advance(scopes: SessionScopes, steps: Steps, sent: SentChange, committed: Committed): void {
    this.#positions.advance(scopes, steps, sent, committed);
  }

  /** It is not known any more where an app, or a user in it, is: they are loaded before they are used. */
  invalidate(key: ScopeKey): void {
    this.scopesOf(key).forEach((number) => {
      if (number !== NOT_LOADED) {
        this.#positions.invalidate(number);
      }
    });
  }

  /** A number is not cached any more. */
  evicted(number: number): void {
    this.#positions.invalidate(number);
  }

  /** Applies what others have done to a number. What is deleted and written again goes to the end. */
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
