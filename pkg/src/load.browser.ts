// Browsers, and every host without a condition of its own: the module is compiled beside the page's own work.

import init from '../wasm/statepad.js';
import { moduleBytes } from './load.bytes.js';

/** What to wait for. */
export const loading: Promise<void> | undefined = init({ module_or_path: moduleBytes() }).then(() => undefined);

// Whoever waits is told of a failure; that nobody waits yet is none.
loading.catch(() => undefined);
