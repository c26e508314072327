// The sizes of the columns, which the user can change, and which this browser keeps.

import { keepChoice, keptChoice } from '../ui/kept.js';

/** A part whose size can be changed. */
export type SizedPart = 'left' | 'right' | 'below';

/** Each size in px; the usual one depends on the room. */
export type Sizes = Readonly<Record<SizedPart, number>>;

const NAME = 'sizes';

/** The least width of a column, and the least height of the prompt below the conversation, in px. */
const LEAST = 190;

/** The share of the room that each part has at first, and its limits in px. */
const USUAL: Readonly<Record<SizedPart, { readonly share: number; readonly from: number; readonly to: number }>> = {
  left: { share: 0.345, from: 260, to: 620 },
  right: { share: 0.27, from: 250, to: 480 },
  below: { share: 0.3, from: 180, to: 420 },
};

/** The sizes that were chosen in this browser. */
export function keptSizes(): Partial<Sizes> {
  try {
    const kept = JSON.parse(keptChoice(NAME) ?? '{}') as Partial<Record<string, unknown>>;
    const known = Object.entries(kept).filter(([part, size]) => part in USUAL && Number.isFinite(size));
    return Object.fromEntries(known);
  } catch {
    return {};
  }
}

/** Keeps the sizes in this browser. */
export function keepSizes(sizes: Partial<Sizes>): void {
  keepChoice(NAME, JSON.stringify(sizes));
}

/**
 * The sizes in a box of a width and a height, in px: the chosen ones where there is room for them. `isPair` is for two
 * columns.
 */
export function sizesIn(chosen: Partial<Sizes>, width: number, height: number, isPair: boolean): Sizes {
  const most = isPair ? width - LEAST : width - 2 * LEAST;
  const right = clamp(chosen.right ?? usual('right', width), LEAST, most);
  const left = clamp(
    chosen.left ?? (isPair ? width / 2 : usual('left', width)),
    LEAST,
    isPair ? most : width - right - LEAST,
  );
  return { left, right, below: clamp(chosen.below ?? usual('below', height), LEAST / 2, height - LEAST) };
}

function usual(part: SizedPart, room: number): number {
  const { share, from, to } = USUAL[part];
  return clamp(share * room, from, to);
}

function clamp(size: number, from: number, to: number): number {
  return Math.round(Math.max(Math.min(size, to), from));
}
