// Waiting for the module before a synchronous call.

import { ready as loadedCore } from './wasm.js';

/**
 * Resolves when the synchronous functions can be used. In Node they can be used at once; in a browser the module is
 * compiled first, which takes milliseconds. The asynchronous methods wait by themselves.
 *
 * Throws `CORE_FAILED` with the reason `host` when the host has no WebAssembly, or does not compile it (for example a
 * content security policy without `'wasm-unsafe-eval'`).
 */
export async function ready(): Promise<void> {
  await loadedCore();
}
