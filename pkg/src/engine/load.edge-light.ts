// Vercel's edge runtime compiles no code at run time: it imports the module, compiled, under a name that ends in
// `?module`.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm?module';
import { loadNow, type Loading } from './loading.js';

/** What came of it. */
export const loading: Loading = loadNow(() => {
  // Next compiles the module outside of the realm that a route runs in, and the glue knows a module by the class of
  // its own realm alone. Only objects that are modules have this tag.
  if (
    !(module instanceof WebAssembly.Module) &&
    Object.prototype.toString.call(module) === '[object WebAssembly.Module]'
  ) {
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  }
  initSync({ module });
});
