// Node, Bun, Deno: the module is compiled where it stands, in a few milliseconds, so that nobody ever waits for it. It
// is read out of a script, as fast as from a file: no bundler loses it, and no host must be asked for leave to read.

import { Buffer } from 'node:buffer';
import { initSync } from '../../wasm/statepad.js';
import { hex } from '../../wasm/statepad_hex.js';
import { loadNow, type Loading } from './loading.js';

/** What came of it. */
export const loading: Loading = loadNow(() => initSync({ module: Buffer.from(hex, 'hex') }));
