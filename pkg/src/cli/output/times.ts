// Times: on the command line, and for people.

import { UsageError } from '../errors.js';

const UNITS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** The duration of an option, in milliseconds: `90s`, `30m`, `2h`, `3d` or `1w`. Throws `UsageError`. */
export function durationIn(option: string, text: string): number {
  const duration = spanOf(text);
  if (duration === undefined || duration < 1) {
    throw new UsageError(`${option} takes a duration as 90s, 30m, 2h, 3d or 1w`);
  }
  return duration;
}

function spanOf(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 0);
}

/**
 * The time of an option, in milliseconds since the epoch: an ISO time, or a duration before `now` as `90s`, `30m`,
 * `2h`, `3d` or `1w`. Throws `UsageError`.
 */
export function timeIn(option: string, text: string, now: number): number {
  const span = spanOf(text);
  if (span !== undefined) {
    return now - span;
  }
  const time = /^\d{4}-\d\d(-\d\d)?/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new UsageError(`${option} takes a time as 2026-01-31T09:30:00Z, or a duration as 90s, 30m, 2h, 3d or 1w`);
  }
  return time;
}

/** A time for people, in UTC: `2026-01-31 09:30:00Z`; the number itself where it is no date. */
export function shownTime(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? String(time)
    : date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}
