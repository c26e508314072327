// Browsers, and every host without a condition of its own: the module lies in a script, so that no bundler loses it,
// and is compiled beside the page's own work.

import { initSync } from '../../wasm/statepad.js';
import { hex } from '../../wasm/statepad_hex.js';

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = (digit(2 * index) << 4) | digit(2 * index + 1);
  }
  return bytes;
}

/** `0` to `9` have the codes 48 to 57, `a` to `f` 97 to 102. */
function digit(at: number): number {
  const code = hex.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}

/** What to wait for. */
export const loading: Promise<void> | undefined = WebAssembly.compile(moduleBytes()).then((module) => {
  initSync({ module });
});

// A failure reaches the callers of ready(); without one it must not be an unhandled rejection.
loading.catch(() => undefined);
