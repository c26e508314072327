// Browsers, and every host without a condition of its own: the module is in a script, so that no bundler loses it, and
// is compiled beside the page's own work.

import { initSync } from '../../wasm/statepad.js';
import { characters, frequent, length, text } from '../../wasm/statepad_text.js';
import { loadBeside, type Loading } from './loading.js';
import { decodeModule } from './module-text.js';

/** The state of loading. */
export const loading: Loading = loadBeside(async () => {
  const compiled = await WebAssembly.compile(decodeModule({ characters, frequent, length, text }));
  initSync({ module: compiled });
});
