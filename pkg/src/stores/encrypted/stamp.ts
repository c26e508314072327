// The stamp of a value of an app or of a user says which change has written it. It is sealed together with the value:
// an inner store keeps it beside the value in its log, where it could be made to say something else.

import type { Change, LogEntry } from '../../store/contract.js';

/** A change, as far as an entry of a log describes it. */
export interface Stamp {
  /** `Change.time`. */
  readonly time: number;
  /** The position that the scope came to with it; absent when the change may be written at any. */
  readonly pos?: number;
  /** Absent for an update. */
  readonly by?: Writer;
}

/** The writer of a value: the event that brought a session to a revision, or its creation. */
export interface Writer {
  readonly userId: string;
  readonly sessionId: string;
  /** Absent for a creation. */
  readonly eventId?: string;
  /** The id of the session's creation. */
  readonly created: string;
  /** 0 for a creation. */
  readonly rev: number;
}

/** The written form of a stamp: short, and in one order. */
type Written = readonly [
  time: number,
  pos: number | null,
  by: readonly [userId: string, sessionId: string, eventId: string | null, created: string, rev: number] | null,
];

/**
 * The stamp of a change that brings its session to this place, if it has one. `before` is the position to which the
 * store is held for the scope, if it is.
 */
export function stampOf(
  { key: { userId, sessionId }, kind, id, time }: Change,
  { created, rev }: Pick<Writer, 'created' | 'rev'>,
  before: number | undefined,
): Stamp {
  const event = kind === 'append' ? { eventId: id } : {};
  return {
    time,
    ...(before !== undefined && { pos: before + 1 }),
    ...(userId !== undefined && sessionId !== undefined && { by: { userId, sessionId, ...event, created, rev } }),
  };
}

export function writeStamp({ time, pos, by }: Stamp): Written {
  return [
    time,
    pos ?? null,
    by === undefined ? null : [by.userId, by.sessionId, by.eventId ?? null, by.created, by.rev],
  ];
}

export function readStamp([time, pos, by]: Written): Stamp {
  const stamp: Stamp = { time, ...(pos !== null && { pos }) };
  if (by === null) {
    return stamp;
  }
  const [userId, sessionId, eventId, created, rev] = by;
  return { ...stamp, by: { userId, sessionId, ...(eventId !== null && { eventId }), created, rev } };
}

/** True if an entry of a log is that of the change with this stamp. */
export function isStampOf({ time, pos, by }: Stamp, entry: LogEntry): boolean {
  return (
    time === entry.time &&
    (pos ?? entry.pos) === entry.pos &&
    by?.userId === entry.by?.userId &&
    by?.sessionId === entry.by?.sessionId &&
    by?.eventId === entry.by?.eventId
  );
}
