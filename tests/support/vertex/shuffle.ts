// The order of the members of maps: none that a caller can rely on.

/**
 * The entries of a map in an order of its own: the same for the same map, and never that in which they were put in
 * when there are several.
 */
export function shuffled<T>(map: ReadonlyMap<string, T>): (readonly [string, T])[] {
  const given = [...map];
  const mixed = given
    .map((entry) => ({ entry, rank: hash(entry[0]) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
  return mixed.every((entry, index) => entry === given[index]) ? mixed.reverse() : mixed;
}

/** FNV-1a, of 32 bits. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return value;
}
