// Node, Bun, Deno: the module is compiled at import, in a few milliseconds, so that nobody ever waits for it. It is
// read from a script, as fast as from a file: no bundler loses it, and no host has to grant a file access.

import { Buffer } from 'node:buffer';
import { initSync } from '../../wasm/statepad.js';
import { hex } from '../../wasm/statepad_hex.js';
import { loadNow, type Loading } from './loading.js';

/** The state of loading. */
export const loading: Loading = loadNow(() => initSync({ module: Buffer.from(hex, 'hex') }));
