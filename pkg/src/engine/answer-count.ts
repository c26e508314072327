// What calls answer with that have no error to tell but want of memory.

import { memoryFull } from './core-error.js';
import { Answer } from './wasm.js';

const REFUSED: number = Answer.Refused;

/** How many numbers the core has answered with, unless it has refused the call. Throws `CORE_FAILED`. */
export function countOf(answer: number): number {
  if (answer === REFUSED) {
    throw memoryFull();
  }
  return answer;
}
