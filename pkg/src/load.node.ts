// Node, Bun, Deno: the module is compiled where it stands, in a few milliseconds, so that nobody ever waits for it.

import { initSync } from '../wasm/statepad.js';
import { moduleBytes } from './load.bytes.js';

initSync({ module: moduleBytes() });

/** What to wait for: nothing. */
export const loading: Promise<void> | undefined = undefined;
