// The options of stores in memory, and their check.

import { checkOptions } from '../../checks/arguments.js';
import { checkChoice } from '../shared/options.js';

/** Options of `memoryStore`. */
export interface MemoryOptions {
  /**
   * True to keep a log of app and user values, which is the default: each write of a name then stays in memory until
   * the log is trimmed (`SessionStore.trimLog`).
   */
  readonly log?: boolean | undefined;
}

/** Throws `INVALID_ARGUMENT` for options that cannot be used. */
export function checkMemoryOptions(options: MemoryOptions): void {
  checkOptions(options, ['log']);
  checkChoice('options.log', options.log, [true, false]);
}
