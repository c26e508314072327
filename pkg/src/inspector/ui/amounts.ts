// Durations and tokens in few characters.

import type { Tokens } from '../model/tokens.js';

/** A duration as people say it: `120 ms`, `1.2 s`, `3 min`, `2 h`. */
export function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([from]) => ms >= from) ?? [1, 'ms'];
  const amount = ms / size;
  const digits = unit === 'ms' || amount >= 10 ? 0 : 1;
  return `${Number(amount.toFixed(digits)).toLocaleString('en')} ${unit}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** Tokens in few characters: `210 in, 31 out`; `685 tokens` where only their sum is known. */
export function tokenText({ prompt, answer, total }: Tokens): string {
  const parts = [
    ...(prompt === undefined ? [] : [`${prompt.toLocaleString('en')} in`]),
    ...(answer === undefined ? [] : [`${answer.toLocaleString('en')} out`]),
  ];
  return parts.length === 0 ? `${total.toLocaleString('en')} tokens` : parts.join(', ');
}

/** All counts of tokens in words. */
export function tokenTitle({ prompt, answer, thoughts, cached, total }: Tokens): string {
  const counts: readonly (readonly [string, number | undefined])[] = [
    ['prompt', prompt],
    ['of it from a cache', cached],
    ['answer', answer],
    ['thoughts', thoughts],
    ['in all', total],
  ];
  return `Tokens: ${counts.flatMap(([name, count]) => (count === undefined ? [] : [`${name} ${count.toLocaleString('en')}`])).join(', ')}`;
}
