// What the function of an update answers with: a delta, or nothing.

import { StatepadError } from '../model/errors.js';
import { describe, isPlain } from '../model/value-types.js';
import { warnInDevelopment } from '../model/warnings.js';
import type { Json } from '../model/types.js';

type State = Readonly<Record<string, Json>>;

/**
 * The delta that an update function has answered with; `undefined` when there is nothing to write. `state` is what the
 * function was given.
 *
 * A function that changes its argument and answers with nothing, or with the argument, has written nothing: sloppy
 * scripts are not told by the frozen record. So these two answers are worth a warning in development. Callers that
 * have nothing to write on purpose answer with `{}`.
 *
 * Throws `INVALID_ARGUMENT` for anything else than a plain object or `undefined`.
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
