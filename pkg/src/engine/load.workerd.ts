// Cloudflare's workerd compiles no code at run time: it imports the module, compiled.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm';

initSync({ module });

/** What to wait for: nothing. */
export const loading: Promise<void> | undefined = undefined;
