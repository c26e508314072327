// Reservations of values that many callers write: waits in the queue that the database keeps. For speed alone.

import { toColumn } from '../shared/column-text.js';
import { sleep } from '../../async/sleep.js';
import type { Hint, Reservation, ReservationTimes, StoreContext } from '../../store/contract.js';

/** For how long a place in the queue is kept for a caller that has not asked again, in milliseconds. */
const TICKET_TIMEOUT_MS = 1_500;
/** The shortest and the longest pause before the queue is asked again, in milliseconds. */
const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 200;
/** The part of the queue's expected time that is slept through before it is asked again. */
const SLEPT_PART = 0.5;
/** The assumed time of one reservation before the queue has shown it, in milliseconds. */
const FIRST_PACE_MS = 5;

/** A place in the queue, by the ticket that keeps it; `at` is when it was asked for, in milliseconds. */
interface Queued {
  readonly ticket: string;
  /** The number of those that stand before it. */
  readonly before: number;
  readonly at: number;
}

/** Asks the database for one text, the only value that a statement answers. */
type Ask = (text: string, ...values: (string | null)[]) => Promise<string>;

/** The target and the ticket of a reservation; `undefined` when it is none of this store's. */
export function partsOfReservation(id: string | undefined): readonly [target: string, ticket: string] | undefined {
  const [, target, ticket] = /^(-?\d{1,19}):(\d{1,18})$/.exec(id ?? '') ?? [];
  return target === undefined || ticket === undefined ? undefined : [target, ticket];
}

/** See `SessionStore.reserve`. */
export async function reserve(
  ask: Ask,
  schema: string,
  { appName, userId, sessionId }: Hint,
  { hold, wait }: ReservationTimes,
  { signal }: StoreContext,
): Promise<Reservation | undefined> {
  const parts = [appName, userId, sessionId].filter((part) => part !== undefined).map(toColumn);
  const name = `statepad reservation ${schema} ${JSON.stringify(parts)}`;
  const begin = performance.now();
  let last: Queued | undefined;
  let pace = FIRST_PACE_MS;
  for (;;) {
    const values = [name, last?.ticket ?? null, String(Math.ceil(hold)), String(TICKET_TIMEOUT_MS)];
    const place = await ask(`select ${schema}.reserve($1, $2, $3, $4) as answer`, ...values);
    const [target, ticket, before, behind] = JSON.parse(place) as readonly [string, string, number, number];
    const release = async (): Promise<void> => {
      await ask(`select ${schema}.release($1, $2)::text as answer`, target, ticket).catch(() => undefined);
    };
    if (before === 0) {
      return { id: `${target}:${ticket}`, contended: last !== undefined || behind > 0, release };
    }
    const now: Queued = { ticket, before, at: performance.now() };
    pace = paceOf(last, now, pace);
    last = now;
    const pause = pauseFor(before, pace);
    if (signal.aborted || now.at + pause - begin > wait) {
      await release();
      return undefined;
    }
    await sleep(pause);
  }
}

/** The time of one reservation, in milliseconds, as the queue has shown since it was asked before. */
function paceOf(last: Queued | undefined, now: Queued, pace: number): number {
  if (last === undefined) {
    return pace;
  }
  const [count, time] = [last.before - now.before, now.at - last.at];
  return count > 0 ? time / count : Math.max(pace, time);
}

/** The next one asks as often as it may; the others are to be awake when they are the next one. */
function pauseFor(before: number, pace: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, (before - 1) * pace * SLEPT_PART));
}
