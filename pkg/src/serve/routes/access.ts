// The rights that routes take.

import type { Access } from './route.js';
import type { Rights } from '../../http/principal.js';

/**
 * Throws `FORBIDDEN` unless the client has the rights that a route takes, whether its target exists or not. Rights
 * that depend on the body are asked for by the routes.
 */
export function checkAccess(rights: Rights, access: Access, ids: Readonly<Record<string, string>>): void {
  const { appName = '', userId, sessionId } = ids;
  switch (access) {
    case 'anyone':
    case 'client':
      return;
    case 'app':
      rights.checkApp(appName);
      return;
    case 'sessions':
      rights.checkSessions({ appName, userId });
      return;
    case 'creation':
      rights.checkSessions({ appName, userId });
      rights.checkWritesTo('session');
      return;
    default:
      if ('may' in access) {
        rights.checkWork(access.may, ids['appName']);
      } else if ('reads' in access) {
        rights.check({ appName, userId, sessionId });
      } else {
        rights.checkWrite({ appName, userId, sessionId });
      }
  }
}
