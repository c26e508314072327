// The end of long work by a signal: it stops at the next step, and leaves nothing half done behind.

import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import process from 'node:process';
import { CommandError } from '../errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Added to the number of a signal: the code that shells know for an end by it. */
const OF_SIGNAL = 128;

/** The command was told to end before it was done. */
export class Interrupted extends CommandError {
  override readonly code: number;

  constructor(signal: (typeof SIGNALS)[number]) {
    super(`${signal}: ended before all was done`);
    this.code = OF_SIGNAL + constants.signals[signal];
  }
}

/**
 * A signal that is aborted by the first signal to the process, with an {@link Interrupted} as the reason. The next one
 * ends the process at once.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  // Each request under way listens to it.
  setMaxListeners(0, controller.signal);
  for (const signal of SIGNALS) {
    process.once(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
}
