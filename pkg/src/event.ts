// Making and reading events, as ADK names it.

import { ADK_EVENT } from './admit.js';
import { newId } from './ids.js';
import type { Event, EventActions, EventInit, Part } from './types.js';

/** Makes the actions of an event: what is missing is empty. As in ADK. */
export function createEventActions(actions: Partial<EventActions> = {}): EventActions {
  return { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {}, ...actions };
}

/**
 * Makes an event: a missing id is generated (a UUID), a missing timestamp is now, in milliseconds since the epoch. As
 * in ADK, whose `isEvent` knows it as one of its own.
 */
export function createEvent(event: EventInit = {}): Event {
  const { id, invocationId, actions, timestamp, ...rest } = event;
  return {
    ...rest,
    [ADK_EVENT]: true,
    id: id || newId(),
    invocationId: invocationId ?? '',
    actions: createEventActions(actions),
    timestamp: timestamp ?? Date.now(),
  } as Event;
}

/**
 * Whether an event is the answer that the user gets: no function call or response, no piece of a stream, no trailing
 * result of code; or one that ends the turn by itself (a long running tool, a request for credentials, a skipped
 * summary). As in ADK.
 */
export function isFinalResponse(event: EventInit): boolean {
  const { actions, longRunningToolIds } = event;
  if (
    actions?.skipSummarization ||
    (longRunningToolIds?.length ?? 0) > 0 ||
    Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0
  ) {
    return true;
  }
  const parts: readonly Part[] = event.content?.parts ?? [];
  const calls = parts.some((part) => part.functionCall || part.functionResponse);
  return !calls && !event.partial && parts.at(-1)?.codeExecutionResult === undefined;
}
