// Suggestions for keys that are missing.

import { writeTexts } from './transfer.js';
import { nearest_key } from './wasm.js';

/** A function that answers the one of these keys that is most like a missing one, if any is. */
export function nearestKeys(keys: readonly string[]): (missing: string) => string | undefined {
  return (missing) => keys[nearest_key(writeTexts([missing, ...keys]), keys.length)];
}
