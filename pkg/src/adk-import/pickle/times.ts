// Dates and times of Python, from the bytes in their pickles to pydantic's texts.

import { Instance } from './data.js';
import { refuse } from '../../jsonl/problems.js';

/** A number itself: other values are refused, because a list would become one with all of its items. */
export function numberOf(value: unknown): number {
  return typeof value === 'number'
    ? value
    : refuse('a time or a complex number in the pickle has parts that are not numbers');
}

const digits = (value: number, length = 2): string => String(value).padStart(length, '0');

/** Ten bytes of a `datetime`, four of a `date`, six of a `time`: the first of a time may have a bit for `fold`. */
export function dateText(bytes: Uint8Array): string {
  const [high = 0, low = 0, month = 0, day = 0] = bytes;
  return `${digits(high * 256 + low, 4)}-${digits(month & 0x7f)}-${digits(day)}`;
}

export function timeText(bytes: Uint8Array, zone: unknown): string {
  const [hour = 0, minute = 0, second = 0, high = 0, middle = 0, low = 0] = bytes;
  const micros = high * 65536 + middle * 256 + low;
  const fraction = micros === 0 ? '' : `.${digits(micros, 6)}`;
  return `${digits(hour & 0x7f)}:${digits(minute)}:${digits(second)}${fraction}${zoneText(zone)}`;
}

export function datetimeText(bytes: Uint8Array, zone: unknown): string {
  return `${dateText(bytes)}T${timeText(bytes.subarray(4), zone)}`;
}

function zoneText(zone: unknown): string {
  if (zone === undefined || zone === null) {
    return '';
  }
  const [offset] = zone instanceof Instance && zone.type.path === 'datetime.timezone' ? zone.args : [];
  if (!(offset instanceof Instance)) {
    return refuse('a time in the pickle has an unknown time zone');
  }
  const [days = 0, seconds = 0] = offset.args.map(numberOf);
  const minutes = Math.round((days * 86_400 + seconds) / 60);
  if (minutes === 0) {
    return 'Z';
  }
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
}

/** Days, seconds and microseconds as an ISO 8601 duration. */
export function durationText([days = 0, seconds = 0, micros = 0]: readonly number[]): string {
  const total = days * 86_400 + seconds + micros / 1e6;
  const sign = total < 0 ? '-' : '';
  const whole = BigInt(days) * 86_400_000_000n + BigInt(seconds) * 1_000_000n + BigInt(micros);
  const size = whole < 0n ? -whole : whole;
  const rest = Number(size % 86_400_000_000n);
  const [day, hour, minute] = [size / 86_400_000_000n, Math.floor(rest / 3.6e9), Math.floor(rest / 6e7) % 60];
  const fraction = digits(rest % 1e6, 6).replace(/0+$/, '');
  const second = `${Math.floor(rest / 1e6) % 60}${fraction === '' ? '' : `.${fraction}`}`;
  const time = [hour > 0 && `${hour}H`, minute > 0 && `${minute}M`, second !== '0' && `${second}S`]
    .filter(Boolean)
    .join('');
  const date = day === 0n ? '' : `${day}D`;
  return date + time === '' ? 'PT0S' : `${sign}P${date}${time === '' ? '' : `T${time}`}`;
}
