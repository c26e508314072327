// The past over HTTP: states and histories.

import { keyOf, type Calls } from './calls.js';
import { CREATION_HEADER } from './through-handle.js';
import { pathTo, PATHS } from '../http/paths.js';
import { checkRevisionUpTo } from '../input/requests.js';
import { defined } from '../model/defined.js';
import { deepFreeze } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { RemoteView } from './handle.js';
import type { ServerCall } from './transport.js';
import type { Signal } from '../async/abort.js';
import type { DetailedHistory, DetailedState, SharedHistory, SharedKey } from '../model/past.js';
import type { HistoryOptions, SessionName } from '../model/types.js';

/** The state of a session at a revision, up to that of the handle. */
export async function stateAt(
  calls: Calls,
  session: SessionName,
  revision: number,
  signal: Signal | undefined,
): Promise<DetailedState> {
  const view = calls.view(session);
  checkRevisionUpTo(view?.revision ?? Infinity, session.id, revision, 'revision');
  const path = pathTo(PATHS.sessionState, keyOf(session));
  const { state, exact } = (await calls.read<DetailedState>(path, { revision }, signal, creationOf(view))).json;
  return deepFreeze({ state, exact });
}

/** The writes of a key by a session, up to the revision of the handle. */
export async function history(
  calls: Calls,
  session: SessionName,
  key: string,
  { until, last, signal }: HistoryOptions,
): Promise<DetailedHistory> {
  const view = calls.view(session);
  const shown = view?.revision;
  if (until !== undefined) {
    checkRevisionUpTo(shown ?? Infinity, session.id, until, 'until');
  }
  const parameters = defined({ key, until: until ?? shown, last });
  const path = pathTo(PATHS.sessionHistory, keyOf(session));
  const { exact, steps } = (await calls.read<DetailedHistory>(path, parameters, signal, creationOf(view))).json;
  return deepFreeze({ exact, steps });
}

/** The header that keeps a handle to its own session. */
function creationOf(view: RemoteView | undefined): ServerCall['headers'] {
  return { [CREATION_HEADER]: view?.created };
}

/** The writes of an `app:` or `user:` key by any session. */
export async function sharedHistory(
  calls: Calls,
  { appName, userId, key }: SharedKey,
  { until, last, signal }: HistoryOptions,
): Promise<SharedHistory> {
  const path =
    userId === undefined || nameOf(key)[0] === 'app'
      ? pathTo(PATHS.appHistory, { appName })
      : pathTo(PATHS.userHistory, { appName, userId });
  const { exact, steps } = (await calls.read<SharedHistory>(path, { key, until, last }, signal)).json;
  return deepFreeze({ exact, steps });
}
