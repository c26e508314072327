// Suggestions for keys that are missing.

import { namesText, write } from './transfer.js';
import { nearest_key } from './wasm.js';

/**
 * A function that answers the one of these keys that is most like a missing one, if any is. Nothing else may call the
 * core between.
 */
export function nearestKeys(keys: readonly string[]): (missing: string) => string | undefined {
  const [length] = write(namesText(keys));
  return (missing) => nearest_key(missing, length);
}
