// Where the shared scopes in memory are, as their store counts, and how they go on after a change of our own.

import { OUT } from '../../session/handle.js';
import { afterCommit, type At, type OwnStep, type SharedPart } from './following.js';
import { APP_PREFIX, USER_PREFIX } from '../../model/scope.js';
import type { Ticket } from '../../session/registry.js';
import type { Change, Committed, Known } from '../../store/contract.js';

/** One of {@link SHARED}. */
export type Shared = (typeof SHARED)[number];

/** The scopes that sessions share: the bit in a ticket, the place in a record. */
export const SHARED = [
  { part: 'app', bit: 2, place: 1, prefix: APP_PREFIX },
  { part: 'user', bit: 4, place: 2, prefix: USER_PREFIX },
] as const;

/** What names an app, or a user in it. */
export interface ScopeKey {
  readonly appName: string;
  readonly userId: string | undefined;
}

/** A change on its way, and what was known in memory when it was sent. */
export interface Sent {
  readonly change: Change;
  readonly known: Known;
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

  /** How the shared scopes in memory go on after a change; `undefined` when one of them has to be loaded. */
  steps(scopes: readonly number[], ticket: Ticket, { change, known }: Sent, { pos, before, changed }: Committed): Steps | undefined {
    const steps: Partial<Record<SharedPart, OwnStep>> = {};
    for (const { part, bit, place } of SHARED) {
      const scope = scopes[place] as number;
      const own = ticket & bit ? markOf(change) : undefined;
      const moved = {
        before: { pos: pos[part] - (own === undefined ? 0 : 1), mark: before?.[part] },
        own,
        hasChanged: changed?.[part] !== undefined,
      };
      steps[part] = scope === OUT ? 'own' : afterCommit(this.#at[scope], sentOf(known, part), moved);
    }
    const forgotten = SHARED.filter(({ part }) => steps[part] === 'forget');
    forgotten.forEach(({ place }) => this.forget(scopes[place] as number));
    return forgotten.length > 0 ? undefined : (steps as Steps);
  }

  /** After a change was taken over: the scopes are where the store says. */
  moved(scopes: readonly number[], ticket: Ticket, steps: Steps, { change }: Sent, { pos, before }: Committed): void {
    for (const { part, bit, place } of SHARED) {
      const scope = scopes[place] as number;
      if (scope !== OUT && steps[part] !== 'keep') {
        const here = this.#at[scope];
        const unmoved = before?.[part] ?? (here?.pos === pos[part] ? here.mark : undefined);
        this.#at[scope] = { pos: pos[part], mark: ticket & bit ? markOf(change) : unmoved };
      }
    }
  }
}

/** The parts of a change that memory does not have yet. */
export function partsOf(steps: Steps, ticket: Ticket): number {
  return SHARED.reduce((bits, { part, bit }) => bits | (ticket & bit && steps[part] !== 'keep' ? bit : 0), 0);
}

/** Where an app is and a user in it, as a store is told. */
export function knownOf(app: At | undefined, user: At | undefined): Required<Pick<Known, 'pos' | 'marks'>> {
  return {
    pos: { ...(app && { app: app.pos }), ...(user && { user: user.pos }) },
    marks: { ...(app?.mark === undefined ? {} : { app: app.mark }), ...(user?.mark === undefined ? {} : { user: user.mark }) },
  };
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
