// Appending an event to a session.

import { checkRequired } from './wire/bodies.js';
import { readMessage } from './wire/message.js';
import { FURTHER_FIELDS } from './leniencies.js';
import { receivedEvent } from './event-from.js';
import { findKey } from './owner.js';
import type { EngineCall } from './call.js';

/** Appends an event. A marker of a rewind becomes one, whatever delta it has. */
export async function appendEvent(call: EngineCall): Promise<object> {
  const { access, rights, service, target } = call;
  const message = readMessage('SessionEvent', call.body, 'event', target.version, FURTHER_FIELDS);
  checkRequired(message, 'event', { author: 'author', invocationId: 'invocation_id', timestamp: 'timestamp' });
  const { event, keys, before, isPartial } = receivedEvent(message);
  rights.checkKeys(keys);
  const { appName, userId, sessionId } = await findKey(call);
  rights.checkWrite({ appName, userId, sessionId });
  const session = { appName, userId, id: sessionId };
  if (before !== undefined) {
    await access.rewind(session, { before, marker: event });
  } else if (!isPartial) {
    const log = await service.logWriter({});
    await log.append(session, event);
  }
  return {};
}
