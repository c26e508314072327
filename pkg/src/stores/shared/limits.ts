// The time and the number of entries for which stores remember the past.

/**
 * The least time for which refused calls, updates and creations of removed sessions are remembered, in milliseconds,
 * as the contract asks.
 */
export const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/**
 * The least number of moves of a scope that are reported, and the number after which those before them are deleted.
 */
export const REPORTED_MOVES = 1_000;
export const MOVES_BETWEEN_TRIMS = 256;
