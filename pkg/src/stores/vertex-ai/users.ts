// The users of an engine: those who have a session, and the one who has the session of an id.

import { namePage, sortedNames } from '../shared/name-page.js';
import { readAll } from './list.js';
import { isSessionId, sessionName } from './names.js';
import { hasEnded, type Sessions } from './sessions.js';
import type { NamePage, NameQuery, StoreContext } from '../../store/contract.js';

/** The user who has the session of an id, if there is one: an engine has each id once. */
export async function ownersOf(
  sessions: Sessions,
  app: string,
  sessionId: string,
  caller: StoreContext,
): Promise<readonly string[]> {
  const engine = sessions.engine(app, caller);
  if (!isSessionId(sessionId)) {
    return [];
  }
  const session = await sessions.api.get({ ...engine, name: sessionName(engine.engine, { sessionId }) });
  return session === undefined || hasEnded(session) ? [] : [session.userId];
}

/** A page of the users. All sessions are read for it: the API lists nothing else. */
export async function listUsers(
  sessions: Sessions,
  app: string,
  query: NameQuery,
  caller: StoreContext,
): Promise<NamePage> {
  const apiSessions = await readAll(sessions, sessions.engine(app, caller), undefined);
  return namePage(sortedNames(apiSessions.map(({ userId }) => userId)), query);
}
