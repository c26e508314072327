// Making and reading events, under ADK's names.

import { StatepadError } from '../model/errors.js';
import { describe, isList, isObject } from '../model/value-types.js';
import { newId } from '../model/ids.js';
import { checkObject } from '../checks/arguments.js';
import { ADK_EVENT } from '../model/adk-event.js';
import type { Event, EventActions, EventInit, Part } from '../model/types.js';

/** Makes the actions of an event: missing members are empty. As in ADK. */
export function createEventActions(actions: Partial<EventActions> = {}): EventActions {
  checkObject(actions, 'actions');
  return { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {}, ...actions };
}

/**
 * Makes an event: a missing id is generated (a UUID), a missing timestamp is now, in milliseconds since the epoch.
 * ADK's `isEvent` accepts it.
 */
export function createEvent(event: EventInit = {}): Event {
  checkObject(event, 'event');
  const { id, invocationId, actions, timestamp, ...rest } = event;
  return {
    ...rest,
    [ADK_EVENT]: true,
    id: id === undefined || id === '' ? newId() : id,
    invocationId: invocationId ?? '',
    actions: createEventActions(actions),
    timestamp: timestamp ?? Date.now(),
  } as Event;
}

/**
 * True when an event is the final answer to the user: no function call or response, no piece of a stream, no trailing
 * result of code; or an event that ends the turn by itself (a long running tool, a request for credentials, a skipped
 * summary). As in ADK.
 */
export function isFinalResponse(event: EventInit): boolean {
  checkObject(event, 'event');
  const { longRunningToolIds: ids } = event;
  const { requestedAuthConfigs: requests, skipSummarization }: Partial<EventActions> = isObject(event.actions)
    ? event.actions
    : {};
  const isWaiting = (isList(ids) && ids.length > 0) || (isObject(requests) && Object.keys(requests).length > 0);
  if (isWaiting || skipSummarization === true) {
    return true;
  }
  const parts = partsOf(event);
  const calls = parts.some((part) => Boolean(part.functionCall) || Boolean(part.functionResponse));
  return !calls && !event.partial && parts.at(-1)?.codeExecutionResult === undefined;
}

/** The parts of an event. Throws `INVALID_ARGUMENT` when they are no list of objects. */
export function partsOf({ content }: EventInit): readonly Part[] {
  const parts: unknown = (isObject(content) ? content.parts : undefined) ?? [];
  if (!isList(parts)) {
    throw new StatepadError('INVALID_ARGUMENT', `content.parts must be a list, not ${describe(parts)}`, {
      path: 'content.parts',
    });
  }
  parts.forEach((part, index) => checkObject(part, `content.parts[${index}]`));
  return parts as readonly Part[];
}
