// Vercel's edge runtime compiles no code at run time: it imports the compiled module under a name that ends in
// `?module`.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm?module';
import { loadNow, type Loading } from './loading.js';

/** The state of loading. */
export const loading: Loading = loadNow(() => {
  // Next compiles the module outside of the realm of a route, and the glue recognizes a module by the class of its own
  // realm alone. Only modules have this tag.
  if (
    !(module instanceof WebAssembly.Module) &&
    Object.prototype.toString.call(module) === '[object WebAssembly.Module]'
  ) {
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  }
  initSync({ module });
});
