// Times and spans as protocol buffers write them in JSON: RFC 3339 and seconds, both to the nanosecond.

const NANOS = 1_000_000_000n;
const MINIMUM = BigInt(Date.parse('0001-01-01T00:00:00Z') / 1000) * NANOS;
const MAXIMUM = BigInt(Date.parse('9999-12-31T23:59:59Z') / 1000) * NANOS + NANOS - 1n;
/** The longest span in seconds: 10,000 years. */
const MAX_SECONDS = 315_576_000_000n;

const TIME = /^(\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/;
const SPAN = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** A time of RFC 3339 in nanoseconds since the epoch; `undefined` when it is none, or out of the years 1 to 9999. */
export function parseTime(text: string): bigint | undefined {
  const [, whole, day, fraction, sign, hours = '0', minutes = '0'] = TIME.exec(text) ?? [];
  if (whole === undefined || Number(hours) > 23 || Number(minutes) > 59) {
    return undefined;
  }
  const milliseconds = Date.parse(`${whole}Z`);
  // Date.parse takes the 30th of February for the 1st of March.
  if (new Date(milliseconds).getUTCDate() !== Number(day)) {
    return undefined;
  }
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
  const time = BigInt(milliseconds / 1000 - offset) * NANOS + nanosOf(fraction);
  return time >= MINIMUM && time <= MAXIMUM ? time : undefined;
}

/** A time of seconds since the epoch and nanoseconds; `undefined` out of the years 1 to 9999. */
export function timeFrom(seconds: bigint, nanos: bigint): bigint | undefined {
  const time = seconds * NANOS + nanos;
  return nanos >= 0n && nanos < NANOS && time >= MINIMUM && time <= MAXIMUM ? time : undefined;
}

/** Writes a time, with as many groups of three decimals as it needs. */
export function formatTime(time: bigint): string {
  const nanos = ((time % NANOS) + NANOS) % NANOS;
  const seconds = Number((time - nanos) / NANOS);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fractionOf(nanos)}Z`;
}

/** A span such as `3.5s` in nanoseconds; a text says what is wrong with it. */
export function parseSpan(text: string): bigint | string {
  if (!text.endsWith('s')) {
    return "Illegal duration format; duration must end with 's'";
  }
  const [, sign, seconds, fraction] = SPAN.exec(text) ?? [];
  if (seconds === undefined) {
    return 'Invalid duration format, failed to parse seconds';
  }
  const span = BigInt(seconds) * NANOS + nanosOf(fraction);
  return span > MAX_SECONDS * NANOS ? 'Duration value exceeds limits' : sign === '-' ? -span : span;
}

/** Writes a span. */
export function formatSpan(span: bigint): string {
  const size = span < 0n ? -span : span;
  return `${span < 0n ? '-' : ''}${size / NANOS}${fractionOf(size % NANOS)}s`;
}

/** The end of a span that begins at a time, no later than times go. */
export function later(time: bigint, span: bigint): bigint {
  return time + span > MAXIMUM ? MAXIMUM : time + span;
}

function nanosOf(fraction: string | undefined): bigint {
  return BigInt((fraction ?? '').padEnd(9, '0'));
}

function fractionOf(nanos: bigint): string {
  const digits = String(nanos)
    .padStart(9, '0')
    .replace(/(000)+$/, '');
  return digits === '' ? '' : `.${digits}`;
}
