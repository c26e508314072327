// The pause of a writer that has met another one.

import { sleep } from './sleep.js';
import type { Signal } from './abort.js';

/** The longest pause, in milliseconds. */
const MAX_PAUSE_MS = 50;

/**
 * Waits before another attempt: the longer, the more conflicts there were, and by chance, so that writers that have
 * met drift apart. Throws the reason of `signal`.
 */
export async function conflictPause(conflicts: number, signal?: Signal): Promise<void> {
  await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** Math.min(conflicts, 6)), signal);
}
