// The `temp:` values of a handle: those of its last invocation.

import type { View } from '../session/handle.js';
import type { TempDelta } from './event-draft.js';
import type { Event } from '../model/types.js';

/** The most invocations that a handle remembers: those that alternate on it. */
const MAX_INVOCATIONS = 64;

/** Shows the `temp:` keys of an event on the handle that it came through. A user's event may begin an invocation. */
export function showTemp(view: View, { author, invocationId }: Event, temp: TempDelta | undefined): void {
  if (view.invocation !== invocationId) {
    enterInvocation(view, invocationId, author === 'user');
  }
  if (temp !== undefined) {
    const shown = (view.temp ??= new Map());
    temp.set.forEach((value, key) => shown.set(key, value));
    temp.unset.forEach((key) => shown.delete(key));
  }
}

/** The `temp:` values of a handle before an event. */
export function tempBefore(
  view: View | undefined,
  { author, invocationId }: Pick<Event, 'author' | 'invocationId'>,
): View['temp'] {
  return view === undefined || beginsInvocation(view, invocationId, author === 'user') ? undefined : view.temp;
}

function beginsInvocation({ invocation, invocations }: View, invocationId: string, isOfUser: boolean): boolean {
  return (
    isOfUser &&
    invocation !== invocationId &&
    invocations !== undefined &&
    invocations.size > 0 &&
    !invocations.has(invocationId)
  );
}

function enterInvocation(view: View, invocationId: string, isOfUser: boolean): void {
  if (beginsInvocation(view, invocationId, isOfUser)) {
    view.temp = undefined;
  }
  const invocations = (view.invocations ??= new Set());
  // The last one goes to the end, and the one that was seen longest ago is dropped.
  invocations.delete(invocationId);
  invocations.add(invocationId);
  const [oldest] = invocations;
  if (invocations.size > MAX_INVOCATIONS && oldest !== undefined) {
    invocations.delete(oldest);
  }
  view.invocation = invocationId;
}
