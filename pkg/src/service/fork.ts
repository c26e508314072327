// A new session that goes on from a moment of another one. Loaded at the first call that needs it.

import { admitDelta } from '../input/admit.js';
import { admitEvent } from '../input/event-draft.js';
import { sessionIdFrom } from '../backend/backend.js';
import { ownMetadata, ownPart } from '../session/own-part.js';
import { currentLog } from './current-log.js';
import { checkKeepsRevisions } from './revisions.js';
import { checkRevision, stateAt } from '../session/history.js';
import { isStatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import type { ServiceParts } from './current-log.js';
import type { Event, EventInit, Session, SessionKey, SessionName } from '../model/types.js';
import type { ForkOptions } from '../model/rewind.js';

/** See `SessionService.fork`. */
export async function fork(parts: ServiceParts, source: SessionName, options: ForkOptions): Promise<Session> {
  const { sessions, now } = parts;
  const { signal } = options;
  checkKeepsRevisions(sessions, 'a session cannot be forked');
  const { appName, userId, id } = source;
  const { id: sessionId, isNew } = sessionIdFrom(options.sessionId);
  const view = await currentLog(parts, source, signal);
  const revision = options.at ?? view.revision;
  checkRevision(view, revision, 'at');
  const state = admitDelta(ownPart(stateAt(view, 0)), 'state');
  const events = view.record.events.slice(0, revision);

  const key = { appName, userId, sessionId };
  let session: Session;
  try {
    session = await sessions.create({ key, state }, signal);
  } catch (error) {
    if (isNew && isStatepadError(error) && error.code === 'COMMIT_UNKNOWN') {
      await removeQuietly(parts, key);
    }
    throw error;
  }
  const append = async (event: EventInit): Promise<void> => {
    const draft = admitEvent(event, now, { anyName: true });
    await sessions.append({ session, draft, expectedRevision: undefined }, signal);
  };
  try {
    for (const event of events) {
      signal?.throwIfAborted();
      await append(ownEvent(event));
    }
    const statepad = { forkedFrom: { sessionId: id, revision } };
    await append({ author: 'system', invocationId: newId(), customMetadata: { statepad } });
    return session;
  } catch (error) {
    await removeQuietly(parts, key);
    throw error;
  }
}

/** What a fork that has failed leaves behind is deleted, if that can be done now. */
async function removeQuietly({ sessions }: ServiceParts, key: SessionKey): Promise<void> {
  try {
    await sessions.remove(key);
  } catch {
    // The caller is told why the fork has failed.
  }
}

/** An event without what it wrote to the app and the user: that is written already. */
function ownEvent(event: Event): EventInit {
  const { actions, customMetadata, ...rest } = event;
  const metadata = ownMetadata(customMetadata);
  return {
    ...rest,
    ...(metadata !== undefined && { customMetadata: metadata }),
    actions: { ...actions, stateDelta: ownPart((actions as Partial<Event['actions']> | undefined)?.stateDelta ?? {}) },
  };
}
