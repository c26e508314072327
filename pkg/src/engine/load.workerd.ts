// Cloudflare's workerd compiles no code at run time: it imports the compiled module.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm';
import { loadNow, type Loading } from './loading.js';

/** The state of loading. */
export const loading: Loading = loadNow(() => initSync({ module }));
