// Sizes of tests that `npm run test:long` makes larger.

/** True under `npm run test:long`. */
export const isLong = process.env.STATEPAD_TEST_LONG === '1';

/**
 * A size: the usual one, or the one of long tests.
 *
 * @param {number} usual @param {number} long
 */
export const size = (usual, long) => (isLong ? long : usual);
