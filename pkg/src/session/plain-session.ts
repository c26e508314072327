// A session as plain data.

import { checkObject } from '../checks/arguments.js';
import { withoutTemp } from '../model/scope.js';
import type { Session } from '../model/types.js';

/**
 * What a session shows now as a plain, frozen object, without `temp:` keys. A handle computes its members, and is
 * brought up to date by appending through it; what crosses from a server component of React to a client component must
 * be a plain object, and stays as it is. It names the session in requests as the handle does.
 *
 * Throws `INVALID_ARGUMENT` for what is no object.
 *
 * @example
 * const session = await service.getSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' });
 * return <Lesson initial={session && plainSession(session)} />;
 */
export function plainSession(session: Session): Session {
  checkObject(session, 'session');
  const { id, appName, userId, state, events, lastUpdateTime, revision } = session;
  return Object.freeze({
    id,
    appName,
    userId,
    state: Object.freeze(withoutTemp(state)),
    events,
    lastUpdateTime,
    revision,
  });
}
