// Errors of the core as errors of the package.

import { StatepadError, type ErrorCode, type ErrorDetails } from '../model/errors.js';

/** The error that the core has told as JSON text. */
export function coreError(text: string): StatepadError {
  const { code, message, ...details } = JSON.parse(text) as ErrorDetails & { code: ErrorCode; message: string };
  return new StatepadError(code, message, details);
}

/** No memory for a call, in the words of the core. */
export function memoryFull(): StatepadError {
  const message =
    'the memory of the WebAssembly module is full: nothing was changed, and deleting sessions makes room';
  return new StatepadError('CORE_FAILED', message, { reason: 'memory' });
}
