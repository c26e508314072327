// The app, the user and the session of a change, as they are after the changes before it.

import { checkFence } from '../../store/lease.js';
import { scopeTitle, sessionTitle, wrongRevision, wrongState } from '../../store/refusals.js';
import { resolveChange, type ResolvedChange } from '../shared/operators.js';
import { parseValue } from '../shared/values.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import { HeldScope } from './scope.js';
import { HeldValues } from './values.js';
import type { EventRow, SessionRow } from './rows.js';
import type { Change, Committed, Pos, ScopedValues } from '../../store/contract.js';

/** A session, or the place of one that is not there yet. */
export interface Place {
  row: SessionRow | undefined;
  hasMoved: boolean;
  readonly values: HeldValues;
  /** The id of its last event. */
  last: string | undefined;
  /** What is stored under the ids of the events to be appended. */
  readonly events: Map<string, Pick<EventRow, 'data' | 'results'>>;
  readonly added: EventRow[];
}

/** The app, the user and the session of a change. */
export interface Target {
  readonly app: HeldScope;
  readonly user: HeldScope | undefined;
  readonly place: Place | undefined;
}

/** Throws `fenced` or `conflict` when the guard of a change does not hold. */
export function checkGuard({ app, user, place }: Target, change: Change): void {
  const { fence, rev, pos, keys } = change.guard ?? {};
  checkFence(place?.row?.fence ?? 0, fence);
  const actual = place?.row?.rev ?? 0;
  if (rev !== undefined && rev !== actual) {
    throw wrongRevision(change, actual);
  }
  const now = posOf(app, user);
  const hasMoved = (pos?.app ?? now.app) !== now.app || (pos?.user ?? now.user) !== now.user;
  const nothing = new HeldValues();
  const parts = [
    [app.values, keys?.app],
    [user?.values ?? nothing, keys?.user],
    [place?.values ?? nothing, keys?.session],
  ] as const;
  if (hasMoved || !parts.every(([values, expected]) => values.holds(expected ?? {}))) {
    throw wrongState();
  }
}

/** What the operators of a change come to now. Throws when one does not fit, or `corrupt`. */
export function resolveNow({ app, user, place }: Target, change: Change): ResolvedChange {
  return resolveChange(change, (scope, name) => {
    const held = scope === 'session' ? place : scope === 'user' ? user : app;
    const text = held?.values.textOf(name);
    return text === undefined ? undefined : parseValue(name, text, titleOf(change, scope));
  });
}

function titleOf({ key: { appName: app, userId: user, sessionId } }: Change, scope: keyof ScopedValues): string {
  return scope === 'session'
    ? sessionTitle({ ...(sessionId !== undefined && { sessionId }) })
    : scopeTitle({ app, ...(scope === 'user' && user !== undefined && { user }) });
}

/** The revision and the positions of now. */
export function placeNow({ app, user, place }: Target): Pick<Committed, 'rev' | 'prev' | 'pos'> {
  const rev = place?.row?.rev ?? 0;
  return { rev, prev: rev, pos: posOf(app, user) };
}

function posOf(app: HeldScope, user: HeldScope | undefined): Pos {
  return { app: app.pos, user: user?.pos ?? 0 };
}

/** The marks and the last event of now. */
export function beforeNow({ app, user, place }: Target): NonNullable<Committed['before']> {
  return beforeOf(app.mark, user?.mark, place?.last);
}

/** What others have done to the scopes since the caller's positions, as far as it can be told. */
export function changedFor(
  { known: { pos = {}, marks = {} } = {} }: Change,
  target: Target,
): Pick<Committed, 'changed'> {
  const app = target.app.changedSince({ pos: pos.app, mark: marks.app });
  const user = target.user?.changedSince({ pos: pos.user, mark: marks.user });
  return changedOf(app, user);
}
