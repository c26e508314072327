// Times: milliseconds here, seconds in stored events, microseconds in columns without a time zone, which mean UTC.

/** The years that Python has: from 1 up to 9999. */
const FIRST = Date.parse('0001-01-01T00:00:00Z') * 1_000;
const LAST = Date.parse('9999-12-31T23:59:59.999Z') * 1_000;

/** Microseconds of milliseconds, rounded. */
export function microsecondsOf(milliseconds: number): number {
  return Math.round(milliseconds * 1_000);
}

/** True if a column can have a time, in microseconds, that adk-python can read. */
export function isColumnTime(microseconds: number): boolean {
  return microseconds >= FIRST && microseconds <= LAST;
}

/** The nearest time that a column can have. */
export function nearestColumnTime(milliseconds: number): number {
  return Math.min(Math.max(microsecondsOf(milliseconds), FIRST), LAST);
}

/** A time as the column reads it, whatever the server's settings. */
export function columnTime(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1_000);
  const [whole = ''] = new Date(milliseconds).toISOString().split('Z');
  return `${whole.replace('T', ' ')}${String(microseconds - milliseconds * 1_000).padStart(3, '0')}`;
}

/** Milliseconds of the microseconds that a statement answers, as text: no number type of a client changes them. */
export function fromColumnTime(microseconds: string): number {
  return Number(microseconds) / 1_000;
}

/** Seconds as events have them there. */
export function secondsOf(milliseconds: number): number {
  return milliseconds / 1_000;
}

/** Milliseconds of an event there: those that {@link secondsOf} has converted, where they were whole microseconds. */
export function millisecondsOf(seconds: number): number {
  const milliseconds = Math.round(seconds * 1_000_000) / 1_000;
  return secondsOf(milliseconds) === seconds ? milliseconds : seconds * 1_000;
}
