// The whole log of a session as it is now, for what goes back in it.

import { notFound } from '../session/append.js';
import { checkKey } from '../input/requests.js';
import type { SessionBackend } from '../backend/backend.js';
import type { View } from '../session/handle.js';
import type { SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** What the operations of a service work with that have a file of their own. */
export interface ServiceComponents {
  readonly sessions: SessionBackend;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The session as it is now, with its creation and all its events, whatever the handle shows that it is named by.
 * Throws `SESSION_NOT_FOUND`: also for a handle of a session that was deleted and created anew.
 */
export async function currentLog(
  { sessions }: ServiceComponents,
  session: SessionName,
  signal: Signal | undefined,
): Promise<View> {
  const { appName, userId, id } = session;
  const { sessionId } = checkKey({ appName, userId, sessionId: id });
  const known = sessions.view(session)?.record;
  const view = known?.deleted === true ? undefined : await sessions.loadHistory({ appName, userId, id }, signal);
  if (view === undefined || (known !== undefined && known.created !== view.record.created)) {
    throw notFound(sessionId);
  }
  return view;
}
