// How long and how much stores keep of what has happened.

/**
 * How long refused calls, updates and creations of removed sessions are remembered, in milliseconds. The contract asks
 * for an hour; clocks may be wrong.
 */
export const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/** How many moves of a scope are told at least, and after how many moves those before them are deleted. */
export const TOLD_MOVES = 1_000;
export const MOVES_BETWEEN_TRIMS = 256;
