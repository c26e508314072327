// The current log of a session in full, for the operations that look back.

import { notFound } from '../session/append.js';
import { checkKey } from '../input/requests.js';
import type { SessionBackend } from '../backend/backend.js';
import type { Limits } from '../model/limits.js';
import type { View } from '../session/handle.js';
import type { LeaseHold } from '../lease/lease-hold.js';
import type { SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The components of a service, for operations with a file of their own. */
export interface ServiceComponents {
  readonly sessions: SessionBackend;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The option `ttl` of the service. */
  readonly ttl: number | undefined;
  readonly limits: Limits;
}

/** The same for a request that names a session. */
export interface RequestComponents extends ServiceComponents {
  /** The lease of the handle at the time of the request. */
  readonly lease: LeaseHold | undefined;
}

/**
 * The current session with its creation and all its events, whatever its handle shows. Throws `SESSION_NOT_FOUND`:
 * also for a handle of a session that was deleted and created anew.
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
