// The signs of events on the timeline: one for the kind of event, and one for what it wrote.

import { contentsOf, isError, isOfUser } from '../model/contents.js';
import type { Log } from '../model/log.js';
import { pathOf, type IconName } from '../ui/icons.js';

/** The kinds of events that have a sign of their own. */
export const KINDS = [
  'user',
  'message',
  'thought',
  'call',
  'result',
  'failed',
  'transfer',
  'error',
  'rewind',
  'fork',
  'write',
] as const;

/** A kind of event. */
export type EventKind = (typeof KINDS)[number];

/** The sign of each kind, and its meaning. */
export const KIND_LOOKS: Readonly<Record<EventKind, { readonly icon: IconName; readonly title: string }>> = {
  user: { icon: 'user', title: 'words of the user' },
  message: { icon: 'message', title: 'words of an agent' },
  thought: { icon: 'thought', title: 'thought' },
  call: { icon: 'tool', title: 'call of a tool' },
  result: { icon: 'check', title: 'result of a tool' },
  failed: { icon: 'close', title: 'a tool that failed' },
  transfer: { icon: 'transfer', title: 'transfer to another agent' },
  error: { icon: 'warning', title: 'error' },
  rewind: { icon: 'rewind', title: 'rewind' },
  fork: { icon: 'fork', title: 'beginning of a fork' },
  write: { icon: 'minus', title: 'change of state alone' },
};

/** The kind of an event: of several, the one that a reader looks for. */
export function kindOf(log: Log, revision: number): EventKind {
  const event = log.at(revision);
  if (event === undefined) {
    return 'write';
  }
  if (isError(event)) {
    return 'error';
  }
  if (log.rewindAt(revision) !== undefined) {
    return 'rewind';
  }
  if (log.fork?.revision === revision - 1) {
    return 'fork';
  }
  if (log.toolsAt(revision).some(({ failed, response }) => failed && response === revision)) {
    return 'failed';
  }
  const kinds = new Set(contentsOf(event).map(({ kind }) => kind));
  const of = (['transfer', 'call', 'response'] as const).find((kind) => kinds.has(kind));
  if (of !== undefined) {
    return of === 'response' ? 'result' : of;
  }
  const hasWords = kinds.has('text') || kinds.has('file') || kinds.has('transcript');
  if (hasWords) {
    return isOfUser(event) ? 'user' : 'message';
  }
  return kinds.has('thought') ? 'thought' : 'write';
}

/** The sign of each kind as a path in a box of 24 by 24. */
export const GLYPHS = Object.fromEntries(KINDS.map((kind) => [kind, pathOf(KIND_LOOKS[kind].icon)])) as Readonly<
  Record<EventKind, string>
>;
