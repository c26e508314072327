// The alignment of two lists: which items are the same, and which stand in the place of others.

/** A pair of indexes; one of them is missing for an item that was added or removed. */
export type Pair = readonly [before: number | undefined, after: number | undefined];

/** The most comparisons of one alignment: longer differences are aligned by index. */
const MOST = 250_000;

/**
 * Aligns two lists by a longest common subsequence of what lies between their common beginning and end. Items between
 * aligned ones are paired in their order, so that an item that has changed is one pair.
 */
export function alignmentOf<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly Pair[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start] as T, after[start] as T)) {
    start++;
  }
  let end = 0;
  while (end < shorter - start && isSame(before[before.length - 1 - end] as T, after[after.length - 1 - end] as T)) {
    end++;
  }
  const [beforeEnd, afterEnd] = [before.length - end, after.length - end];
  const common = commonIn(before.slice(start, beforeEnd), after.slice(start, afterEnd), isSame);
  const anchors: (readonly [number, number])[] = [
    ...Array.from({ length: start }, (_, index) => [index, index] as const),
    ...common.map(([from, to]) => [from + start, to + start] as const),
    ...Array.from({ length: end }, (_, index) => [beforeEnd + index, afterEnd + index] as const),
    [before.length, after.length],
  ];
  return anchors.flatMap((anchor, index) => {
    const [from, to] = anchors[index - 1] ?? [-1, -1];
    const between = pairsBetween(from + 1, anchor[0], to + 1, anchor[1]);
    return index === anchors.length - 1 ? between : [...between, anchor];
  });
}

function pairsBetween(from: number, fromEnd: number, to: number, toEnd: number): Pair[] {
  return Array.from({ length: Math.max(fromEnd - from, toEnd - to) }, (_, index) => [
    from + index < fromEnd ? from + index : undefined,
    to + index < toEnd ? to + index : undefined,
  ]);
}

/** The pairs of a longest common subsequence; none where finding it would take too long. */
function commonIn<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly (readonly [number, number])[] {
  if (before.length * after.length > MOST) {
    return [];
  }
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const lengthAt = (from: number, to: number): number => lengths[from * width + to] ?? 0;
  const isEqual = new Uint8Array(before.length * after.length);
  for (let from = before.length - 1; from >= 0; from--) {
    for (let to = after.length - 1; to >= 0; to--) {
      const same = isSame(before[from] as T, after[to] as T);
      isEqual[from * after.length + to] = same ? 1 : 0;
      lengths[from * width + to] = same
        ? lengthAt(from + 1, to + 1) + 1
        : Math.max(lengthAt(from + 1, to), lengthAt(from, to + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let from = 0, to = 0; from < before.length && to < after.length;) {
    if (isEqual[from * after.length + to] === 1) {
      pairs.push([from++, to++]);
    } else if (lengthAt(from + 1, to) >= lengthAt(from, to + 1)) {
      from++;
    } else {
      to++;
    }
  }
  return pairs;
}
