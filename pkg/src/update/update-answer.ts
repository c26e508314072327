// The answer of an update's function: a delta, or nothing.

import { StatepadError } from '../model/errors.js';
import { describe, isPlain } from '../model/value-types.js';
import { warnInDevelopment } from '../model/warnings.js';
import type { Json } from '../model/types.js';

type State = Readonly<Record<string, Json>>;

/**
 * The delta that an update function has returned; `undefined` when there is nothing to write. `state` is the
 * function's argument.
 *
 * A function that changes its argument and returns nothing, or the argument, has written nothing: the frozen record
 * throws no error in a sloppy script. So these two answers are worth a warning in development. Callers with nothing to
 * write return `{}`.
 *
 * Throws `INVALID_ARGUMENT` for anything but a plain object or `undefined`.
 */
export function deltaOf(answer: unknown, state: State): Readonly<Record<string, unknown>> | undefined {
  if (answer === undefined) {
    warnInDevelopment('STATEPAD_NO_DELTA', `an update function returned undefined: ${ADVICE}`);
    return undefined;
  }
  if (!isPlain(answer)) {
    const message = `the update function must return a plain object of keys and values, or undefined, not ${describe(answer)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { path: 'fn' });
  }
  if (answer === state) {
    warnInDevelopment('STATEPAD_NO_DELTA', `an update function returned the state that it received: ${ADVICE}`);
  }
  return answer;
}

const ADVICE =
  'the state is read-only, and only the returned delta is written; return { key: value }, or {} if there is nothing to write';
