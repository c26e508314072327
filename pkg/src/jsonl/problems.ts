// Problems with the lines of a file.

import { lostNumber, lostTitle } from '../model/json-numbers.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { refuse } from '../transfer/refuse.js';

export { refuse };

/** The number of broken lines that an error lists. */
const MOST = 100;

/** One broken line. */
interface Problem {
  readonly line: number;
  readonly reason: string;
}

/** Refuses a text of JSON with a number that JavaScript cannot hold. */
export function checkNumbers(json: string): void {
  const number = lostNumber(json);
  if (number !== undefined) {
    refuse(`there is ${lostTitle(number)}`);
  }
}

/** Collects problems, to report all of them at once. */
export class Problems {
  readonly #problems: Problem[] = [];

  /** Runs a task for a line. If it is refused, the line is broken, and the answer is `undefined`. */
  async watch<T>(line: number, task: () => T | Promise<T>, place = ''): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      if (!isStatepadError(error)) {
        throw error;
      }
      this.#problems.push({ line, reason: place + error.message });
      return undefined;
    }
  }

  /** Throws `INVALID_ARGUMENT` when a line is broken, or the file is empty. */
  throwIfAny(isEmpty: boolean): void {
    const problems = this.#problems.sort((one, other) => one.line - other.line).slice(0, MOST);
    const [first] = problems;
    if (first !== undefined) {
      throw new StatepadError('INVALID_ARGUMENT', `line ${first.line}: ${first.reason}`, {
        line: first.line,
        problems,
      });
    }
    if (isEmpty) {
      throw new StatepadError('INVALID_ARGUMENT', 'there is no session in it', { path: 'input', problems });
    }
  }
}
