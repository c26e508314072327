// Errors of the core as errors of the package.

import { defined } from '../model/defined.js';
import { StatepadError, type ErrorCode, type ErrorDetails } from '../model/errors.js';

/** The error of the core: its code, its message, the key and the id concerned, and two revisions, or -1. */
export function coreError(
  [code, message = '', key, id]: readonly (string | undefined)[],
  expected: number,
  actual: number,
): StatepadError {
  if (code === 'CORE_FAILED') {
    return memoryFull();
  }
  const details: ErrorDetails = {
    ...defined({ key, id }),
    ...(expected < 0 ? {} : { expected, actual }),
  };
  return new StatepadError(code as ErrorCode, message, details);
}

/** The error for a call without memory. */
export function memoryFull(): StatepadError {
  const message =
    'the memory of the WebAssembly module is full: nothing was changed, and deleting sessions makes room';
  return new StatepadError('CORE_FAILED', message, { reason: 'memory' });
}
