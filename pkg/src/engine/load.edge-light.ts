// Vercel's edge runtime compiles no code at run time: it imports the module, compiled, under a name that ends in
// `?module`.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm?module';

initSync({ module });

/** What to wait for: nothing. */
export const loading: Promise<void> | undefined = undefined;
