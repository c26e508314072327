// A session as plain data.

import { checkObject } from '../checks/arguments.js';
import { withoutTemp } from '../model/scope.js';
import type { Session } from '../model/types.js';

/**
 * The current content of a session as a plain, frozen object, without `temp:` keys. A handle computes its members, and
 * appending through it updates it; data that crosses from a server component of React to a client component must be a
 * plain object, and does not change. It names the session in requests as the handle does.
 *
 * Throws `INVALID_ARGUMENT` for anything but an object.
 *
 * @example
 * const session = await service.getSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' });
 * return <Lesson initial={session && plainSession(session)} />;
 */
export function plainSession(session: Session): Session {
  checkObject(session, 'session');
  const { id, appName, userId, state, events, lastUpdateTime, revision, expireTime } = session;
  return Object.freeze({
    id,
    appName,
    userId,
    state: Object.freeze(withoutTemp(state)),
    events,
    lastUpdateTime,
    revision,
    ...(expireTime !== undefined && { expireTime }),
  });
}
