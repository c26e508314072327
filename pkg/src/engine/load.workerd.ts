// Cloudflare's workerd compiles no code at run time: it imports the module, compiled.

import { initSync } from '../../wasm/statepad.js';
import module from '../../wasm/statepad_bg.wasm';
import { loadNow, type Loading } from './loading.js';

/** What came of it. */
export const loading: Loading = loadNow(() => initSync({ module }));
