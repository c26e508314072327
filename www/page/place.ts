// The address names the session that is looked at, so that it is the same after a reload and in another tab.

import type { Session, SessionKey } from 'statepad';

/** The session that the address names, if it names one. */
export function placeFrom(hash: string): SessionKey | undefined {
  const parts = hash.replace(/^#\/?/, '').split('/');
  if (parts.length !== 3) {
    return undefined;
  }
  try {
    const [appName = '', userId = '', sessionId = ''] = parts.map(decodeURIComponent);
    return { appName, userId, sessionId };
  } catch {
    return undefined;
  }
}

/** The address of a session. */
export function hashOf({ appName, userId, id }: Session): string {
  return `#/${[appName, userId, id].map(encodeURIComponent).join('/')}`;
}
