// Single values of a body, and what becomes of them: `undefined` says that a value is not of the type.

import { formatSpan, formatTime, parseSpan, parseTime, timeFrom } from './time.js';
import { isObject } from '../../../model/value-types.js';

/** A value as it is kept and written. */
export type Scalar = string | number | boolean;

const MAX_INT32 = 2 ** 31 - 1;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity'];
const BASE64 = /^[A-Za-z0-9+/]*$/;

const READERS: Readonly<Record<string, (value: unknown) => Scalar | undefined>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  bool: (value) =>
    typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
  int32: readInt,
  double: readDouble,
  float: readFloat,
  bytes: readBytes,
};

/** The values that count as not set in a field that does not know whether it was. */
const DEFAULTS = new Set<unknown>(['', 0, false]);

/** Reads a value of a type by its name. */
export function readScalar(type: string, value: unknown): Scalar | undefined {
  return READERS[type]?.(value);
}

/** True when a value is the default of its type. */
export function isDefault(value: unknown): boolean {
  return DEFAULTS.has(value);
}

/** Reads a time or a span, and says why it is none. */
export function readTime(type: string, value: unknown): { readonly text: string } | { readonly reason: string } {
  if (type === 'moment' && isObject(value)) {
    return readMoment(value);
  }
  if (typeof value !== 'string') {
    return { reason: `Invalid data type for ${type === 'moment' ? 'timestamp' : type}, value is ${textOf(value)}` };
  }
  if (type === 'duration') {
    const span = parseSpan(value);
    return typeof span === 'string' ? { reason: span } : { text: formatSpan(span) };
  }
  const time = parseTime(value);
  return time === undefined ? { reason: `Invalid time format: ${value}` } : { text: formatTime(time) };
}

/** Reads a time that is written as a message would be. */
function readMoment(value: object): { readonly text: string } | { readonly reason: string } {
  const { seconds = 0, nanos = 0, ...others } = value as { readonly seconds?: unknown; readonly nanos?: unknown };
  const isWhole = Number.isSafeInteger(seconds) && Number.isSafeInteger(nanos) && Object.keys(others).length === 0;
  const time = isWhole ? timeFrom(BigInt(seconds as number), BigInt(nanos as number)) : undefined;
  return time === undefined ? { reason: 'Invalid seconds and nanos' } : { text: formatTime(time) };
}

/** Reads a name of an enumeration or its number. What has no name stays a number. */
export function readEnum(names: readonly string[], value: unknown): Scalar | undefined {
  if (typeof value === 'string' && names.includes(value)) {
    return value;
  }
  const number = typeof value === 'number' ? readInt(value) : undefined;
  return number === undefined ? undefined : (names[number] ?? number);
}

/** A value in the words of an error. */
export function textOf(value: unknown): string {
  return isObject(value) || Array.isArray(value) ? '' : JSON.stringify(value);
}

function readInt(value: unknown): number | undefined {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  return Number.isInteger(number) && Math.abs(number as number) <= MAX_INT32 + (Number(number) < 0 ? 1 : 0)
    ? (number as number) + 0
    : undefined;
}

function readDouble(value: unknown): Scalar | undefined {
  if (typeof value === 'string' && NOT_FINITE.includes(value)) {
    return value;
  }
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The shortest decimal that is the same number of 32 bits. */
function readFloat(value: unknown): Scalar | undefined {
  const number = readDouble(value);
  if (typeof number !== 'number') {
    return number;
  }
  const rounded = Math.fround(number);
  if (!Number.isFinite(rounded)) {
    return undefined;
  }
  const digits = [6, 7, 8, 9].find((count) => Math.fround(Number(rounded.toPrecision(count))) === rounded);
  return Number(rounded.toPrecision(digits));
}

/** Base64 of either alphabet, with or without its padding; kept as the standard one with it. */
function readBytes(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return undefined;
  }
  const digits = value
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (!BASE64.test(digits) || digits.length % 4 === 1) {
    return undefined;
  }
  // The bits of the last digit beyond whole bytes are dropped.
  return btoa(atob(digits));
}
