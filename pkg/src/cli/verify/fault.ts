// The findings of a check.

import type { SessionKey } from '../../index.js';

/** The place of a finding: the store as a whole, an app, a user in it, or a session. */
export type Place = Partial<SessionKey>;

/** A finding. */
export interface Fault extends Place {
  /** A note is worth knowing and may be all right: the source of a fork may have been deleted. */
  readonly kind: 'problem' | 'note';
  readonly reason: string;
}

/** A problem at a place. */
export function problem(place: Place, reason: string): Fault {
  return { kind: 'problem', ...place, reason };
}

/** A note about a place. */
export function note(place: Place, reason: string): Fault {
  return { kind: 'note', ...place, reason };
}

/** A finding for people. */
export function textOf({ kind, appName, userId, sessionId, reason }: Fault): string {
  const place = [
    ...(sessionId === undefined ? [] : [`session ${sessionId}`]),
    ...(userId === undefined ? [] : [`user ${userId}`]),
    ...(appName === undefined ? [] : [`app ${appName}`]),
  ].join(', ');
  return `${kind}: ${place === '' ? '' : `${place}: `}${reason}`;
}

/** Names in a sentence: the first few. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => JSON.stringify(name));
  return names.length > shown.length
    ? `${shown.join(', ')} and ${names.length - shown.length} more`
    : shown.join(', ');
}
