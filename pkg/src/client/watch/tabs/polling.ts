// Watching without an open connection, for tabs that cannot share one: over HTTP/1.1, six of those block all other
// requests of the origin.

import { defined } from '../../../model/defined.js';
import { sleep } from '../../../async/sleep.js';
import { isStatepadError, StatepadError } from '../../../model/errors.js';
import { sameJson } from '../../../model/json.js';
import type { GetSessionConfig, Session, SessionKey } from '../../../model/types.js';
import type { SessionSource, WholeSessionChange, WholeWatchOptions } from '../../../model/watch.js';

/** The interval between reads of a session, in milliseconds. */
const POLL_MS = 2_000;

/** Reads a session periodically, and yields it whole whenever it has changed. */
export async function* polled(
  source: SessionSource,
  key: SessionKey,
  { signal, poll = POLL_MS }: WholeWatchOptions,
): AsyncGenerator<WholeSessionChange, undefined, undefined> {
  const read = async (config: GetSessionConfig): Promise<Session | undefined> =>
    await source.getSession({ ...key, config, ...defined({ signal }) });
  const first = await read({});
  if (first === undefined) {
    throw new StatepadError('SESSION_NOT_FOUND', `session "${key.sessionId}" was not found`, { id: key.sessionId });
  }
  let last = first;
  yield changeOf(last);
  for (;;) {
    await sleep(poll, signal);
    const before = last;
    const session = await current(before, read).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (isStatepadError(error) && error.code === 'STORE_UNAVAILABLE') {
        return before;
      }
      throw error;
    });
    if (session === undefined) {
      yield { type: 'deleted' };
      return undefined;
    }
    if (session !== before) {
      last = session;
      yield changeOf(last);
    }
  }
}

/**
 * The current session, or the one before if nothing has changed. Its events are read only when there are new ones.
 */
async function current(
  before: Session,
  read: (config: GetSessionConfig) => Promise<Session | undefined>,
): Promise<Session | undefined> {
  const session = await read({ numRecentEvents: 0 });
  if (session === undefined) {
    return undefined;
  }
  if (session.revision !== before.revision || session.lastUpdateTime !== before.lastUpdateTime) {
    return await read({});
  }
  return sameJson(session.state, before.state) ? before : Object.freeze({ ...session, events: before.events });
}

/** The positions of the values are unknown here: each change has the whole session. */
function changeOf(session: Session): WholeSessionChange {
  return { type: 'session', session, place: { revision: session.revision, user: 0, app: 0 } };
}
