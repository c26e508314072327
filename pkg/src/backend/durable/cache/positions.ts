// Where the cached shared scopes are, as their store counts, and how they go on after a change of this service.

import { NOT_LOADED } from '../../../session/record.js';
import { afterCommit, type At, type OwnStep, type SharedPart } from './continuity.js';
import { APP_PREFIX, USER_PREFIX } from '../../../model/scope.js';
import type { PreparedChange, ScopeSet, SessionScopes } from '../../../engine/sessions.js';
import type { Change, Committed, Known } from '../../../store/contract.js';

/** One of {@link SHARED}. */
export type Shared = (typeof SHARED)[number];

/** The scopes that sessions share: the index in {@link SessionScopes}, and the prefix of keys. */
export const SHARED = [
  { part: 'app', index: 1, prefix: APP_PREFIX },
  { part: 'user', index: 2, prefix: USER_PREFIX },
] as const;

/** A change on its way to a store. */
export interface SentChange {
  readonly change: Change;
  /** What the core has prepared of it. */
  readonly prepared: PreparedChange;
  /** What was known when it was sent. */
  readonly known: Known;
}

/** What a store is told of the shared scopes. */
export type KnownScopes = Required<Pick<Known, 'pos' | 'marks'>>;

/** A position and its mark, where that is known. */
interface Place {
  readonly pos: number;
  readonly mark?: string | undefined;
}

/** How each of the scopes goes on. */
export type Steps = Readonly<Record<SharedPart, OwnStep>>;

/** By the number of a scope in the core: where its values are. Absent: they may be anywhere, and have to be loaded. */
export class Positions {
  readonly #at: (At | undefined)[] = [];

  get(scope: number): At | undefined {
    return this.#at[scope];
  }

  set(scope: number, at: At): void {
    this.#at[scope] = at;
  }

  forget(scope: number): void {
    this.#at[scope] = undefined;
  }

  /** How the cached shared scopes go on after a change; `undefined` when one of them has to be loaded. */
  steps(scopes: SessionScopes, sent: SentChange, { pos, before, changed }: Committed): Steps | undefined {
    const { change, prepared, known } = sent;
    const steps: Partial<Record<SharedPart, OwnStep>> = {};
    for (const { part, index } of SHARED) {
      const scope = scopes[index];
      const own = prepared.scopes[part] ? markOf(change) : undefined;
      const moved = {
        before: { pos: pos[part] - (own === undefined ? 0 : 1), mark: before?.[part] },
        own,
        hasChanged: changed?.[part] !== undefined,
      };
      steps[part] = scope === NOT_LOADED ? 'own' : afterCommit(this.#at[scope], sentOf(known, part), moved);
    }
    const forgotten = SHARED.filter(({ part }) => steps[part] === 'forget');
    forgotten.forEach(({ index }) => this.forget(scopes[index]));
    return forgotten.length > 0 ? undefined : (steps as Steps);
  }

  /** After a change was applied: the scopes are where the store says. */
  moved(scopes: SessionScopes, steps: Steps, { change, prepared }: SentChange, { pos, before }: Committed): void {
    for (const { part, index } of SHARED) {
      const scope = scopes[index];
      if (scope !== NOT_LOADED && steps[part] !== 'keep') {
        const here = this.#at[scope];
        const unmoved = before?.[part] ?? (here?.pos === pos[part] ? here.mark : undefined);
        this.#at[scope] = { pos: pos[part], mark: prepared.scopes[part] ? markOf(change) : unmoved };
      }
    }
  }
}

/** The parts of a change that are not cached yet. `session`: whether its event is one of them. */
export function newParts(steps: Steps, { prepared: { scopes } }: SentChange, session: boolean): ScopeSet {
  return { session, app: scopes.app && steps.app !== 'keep', user: scopes.user && steps.user !== 'keep' };
}

/** Where an app is and a user in it, as a store is told. */
export function knownOf(app: Place | undefined, user: Place | undefined): KnownScopes {
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

/** Where a scope was when a store was asked. */
export function sentOf({ pos, marks }: Known, part: SharedPart): At | undefined {
  const known = pos?.[part];
  return known === undefined ? undefined : { pos: known, mark: marks?.[part] };
}

/** The mark that a change leaves where it moves a scope. */
function markOf({ call, id }: Change): string {
  return call ?? id;
}
