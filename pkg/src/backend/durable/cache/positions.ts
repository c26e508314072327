// The positions of the cached shared scopes, as their store counts, and their moves after a change of this service.

import { NOT_LOADED } from '../../../session/record.js';
import { afterCommit, type ScopePosition, type CommitStep } from './continuity.js';
import { APP_PREFIX, USER_PREFIX, type SharedScope } from '../../../model/scope.js';
import type { PreparedChange, ScopeSet, SessionScopes } from '../../../engine/sessions.js';
import type { Change, Committed, Known } from '../../../store/contract.js';

/** One of {@link SHARED}. */
export type SharedScopeEntry = (typeof SHARED)[number];

/** The shared scopes: the index in {@link SessionScopes}, and the prefix of keys. */
export const SHARED = [
  { scope: 'app', index: 1, prefix: APP_PREFIX },
  { scope: 'user', index: 2, prefix: USER_PREFIX },
] as const;

/** A change that was sent to a store. */
export interface SentChange {
  readonly change: Change;
  /** The core's change. */
  readonly prepared: PreparedChange;
  /** The known positions when it was sent. */
  readonly known: Known;
}

/** The shared scopes as a store receives them. */
export type KnownPositions = Required<Pick<Known, 'pos' | 'marks'>>;

/** A position and its mark, where that is known. */
interface MarkedPosition {
  readonly pos: number;
  readonly mark?: string | undefined;
}

/** The action on each of the scopes. */
export type Steps = Readonly<Record<SharedScope, CommitStep>>;

/**
 * The position of each scope, by its number in the core. Without one it is unknown, and the scope has to be loaded.
 */
export class Positions {
  readonly #at: (ScopePosition | undefined)[] = [];

  get(number: number): ScopePosition | undefined {
    return this.#at[number];
  }

  set(number: number, at: ScopePosition): void {
    this.#at[number] = at;
  }

  invalidate(number: number): void {
    this.#at[number] = undefined;
  }

  /** The actions on the cached shared scopes after a change; `undefined` when one of them has to be loaded. */
  steps(scopes: SessionScopes, sentChange: SentChange, { pos, before, changed }: Committed): Steps | undefined {
    const { change, prepared, known } = sentChange;
    const steps: Partial<Record<SharedScope, CommitStep>> = {};
    for (const { scope, index } of SHARED) {
      const number = scopes[index];
      const own = prepared.scopes[scope] ? markOf(change) : undefined;
      const move = {
        before: { pos: pos[scope] - (own === undefined ? 0 : 1), mark: before?.[scope] },
        own,
        hasChanged: changed?.[scope] !== undefined,
      };
      steps[scope] = number === NOT_LOADED ? 'own' : afterCommit(this.#at[number], positionIn(known, scope), move);
    }
    const unknown = SHARED.filter(({ scope }) => steps[scope] === 'reload');
    unknown.forEach(({ index }) => this.invalidate(scopes[index]));
    return unknown.length > 0 ? undefined : (steps as Steps);
  }

  /** Takes over the positions of an answer, after the change was applied. */
  advance(scopes: SessionScopes, steps: Steps, { change, prepared }: SentChange, { pos, before }: Committed): void {
    for (const { scope, index } of SHARED) {
      const number = scopes[index];
      if (number !== NOT_LOADED && steps[scope] !== 'keep') {
        const cached = this.#at[number];
        const unmoved = before?.[scope] ?? (cached?.pos === pos[scope] ? cached.mark : undefined);
        this.#at[number] = { pos: pos[scope], mark: prepared.scopes[scope] ? markOf(change) : unmoved };
      }
    }
  }
}

/** The scopes of a change that the cache does not have yet. `session` says so of its event. */
export function uncachedScopes(steps: Steps, { prepared: { scopes } }: SentChange, session: boolean): ScopeSet {
  return { session, app: scopes.app && steps.app !== 'keep', user: scopes.user && steps.user !== 'keep' };
}

/** The positions of an app and of a user in it, as a store receives them. */
export function knownOf(app: MarkedPosition | undefined, user: MarkedPosition | undefined): KnownPositions {
  const pos: { app?: number; user?: number } = {};
  const marks: { app?: string; user?: string } = {};
  if (app !== undefined) {
    pos.app = app.pos;
    if (app.mark !== undefined) {
      marks.app = app.mark;
    }
  }
  if (user !== undefined) {
    pos.user = user.pos;
    if (user.mark !== undefined) {
      marks.user = user.mark;
    }
  }
  return { pos, marks };
}

/** The position of a scope in a query. */
export function positionIn({ pos, marks }: Known, scope: SharedScope): ScopePosition | undefined {
  const known = pos?.[scope];
  return known === undefined ? undefined : { pos: known, mark: marks?.[scope] };
}

/** The mark that a change leaves where it moves a number. */
function markOf({ call, id }: Change): string {
  return call ?? id;
}
