// Forks: new sessions that continue from a moment of another one. Loaded at the first call.

import { defined } from '../model/defined.js';
import { admitDelta } from '../input/admit.js';
import { admitEvent } from '../input/event-draft.js';
import { sessionIdFrom } from '../input/creation.js';
import { admitEnd } from '../input/expiry.js';
import { sessionMetadata, sessionValues } from '../session/session-scope.js';
import { currentLog } from './current-log.js';
import { checkKeepsCreations, checkKeepsRevisions } from './store-requirements.js';
import { checkRevision, stateAt } from '../session/history.js';
import { newId } from '../model/ids.js';
import type { Once } from '../model/once.js';
import type { ServiceComponents } from './current-log.js';
import type { Event, EventInit, Session, SessionName } from '../model/types.js';
import type { ForkOptions } from '../model/rewind.js';

/** See `SessionService.fork`. `once` is the request that it is for, where that has an identity. */
export async function fork(
  components: ServiceComponents,
  source: SessionName,
  options: ForkOptions,
  once?: Once,
): Promise<Session> {
  const { sessions, now } = components;
  const { at, signal } = options;
  const expires = admitEnd(options, components);
  checkKeepsRevisions(sessions, 'a session cannot be forked');
  checkKeepsCreations(sessions, 'a session cannot be forked');
  const { appName, userId, id } = source;
  const { id: sessionId, isNew } = sessionIdFrom(options.sessionId);
  const view = await currentLog(components, source, signal);
  const revision = at ?? view.revision;
  checkRevision(view, revision, 'at');
  const { created, events } = view.record;
  const log = events.slice(0, view.revision);
  const plan = {
    key: { appName, userId, sessionId },
    isNew,
    once,
    source: { sessionId: id, created, lastAt: (last: number) => log[last - 1]?.id },
    at,
    revision,
    expires,
    state: admitDelta(sessionValues(stateAt(view, 0)), 'state'),
    eventAt: (next: number) => admitEvent(ownEvent(log[next - 1] as Event), now, { anyName: true }),
    lastEvent: (last: number, eventId?: string) => {
      const statepad = { forkedFrom: { sessionId: id, revision: last } };
      const event = { author: 'system', invocationId: newId(), customMetadata: { statepad } };
      return admitEvent({ ...event, ...defined({ id: eventId }) }, now, {});
    },
  };
  return await sessions.fork(plan, signal);
}

/** An event without its writes to the app and the user, which are stored already. */
function ownEvent(event: Event): EventInit {
  const { actions, customMetadata, ...rest } = event;
  const metadata = sessionMetadata(customMetadata);
  return {
    ...rest,
    ...defined({ customMetadata: metadata }),
    actions: {
      ...actions,
      stateDelta: sessionValues((actions as Partial<Event['actions']> | undefined)?.stateDelta ?? {}),
    },
  };
}
