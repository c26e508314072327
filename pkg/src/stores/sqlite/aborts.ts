// The warning about a library that can end the process, once.

import { warn } from '../../model/warnings.js';
import { abortWarning } from '../sqlite-core/library.js';

let hasWarned = false;

/** Warns of a connection that can end the process: see {@link abortWarning}. */
export function warnOfAborts(database: object): void {
  const warning = hasWarned ? undefined : abortWarning(database);
  if (warning !== undefined) {
    hasWarned = true;
    warn('STATEPAD_SQLITE', warning);
  }
}
