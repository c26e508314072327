// The whole log of a session over a store: loaded when somebody asks for its past.

import { missing } from '../../session/append.js';
import { parseCreation, type CreationEvent } from '../../session/creation.js';
import { stateOf, type SessionRecord, type View } from '../../session/handle.js';
import { checkKey } from '../../input/requests.js';
import { ALL } from './event-range.js';
import type { SessionName } from '../backend.js';
import type { StoredSessions } from './store-backend.js';
import type { Signal } from '../../async/abort.js';

/** What a handle shows, or a session as it is now: with its creation and all events in memory. Throws `SESSION_NOT_FOUND`. */
export async function wholeLog(sessions: StoredSessions, session: SessionName, signal: Signal | undefined): Promise<View> {
  const { appName, userId, id: sessionId } = session;
  const { cache } = sessions;
  const view = cache.view(session) ?? cache.view(await sessions.get(checkKey({ appName, userId, sessionId }), undefined, signal));
  if (view === undefined) {
    return missing({ appName, userId, sessionId });
  }
  const { key, created, base } = view.record;
  if (base > 0) {
    const hold = (loaded: SessionRecord): SessionRecord => cache.hold(loaded);
    const record = (await sessions.load(key, ALL, hold, { signal, idle: view.record })) ?? missing(key);
    cache.release(record);
    if (record.created !== created) {
      missing(key);
    }
    const isOther = cache.isOther(view, record);
    cache.join(view, record);
    cache.rebind(view, record);
    if (isOther) {
      // There is no other past to tell than that of the log that the store has.
      cache.refresh(view);
    }
  }
  // As it is now: an append through the handle may lead that to a session whose log is not all here.
  const shown = { ...view, state: (view.state ??= stateOf(view)) };
  shown.record.creation ??= await creationOf(sessions, shown.record, signal);
  return shown;
}

/** What a session began with, as its store has it. */
async function creationOf(sessions: StoredSessions, record: SessionRecord, signal: Signal | undefined): Promise<CreationEvent | 'unknown'> {
  const { key, created } = record;
  const query = { events: { from: 0, to: 0 }, known: sessions.cache.known(key, record) };
  const loaded = await sessions.connection.ask(async (store, context) => await store.load(key, query, context), signal);
  return loaded?.created === created ? parseCreation(loaded.events[0]) : missing(key);
}
