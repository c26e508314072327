// Node, Bun, Deno: the module is compiled where it stands, in a few milliseconds, so that nobody ever waits for it. It
// is read out of a script, as fast as from a file: no bundler loses it, and no host must be asked for leave to read.

import { Buffer } from 'node:buffer';
import { initSync } from '../../wasm/statepad.js';
import { hex } from '../../wasm/statepad_hex.js';

initSync({ module: Buffer.from(hex, 'hex') });

/** What to wait for: nothing. */
export const loading: Promise<void> | undefined = undefined;
