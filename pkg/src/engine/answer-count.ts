// Answers of calls whose only error is a lack of memory.

import { memoryFull } from './core-error.js';
import { Answer } from './wasm.js';

const REFUSED: number = Answer.Refused;

/** The number of words in the answer, unless the core has refused the call. Throws `CORE_FAILED`. */
export function countOf(answer: number): number {
  if (answer === REFUSED) {
    throw memoryFull();
  }
  return answer;
}
