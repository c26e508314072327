// Events by which an ADK rewinds a session. The delta that such a client computes restores nothing of the session's
// creation: so the event becomes a rewind, which computes the delta from the log.

import { invalid } from '../checks/arguments.js';
import type { ServingAccess } from '../service/serving-access.js';
import type { AppendEventRequest, Event, EventInit, Session } from '../model/types.js';

/** The invocation before which an event rewinds its session; `undefined` for all other events. */
export function rewoundBy({ actions }: EventInit): string | undefined {
  const before = actions?.rewindBeforeInvocationId;
  return typeof before === 'string' && before !== '' ? before : undefined;
}

/**
 * Appends an event through a handle, or rewinds the session by it. Answers the handle, which shows the session after
 * it. Throws as `appendEvent` and `rewind`.
 */
export async function appendOrRewind(
  access: ServingAccess,
  loadHandle: () => Promise<Session>,
  request: AppendEventRequest & { readonly created?: string | undefined },
): Promise<{ readonly event: Event; readonly session: Session }> {
  const before = rewoundBy(request.event);
  if (before === undefined) {
    return await access.append(request);
  }
  if (request.expectedRevision !== undefined) {
    invalid('expectedRevision', 'cannot go together with a rewind, which compares the revision itself');
  }
  const session = await loadHandle();
  const { event } = await access.rewind(session, { before, marker: request.event });
  return { event, session };
}
