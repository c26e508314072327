// The names, keys and times of most cases.

import type { SessionKey } from '../../model/types.js';

export const APP = 'app';
export const USER = 'user';
/** The session of most cases. */
export const KEY: SessionKey = { appName: APP, userId: USER, sessionId: 'session' };
/** The user of most cases, as the key of an update. */
export const HOME = { appName: APP, userId: USER };
/** The time of most changes. */
export const TIME = 1_000;

/** A session of the usual user. */
export function keyOf(sessionId: string, userId = USER, appName = APP): SessionKey {
  return { appName, userId, sessionId };
}
