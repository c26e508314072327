// Numbers that look random and are the same each time: in Node, in pages and in workers.

/**
 * Numbers from 0 to below 1.
 *
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Whole numbers from 0 to below a limit.
 *
 * @param {number} seed
 */
export function numbersFrom(seed) {
  const random = randomFrom(seed);
  return (/** @type {number} */ limit) => Math.floor(random() * limit);
}
