// The age of a time, in words.

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

const WORDS = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** A time, in milliseconds since the epoch, seen from another one: "3 hr. ago". An invalid one is empty. */
export function ageText(time: number, now: number): string {
  const seconds = (time - now) / 1000;
  if (!Number.isFinite(seconds)) {
    return '';
  }
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return unit === undefined ? 'just now' : WORDS.format(Math.round(seconds / unit[1]), unit[0]);
}
