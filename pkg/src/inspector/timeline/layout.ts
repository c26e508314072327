// The geometry of the timeline, independent of a screen: the positions of events, the visible range, the event under
// the pointer. Every revision has a slot of the same width, `step` pixels, the creation (0) the first one.

import type { Scope } from '../model/log.js';

/** The scopes that a log stores, from the top of a mark to its bottom. */
export const KEPT = ['session', 'app', 'user'] as const satisfies readonly Scope[];

/** A scope that a log stores. */
export type Kept = (typeof KEPT)[number];

/** The scopes that a mark shows: the stored ones, and `temp` for the keys that an event has noted. */
export const MARKED = [...KEPT, 'temp'] as const satisfies readonly Scope[];

/** A scope that a mark shows. */
export type Marked = (typeof MARKED)[number];

/** The available widths of a slot, in px. */
export const STEPS = [3, 6, 10, 14, 20, 30, 44] as const;

/** The initial width of a slot, in px; and the largest that a few events get. */
export const STEP = 14;
const ROOMY = 44;

/**
 * From this width on every event has a mark of its own; below it, events that are closer than {@link COLUMN} share
 * one.
 */
export const FINE = 6;

/** The narrowest thing that is drawn, in px. */
export const COLUMN = 3;

/** Room after the last event, in px, for the line of the moment. */
const TAIL = 12;

/** A picture must not be wider than browsers can scroll, in px. */
const WIDEST = 12_000_000;

/** Data of each event, by index: see `Log`. */
export interface EventIndex {
  readonly lanes: readonly number[];
  readonly scopes: readonly number[];
  readonly turns: readonly number[];
  readonly turnNumbers: readonly number[];
}

/** A range of revisions, both ends included. It is empty when `last` is before `first`. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** A range of x, in px. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The width of a slot in which so many events fit into a width; never wider than the widest available one. */
export function fitStep(count: number, width: number): number {
  return Math.min(Math.max(width - TAIL, 1) / (count + 1), STEPS[STEPS.length - 1] ?? STEP);
}

/** The initial width of a slot: a few events get more room, as long as all of them fit. */
export function firstStep(fit: number): number {
  return Math.max(STEPS.findLast((one) => one <= Math.min(fit, ROOMY)) ?? STEP, STEP);
}

/** The next wider (`+1`) or narrower (`-1`) slot; `undefined` when there is none. Nothing is narrower than `fit`. */
export function zoomed(step: number, direction: 1 | -1, fit: number): number | undefined {
  if (direction > 0) {
    return STEPS.find((one) => one > step + 0.01);
  }
  const least = Math.min(fit, STEP);
  return step <= least + 0.01 ? undefined : Math.max(STEPS.findLast((one) => one < step - 0.01) ?? least, least);
}

/** The slot that is drawn for a requested `step`: a long log gets a narrower one. */
export function allowedStep(step: number, count: number): number {
  return Math.min(step, WIDEST / (count + 1));
}

/** The width of the whole picture, in px. */
export function widthOf(count: number, step: number): number {
  return (count + 1) * step + TAIL;
}

/** The drawn span for a visible one: it and some room beside it, the same for all positions close by. */
export function drawnSpan(scroll: number, width: number): Span {
  const part = Math.max(Math.ceil(width / 4), 1);
  const first = Math.floor(scroll / part);
  return { from: Math.max(first - 1, 0) * part, to: (first + 6) * part };
}

/** The revisions whose events are in a span, even in part. */
export function rangeOf({ from, to }: Span, step: number, count: number): Range {
  return { first: Math.max(Math.floor(from / step), 1), last: Math.min(Math.floor(to / step), count) };
}

/** The scroll position that shows a span with some room beside it; the current one if it does. */
export function scrollFor(target: Span, visible: Span): number {
  const width = visible.to - visible.from;
  const room = Math.min(width / 8, 48);
  if (target.from >= visible.from && target.to <= visible.to) {
    return visible.from;
  }
  return Math.max(target.from < visible.from ? target.from - room : target.to + room - width, 0);
}

/** A point of the picture. */
export interface Point {
  /** In px from the start of the picture. */
  readonly x: number;
  /** The index of the lane; there may be none. */
  readonly lane: number;
}

/** The event at a point: of those that are close enough, the nearest of the lane, or else the nearest one. */
export function eventAt({ x, lane }: Point, step: number, { lanes }: Pick<EventIndex, 'lanes'>): number | undefined {
  const slot = Math.floor(x / step);
  const reach = Math.ceil(COLUMN / step) - 1;
  const cost = (revision: number): number =>
    Math.abs(revision - slot) + (lanes[revision - 1] === lane ? 0 : reach + 1);
  let best: number | undefined;
  for (let revision = Math.max(slot - reach, 1); revision <= Math.min(slot + reach, lanes.length); revision++) {
    if (best === undefined || cost(revision) < cost(best)) {
      best = revision;
    }
  }
  return best;
}

/** The index of the first number that is not below a limit, in an ascending list. */
export function lowerBound(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? limit) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The revisions on the ruler: round ones, as many as there is room for. */
export function ticks({ first, last }: Range, step: number): number[] {
  let every = 1;
  for (let factor = 0; every * step < 56; factor++) {
    every = 10 ** Math.floor(factor / 3) * ([1, 2, 5][factor % 3] ?? 1);
  }
  const start = Math.max(Math.ceil(first / every) * every, every);
  return Array.from(
    { length: Math.max(Math.floor((last - start) / every) + 1, 0) },
    (_, index) => start + index * every,
  );
}

/** Every other turn, as spans in px. */
export function bandsOf({ turns, turnNumbers }: EventIndex, { first, last }: Range, step: number): Span[] {
  const bands: Span[] = [];
  let revision = turns[first - 1] ?? first;
  while (revision <= last) {
    const start = revision;
    while (revision <= last && turns[revision - 1] === turns[start - 1]) {
      revision++;
    }
    if ((turnNumbers[start - 1] ?? 0) % 2 === 1) {
      bands.push({ from: start * step, to: revision * step });
    }
  }
  return bands;
}

/** The moments at the ends of the turns before and after a moment. */
export function turnsOf(
  { turns }: Pick<EventIndex, 'turns'>,
  revision: number,
): { readonly turnBefore: number; readonly turnAfter: number } {
  const first = turns[revision];
  let last = Math.min(revision + 1, turns.length);
  while (last < turns.length && turns[last] === first) {
    last++;
  }
  return { turnBefore: Math.max((turns[revision - 1] ?? 1) - 1, 0), turnAfter: last };
}
