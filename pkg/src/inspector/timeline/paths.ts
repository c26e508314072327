// Outlines of shapes as texts: a picture has many of a kind in one path, which costs a browser as much as one shape.

/** A rectangle, in px. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The outline of a rectangle with round corners. */
export function boxPath({ x, y, width, height }: Box, radius: number): string {
  const r = Math.min(radius, width / 2);
  const corner = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  const [across, down] = [width - 2 * r, height - 2 * r];
  return `M${x + r} ${y}h${across}${corner(r, r)}v${down}${corner(-r, r)}h${-across}${corner(-r, -r)}v${-down}${corner(r, -r)}z`;
}

/** The outline of a disc around a point. */
export function discPath(x: number, y: number, radius: number): string {
  const half = `a${radius} ${radius} 0 1 0 `;
  return `M${x - radius} ${y}${half}${2 * radius} 0${half}${-2 * radius} 0z`;
}

/** A step of a path, and its numbers. */
const STEP = /([a-z])([^a-z]*)/giu;
const NUMBER = /-?(?:\d+\.?\d*|\.\d+)/gu;
/** An arc that is not turned: its radii and flags, which need no room between them, and its end. */
const ARC = /^(.*? 0 ?[01] ?[01])(.*)$/u;

/** A path that can be drawn anywhere: the function answers it, moved by a distance. The path is parsed once. */
export function movable(path: string): (x: number, y: number) => string {
  const parts = Array.from(path.matchAll(STEP), ([step, name = '', numbers = '']) =>
    // Steps in small letters are relative, so they stay as they are.
    name >= 'a' ? [step] : absolute(name, numbers),
  ).flat();
  return (x, y) => parts.map((part) => (typeof part === 'string' ? part : part.at + (part.isDown ? y : x))).join('');
}

/** A number of a path that moves with it. */
interface Moving {
  readonly at: number;
  readonly isDown: boolean;
}

function absolute(name: string, numbers: string): (string | Moving)[] {
  const [, head = '', ends = numbers] = (name === 'A' ? ARC.exec(numbers) : null) ?? [];
  const moving = Array.from(ends.matchAll(NUMBER), ([at], place) => [
    ' ',
    { at: Number(at), isDown: name === 'V' || (name !== 'H' && place % 2 === 1) },
  ]);
  return [name, head, ...moving.flat()];
}
