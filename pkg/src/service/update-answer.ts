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
    warnInDevelopment('STATEPAD_NO_DELTA', `an update function answered with undefined: ${ADVICE}`);
    return undefined;
  }
  if (!isPlain(answer)) {
    const message = `the update function must answer with a plain object of keys and values, or with undefined, not with ${describe(answer)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { path: 'fn' });
  }
  if (answer === state) {
    warnInDevelopment('STATEPAD_NO_DELTA', `an update function answered with the state that it was given: ${ADVICE}`);
  }
  return answer;
}

const ADVICE =
  'the state is read-only, and only the delta that is answered is written; answer with { key: value }, or with {} when there is nothing to write';
