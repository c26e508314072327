// Times as the API writes them (RFC 3339), and as stores know them: milliseconds since the epoch, with a fraction.

import { StoreError } from '../../store/store-error.js';

/** 0001-01-01T00:00:00Z, the first moment that the API can say. */
const FIRST_MS = -62_135_596_800_000;
/** 10000-01-01T00:00:00Z: all that it can say is before it. */
const END_MS = 253_402_300_800_000;
/** A microsecond, the precision of Python's ADK, in milliseconds. */
const MICROSECOND = 0.001;
const PATTERN = /^(\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)$/i;

/** A time as the API takes it, cut to microseconds. Throws `rejected` for one that it has no words for. */
export function toRfc3339(time: number): string {
  const micros = microsOf(time);
  const whole = Math.floor(time) + (micros === 1000 ? 1 : 0);
  if (!(whole >= FIRST_MS && whole < END_MS)) {
    throw new StoreError('rejected', `the time ${time} is not between the years 1 and 9999, the range of the API`);
  }
  const text = new Date(whole).toISOString();
  return micros % 1000 === 0 ? text : text.replace('Z', `${String(micros).padStart(3, '0')}Z`);
}

/** A time that the API has written. */
export function fromRfc3339(text: string): number {
  const [, seconds = '', fraction = '', zone = 'Z'] = PATTERN.exec(text) ?? [];
  return Date.parse(`${seconds}${zone}`) + Number(fraction.padEnd(9, '0')) / 1e6;
}

/**
 * The time under which an event is stored so that it comes behind the last one of its millisecond, `last`: events are
 * in the order of their times. It stays within its millisecond, which is all that readers keep of it: behind the last
 * microsecond comes none, and the two have one time, which leaves them in the order in which they come in.
 */
export function timeBehind(last: number | undefined, time: number): number {
  if (last === undefined || last < time) {
    return time;
  }
  const next = last + MICROSECOND;
  return microsOf(next) < 1000 && Math.floor(next) === Math.floor(time) ? next : last;
}

/** The microseconds of a time beyond its millisecond: 0 to 1000. */
function microsOf(time: number): number {
  return Math.round((time - Math.floor(time)) * 1000);
}

/** A time that the API has written, in whole milliseconds. */
export function timeOf(text: string): number {
  return Math.floor(fromRfc3339(text));
}
