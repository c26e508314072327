// The version of the keys.

/** The version of the keys that this package reads and writes. */
export const VERSION = 2;
