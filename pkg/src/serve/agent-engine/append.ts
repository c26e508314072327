// Appending an event to a session.

import { checkRequired } from './wire/bodies.js';
import { readMessage } from './wire/message.js';
import { FURTHER_FIELDS, FURTHER_FIELDS_BESIDE_RAW } from './leniencies.js';
import { receivedEvent } from './event-from.js';
import { membersOf } from '../../api-event/members.js';
import { findKey } from './owner.js';
import { rewoundBy } from '../markers.js';
import { isObject } from '../../model/value-types.js';
import type { EngineCall } from './call.js';

/** Appends an event. A marker of a rewind becomes one, whatever delta it has. */
export async function appendEvent(call: EngineCall): Promise<object> {
  const { access, rights, service, target } = call;
  const further = hasRaw(call.body) ? FURTHER_FIELDS_BESIDE_RAW : FURTHER_FIELDS;
  const message = readMessage('SessionEvent', call.body, 'event', target.version, further);
  checkRequired(message, 'event', { author: 'author', invocationId: 'invocation_id', timestamp: 'timestamp' });
  const { event, keys, isPartial } = receivedEvent(message);
  rights.checkKeys(keys);
  const { appName, userId, sessionId } = await findKey(call);
  rights.checkWrite({ appName, userId, sessionId });
  const session = { appName, userId, id: sessionId };
  const before = rewoundBy(event);
  if (before !== undefined) {
    await access.rewind(session, { before, marker: event });
  } else if (!isPartial) {
    const log = await service.logWriter({});
    await log.append(session, event);
  }
  return {};
}

/** True for a body with a whole event, under either name of the field. */
function hasRaw(body: unknown): boolean {
  const { rawEvent, raw_event: rawInSnakeCase } = membersOf(body);
  return isObject(rawEvent ?? rawInSnakeCase);
}
