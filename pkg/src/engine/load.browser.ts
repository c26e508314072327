// Browsers, and every host without a condition of its own: the module is in scripts, so that no bundler loses it, and
// is compiled beside the page's own work. Its secondary part is a script of its own, which a page loads when it needs
// it.

import { completeWith, initSync } from '../../wasm/statepad.js';
import { characters, frequent, length, text } from '../../wasm/statepad_primary.js';
import { loadBeside, type Loading } from './loading.js';
import { decodeModule } from './module-text.js';

/** The state of loading. */
export const loading: Loading = {
  ...loadBeside(async () => {
    const compiled = await WebAssembly.compile(decodeModule({ characters, frequent, length, text }));
    initSync({ module: compiled });
  }),
  loadSecondary: async () => {
    const secondary = decodeModule(await import('../../wasm/statepad_secondary.js'));
    const { instance } = await WebAssembly.instantiate(secondary, { primary: { ...(initSync as () => object)() } });
    completeWith(instance.exports);
  },
};
