// "Did you mean …": the known name most similar to an unknown one. The rule is that of the core
// (src/template/nearest.rs), which cannot be called before its module is loaded.

/** A longer name is no typing error, and the comparison would be slow. */
const LONGEST = 64;

/** The most similar candidate, if any is similar enough: at most a third of the name's characters differ. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const typed = Array.from(name.slice(0, 2 * LONGEST + 2));
  if (typed.length > LONGEST) {
    return undefined;
  }
  const limit = Math.floor(typed.length / 3);
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const characters = Array.from(candidate.slice(0, 4 * LONGEST)).slice(0, 2 * LONGEST);
    const differing = Math.abs(characters.length - typed.length) <= limit ? distance(typed, characters) : Infinity;
    if (differing < least) {
      least = differing;
      best = candidate;
    }
  }
  return best;
}

/** The number of characters to insert, delete, replace or swap with their neighbour. */
function distance(a: readonly string[], b: readonly string[]): number {
  let before: number[] = [];
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    [before, above, row] = [above, row, [i + 1]];
    for (let j = 0; j < b.length; j++) {
      const replaced = (above[j] as number) + (a[i] === b[j] ? 0 : 1);
      let least = Math.min(replaced, (above[j + 1] as number) + 1, (row[j] as number) + 1);
      if (i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]) {
        least = Math.min(least, (before[j - 1] as number) + 1);
      }
      row[j + 1] = least;
    }
  }
  return row[b.length] as number;
}
