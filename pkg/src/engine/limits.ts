// The limits of the module.

/** The core counts in 32 bits. More sessions, or events of one session, do not fit into its memory. */
export const MAX_COUNT = 0xffffffff;
