// The full log of a session over a store, for its history.

import { NONE } from '../cache/event-range.js';
import { throwNotFound } from '../../../session/append.js';
import { stateOf, type View } from '../../../session/handle.js';
import { checkKey } from '../../../input/requests.js';
import type { SessionName } from '../../backend.js';
import type { StoreComponents } from './components.js';
import type { Signal } from '../../../async/abort.js';

/** The view of a handle, or of the current session, with the creation and all events. Throws `SESSION_NOT_FOUND`. */
export async function loadFullLog(
  { cache, loader }: Pick<StoreComponents, 'cache' | 'loader'>,
  session: SessionName,
  signal: Signal | undefined,
): Promise<View> {
  const { appName, userId, id: sessionId } = session;
  const { registry } = cache;
  const view =
    registry.view(session) ??
    registry.view(await loader.read(checkKey({ appName, userId, sessionId }), undefined, signal));
  if (view === undefined) {
    return throwNotFound({ appName, userId, sessionId });
  }
  const { key, created, base, expires } = view.record;
  if (expires !== undefined && (await loader.load(key, NONE, (record) => record.created, { signal })) !== created) {
    return throwNotFound(key);
  }
  if (base > 0) {
    const record = (await loader.pinWhole(key, { signal, idle: view.record })) ?? throwNotFound(key);
    cache.unpin(record);
    if (record.created !== created) {
      throwNotFound(key);
    }
    const isOther = cache.showsOtherLog(view, record);
    cache.mergeEventsOf(view, record);
    cache.rebind(view, record);
    if (isOther) {
      // The store's log is the only one whose history is known.
      registry.refresh(view);
    }
  }
  // A copy: an append through the handle may bind the view to a session whose log is not fully loaded.
  const shown = { ...view, state: (view.state ??= stateOf(view)) };
  shown.record.creation ??= await loader.loadCreation(shown.record, signal);
  return shown;
}
