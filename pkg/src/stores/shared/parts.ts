// Parts of answers that have members only for known things.

import { defined } from '../../model/defined.js';
import type { Changed, Committed, Delta, Loaded, Marks, Values } from '../../store/contract.js';

/** The marks that are known. */
export function marksOf(app: string | undefined, user: string | undefined): Marks {
  return beforeOf(app, user, undefined);
}

/** See `Committed.before`. `session` is the id of the last event. */
export function beforeOf(
  app: string | undefined,
  user: string | undefined,
  session: string | undefined,
): NonNullable<Committed['before']> {
  const before: { app?: string; user?: string; session?: string } = {};
  if (app !== undefined) {
    before.app = app;
  }
  if (user !== undefined) {
    before.user = user;
  }
  if (session !== undefined) {
    before.session = session;
  }
  return before;
}

/** The changes of the scopes, as far as they are known; no member when none are. */
export function changedOf(app: Delta | undefined, user: Delta | undefined): { readonly changed?: Changed } {
  return app === undefined && user === undefined ? {} : { changed: defined({ app, user }) };
}

/** The values of a session and its scopes, without those that are not in the answer. */
export function stateOf(
  session: Values | undefined,
  app: Values | undefined,
  user: Values | undefined,
): Loaded['state'] {
  return defined({ session, app, user });
}

/** A session as it was read. */
export interface ReadSession extends Pick<Loaded, 'created' | 'rev' | 'time' | 'pos' | 'events' | 'state'> {
  /** The id of the last event. */
  readonly last: string | undefined;
  /** The marks of the app and the user. */
  readonly marks: readonly [app: string | undefined, user: string | undefined];
  readonly changed: Changed | undefined;
  readonly isDiverged: boolean;
  /** The time at which it expires, if it does. */
  readonly expires?: number | undefined;
}

/** The answer to a load. */
export function loadedOf({ last, marks, changed, isDiverged, expires, ...read }: ReadSession): Loaded {
  return {
    ...read,
    ...defined({ last, marks: marksOf(...marks), changed, expires }),
    ...(isDiverged && { diverged: true }),
  };
}
