// How long and how much stores keep of what has happened.

/**
 * How long what only a later try needs is remembered, in milliseconds: refused calls, updates, creations of removed
 * sessions.
 */
export const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/** How many moves of a scope are told at least, and after how many moves those before them are deleted. */
export const TOLD_MOVES = 1_000;
export const MOVES_BETWEEN_TRIMS = 256;
