// Parts of answers that have members only for what is known.

import type { Changed, Committed, Delta, Marks } from '../../store/contract.js';

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

/** What has happened to the scopes, as far as it can be told; no member when nothing can. */
export function changedOf(app: Delta | undefined, user: Delta | undefined): { readonly changed?: Changed } {
  return app === undefined && user === undefined ? {} : { changed: { ...(app && { app }), ...(user && { user }) } };
}
