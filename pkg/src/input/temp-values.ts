// The `temp:` values of a handle: those of its last invocation.

import type { TempDelta } from './event-draft.js';
import type { Event, Json } from '../model/types.js';

/** The most invocations that a handle remembers: those that alternate on it. */
const MAX_INVOCATIONS = 64;

/** The part of a handle that has its invocations and their values. */
export interface InvocationView {
  /** The `temp:` keys of the current invocation. */
  temp: Map<string, Json> | undefined;
  /** The invocations that this handle has seen, the latest `MAX_INVOCATIONS`, and the last of them. */
  invocations: Set<string> | undefined;
  invocation: string | undefined;
}

/** Shows the `temp:` keys of an event on the handle that it came through. A user's event may begin an invocation. */
export function showTemp(view: InvocationView, { author, invocationId }: Event, temp: TempDelta | undefined): void {
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
  view: InvocationView | undefined,
  { author, invocationId }: Pick<Event, 'author' | 'invocationId'>,
): InvocationView['temp'] {
  return view === undefined || beginsInvocation(view, invocationId, author === 'user') ? undefined : view.temp;
}

function beginsInvocation(
  { invocation, invocations }: InvocationView,
  invocationId: string,
  isOfUser: boolean,
): boolean {
  return (
    isOfUser &&
    invocation !== invocationId &&
    invocations !== undefined &&
    invocations.size > 0 &&
    !invocations.has(invocationId)
  );
}

function enterInvocation(view: InvocationView, invocationId: string, isOfUser: boolean): void {
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
