// What the module can count.

/** The core counts in 32 bits: more sessions, or events of one, than this do not fit into its memory. */
export const MAX_COUNT = 0xffffffff;
