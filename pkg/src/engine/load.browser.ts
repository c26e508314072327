// Browsers, and every host without a condition of its own: the module lies in a script, so that no bundler loses it,
// and is compiled beside the page's own work.

import { initSync } from '../../wasm/statepad.js';
import { characters, frequent, length, text } from '../../wasm/statepad_text.js';
import { decodeModule } from './module-text.js';

/** What to wait for. */
export const loading: Promise<void> | undefined = WebAssembly.compile(
  decodeModule({ characters, frequent, length, text }),
).then((compiled) => {
  initSync({ module: compiled });
});

// A failure reaches the callers of ready(); without one it must not be an unhandled rejection.
loading.catch(() => undefined);
