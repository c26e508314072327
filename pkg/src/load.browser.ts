// Browsers, and every host without a condition of its own: the module lies in a script, so that no bundler loses it, and is
// compiled beside the page's own work.

import init from '../wasm/statepad.js';
import { base64 } from '../wasm/statepad_base64.js';

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  return bytes;
}

/** What to wait for. */
export const loading: Promise<void> | undefined = init({ module_or_path: moduleBytes() }).then(() => undefined);

// Whoever waits is told of a failure; that nobody waits yet is none.
loading.catch(() => undefined);
