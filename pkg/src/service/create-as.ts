// Creations that their maker recognises later, with a first event that comes with them.

import { admitEvent } from '../input/event-draft.js';
import { admitCreation, sessionIdFrom } from '../input/creation.js';
import { checkDeltaSize, checkEventSize } from '../input/sizes.js';
import { newId } from '../model/ids.js';
import type { CreationIdentity } from './serving-access.js';
import type { ServiceComponents } from './current-log.js';
import type { CreateSessionRequest, EventInit, Session } from '../model/types.js';

/** See `ServingAccess.createAs`. */
export async function createAs(
  components: ServiceComponents,
  request: CreateSessionRequest,
  { digest, first }: CreationIdentity,
): Promise<Session> {
  const { sessions, now, limits } = components;
  const creation = admitCreation(request, components);
  const unique = `${digest}-${newId()}`;
  if (first === undefined) {
    return await sessions.create({ ...creation, id: unique }, request.signal);
  }
  if (sessions.lacks?.includes('created') === true) {
    return await inTwoSteps(components, request, first);
  }
  // Forks compare no sizes that are known before: their content is stored already. This one is new.
  checkDeltaSize(limits, creation.state, creation.key, 'state');
  checkEventSize(limits, admitEvent(first, now, {}), creation.key);
  // A session that continues nothing: made as a fork is, it is invisible until its event is there.
  const plan = {
    key: creation.key,
    isNew: sessionIdFrom(request.sessionId).isNew,
    unique,
    source: { sessionId: creation.key.sessionId, created: digest, lastAt: () => undefined },
    at: 0,
    revision: 0,
    state: creation.state,
    expires: creation.expires,
    eventAt: () => admitEvent(first, now, {}),
    lastEvent: (_: number, id = newId()) => admitEvent({ ...first, id }, now, {}),
  };
  return await sessions.fork(plan, request.signal);
}

/** Over a store that names creations itself: nothing could tell that a session is not complete. */
async function inTwoSteps(
  components: ServiceComponents,
  request: CreateSessionRequest,
  first: EventInit,
): Promise<Session> {
  const { sessions, now } = components;
  const session = await sessions.create(admitCreation(request, components), request.signal);
  await sessions.append({ session, draft: admitEvent(first, now, {}), expectedRevision: undefined });
  return session;
}
