// What rows hold: times, texts of JSON, names.

import { refuse } from '../jsonl/problems.js';
import { millisecondsOf } from '../stores/adk-database/times.js';
import type { Members } from '../jsonl/members.js';

/** What a time is in a column that holds a number: milliseconds or seconds since the epoch. */
export type Unit = 'milliseconds' | 'seconds';

const TEXT =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)? ?(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?)?(?: .*)?$/;

/** A time of a row, in milliseconds since the epoch. A text without a zone is in UTC. */
export function timeOf(value: unknown, column: string, unit: Unit = 'milliseconds'): number {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return unit === 'seconds' ? millisecondsOf(Number(value)) : Number(value);
  }
  if (value instanceof Date) {
    return value.getTime();
  }
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) {
    return timeOf(Number(value), column, unit);
  }
  const found = typeof value === 'string' ? TEXT.exec(value) : null;
  if (found === null) {
    return refuse(`${column} is not a time: ${JSON.stringify(value)}`);
  }
  const [, year, month, day, hour, minute, second, fraction = '', , sign, hours = '0', minutes = '0'] = found;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  return date.getTime() - offset + Number(fraction.padEnd(9, '0')) / 1e6;
}

/** A text that a row must have. */
export function textOf(value: unknown, column: string): string {
  return typeof value === 'string' ? value : refuse(`${column} is no text`);
}

/** A text that a row may have. */
export function optionalText(value: unknown, column: string): string | undefined {
  return value === null || value === undefined ? undefined : textOf(value, column);
}

/** Tells of something that was read and is not quite what was written. */
export type Note = (reason: string) => void;

/** The value of a text of JSON; `undefined` for none. Numbers that a double cannot hold are told to `note`. */
export function jsonOf(value: unknown, what: string, note: Note): unknown {
  if (value === null || value === undefined) {
    return undefined;
  }
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value, what);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return refuse(`${what} is not JSON: ${(error as Error).message}`);
  }
  const [rounded] = numbersIn(text).filter((number) => !isExact(number));
  if (rounded !== undefined) {
    note(`${what} has the number ${rounded}, which becomes ${Number(rounded)}`);
  }
  return parsed;
}

/** The same for what must be an object; an empty one for none. */
export function objectOf(value: unknown, what: string, note: Note): Members {
  const parsed = jsonOf(value, what, note) ?? {};
  return typeof parsed === 'object' && !Array.isArray(parsed)
    ? (parsed as Members)
    : refuse(`${what} must be an object`);
}

/** The long whole numbers of a text of JSON: only those may have more digits than a double. */
function numbersIn(text: string): readonly string[] {
  return /\d{16}/.test(text)
    ? (text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/(?<![\d.])-?\d{16,}(?![\d.eE])/g) ?? [])
    : [];
}

function isExact(number: string): boolean {
  return BigInt(Number(number)) === BigInt(number);
}
