// Times: nanoseconds in the API, milliseconds with a fraction in events.
//
// Milliseconds since the epoch hold microseconds exactly, the precision of Python's ADK. Times with nanoseconds, which
// adk-rust compares to the last digit, are kept as a text beside them: `customMetadata.statepad.time`.

import { formatTime, parseTime } from './wire/time.js';

/** The member of the package's own metadata that keeps an event's time to the nanosecond. */
export const EXACT_TIME = 'time';

const MICROS = 1_000n;
const FIRST = momentOf('0001-01-01T00:00:00Z');
const LAST = momentOf('9999-12-31T23:59:59Z');

/** A time in milliseconds, from nanoseconds. */
export function millisecondsOf(nanos: bigint): number {
  return Number(nanos / MICROS) / 1_000;
}

/** A time in nanoseconds, from milliseconds. */
export function nanosecondsOf(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1_000)) * MICROS;
}

/** The time of a text that the wire code has read, in nanoseconds. */
export function momentOf(text: string): bigint {
  return parseTime(text) ?? 0n;
}

/** A time in milliseconds as the API writes it. Times before the year 1 and after the year 9999 are those limits. */
export function timeText(milliseconds: number): string {
  const nanos = Number.isFinite(milliseconds) ? nanosecondsOf(milliseconds) : 0n;
  return formatTime(nanos < FIRST ? FIRST : nanos > LAST ? LAST : nanos);
}
