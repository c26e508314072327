// The values in rows: times, texts of JSON, names.

import { refuse } from '../jsonl/problems.js';
import { lostNumber, lostTitle, parseWith, type LostNumber } from '../model/json-numbers.js';
import { millisecondsOf } from '../stores/adk-database/times.js';
import type { Members } from '../jsonl/members.js';

/** The unit of a column of time that holds a number: milliseconds or seconds since the epoch. */
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
  const match = typeof value === 'string' ? TEXT.exec(value) : null;
  if (match === null) {
    return refuse(`${column} is not a time: ${JSON.stringify(value)}`);
  }
  const [, year, month, day, hour, minute, second, fraction = '', , sign, hours = '0', minutes = '0'] = match;
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

/** The treatment of numbers that JavaScript cannot hold. */
export interface Numbers {
  /** True to make them texts of their digits and report that to `note`; otherwise they are refused. */
  readonly areTexts: boolean;
  readonly note: (reason: string) => void;
}

/** The value of a text of JSON; `undefined` for a missing one. */
export function jsonOf(value: unknown, what: string, numbers: Numbers): unknown {
  if (value === null || value === undefined) {
    return undefined;
  }
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value, what);
  const number = lostNumber(text);
  const convert = number === undefined ? undefined : textOfNumber(number, what, numbers);
  try {
    return convert === undefined ? JSON.parse(text) : parseWith(text, convert);
  } catch (error) {
    return refuse(`${what} is not JSON: ${(error as Error).message}`);
  }
}

/**
 * A converter of numbers that JavaScript cannot hold to texts. `number` is the first of them, which is reported or
 * refused.
 */
export function textOfNumber(
  number: LostNumber,
  what: string,
  { areTexts, note }: Numbers,
): (token: string) => string {
  const message = `${what} has ${lostTitle(number)}`;
  if (!areTexts) {
    refuse(`${message}: with the option integers: 'text' it is imported as a text`);
  }
  note(`${message}: it is a text now`);
  return (token) => token;
}

/** The same for an object; an empty one for a missing one. */
export function objectOf(value: unknown, what: string, numbers: Numbers): Members {
  const parsed = jsonOf(value, what, numbers) ?? {};
  return typeof parsed === 'object' && !Array.isArray(parsed)
    ? (parsed as Members)
    : refuse(`${what} must be an object`);
}
