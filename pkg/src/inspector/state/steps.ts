// The writes of a key: those of a session, and those of other sessions that share it.

import type { HistoryStep, Json, Session, SharedStep } from '../../index.js';
import { splitKey } from '../model/log.js';
import type { InspectorSource } from '../model/source.js';

/** A write of a key. */
export interface KeyStep {
  /** Unique in a history. */
  readonly id: string;
  /** The revision of the session on show after it; `undefined` for a write of another session. */
  readonly revision: number | undefined;
  readonly timestamp: number;
  /** The author of an event, `creation`, or another session. */
  readonly who: string;
  /** The other session that wrote it. */
  readonly by: SharedStep['by'];
  /** Absent when there was none. */
  readonly from: Json | undefined;
  /** Absent when it was deleted. */
  readonly to: Json | undefined;
}

/** A write by the session on show. */
export function ownStep({ revision, timestamp, event, from, to }: HistoryStep): KeyStep {
  const who = event === undefined ? 'creation' : (event.author ?? 'no author');
  return { id: `#${revision}`, revision, timestamp, who, by: undefined, from, to };
}

/** The last writes of a shared key by others, at most so many. */
export interface OtherSteps {
  readonly steps: readonly SharedStep[];
  /** True when these are all writes ever. */
  readonly exact: boolean;
}

/** Reads who else has written a shared key; `undefined` for other keys, and where the source does not know. */
export async function othersOf(
  reader: InspectorSource,
  { appName, userId }: Session,
  key: string,
  last: number,
): Promise<OtherSteps | undefined> {
  const { scope } = splitKey(key);
  if (scope !== 'app' && scope !== 'user') {
    return undefined;
  }
  const target = { appName, key, ...(scope === 'user' ? { userId } : {}) };
  // Not every source has such a log; that of the session is there without it.
  return await reader.history(target, { last }).catch(() => undefined);
}

/** The writes of a session with those of others between them, oldest first. */
export function merged(
  own: readonly HistoryStep[],
  others: readonly SharedStep[],
  { userId, id }: Pick<Session, 'userId' | 'id'>,
): KeyStep[] {
  const ids = new Set(own.map(({ event }) => event?.id));
  // A fork has copies of the writes of the session that it continues from.
  const copies = new Set(own.map(({ timestamp, to }) => JSON.stringify([timestamp, to])));
  const foreign = others.filter(
    ({ by, timestamp, to }) =>
      !(by?.sessionId === id && by.userId === userId) &&
      !(by?.eventId !== undefined && ids.has(by.eventId)) &&
      !copies.has(JSON.stringify([timestamp, to])),
  );
  const steps = [...own.map(ownStep), ...foreign.map(foreignStep)];
  return steps.sort((one, other) => one.timestamp - other.timestamp || (one.revision ?? 0) - (other.revision ?? 0));
}

function foreignStep({ position, timestamp, by, from, to }: SharedStep): KeyStep {
  const who = by === undefined ? 'an update outside of sessions' : `${by.userId} / ${by.sessionId}`;
  return { id: `@${position}`, revision: undefined, timestamp, who, by, from, to };
}
