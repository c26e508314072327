/** The memory that a process has: the JavaScript heap, what hangs on it, and every WebAssembly instance. */

/** Finds the memory of the instances that are made from now on: how many bytes they have, all together. */
export function watchWasm() {
  const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      super(...args);
      memories.push(...Object.values(this.exports).filter((item) => item instanceof WebAssembly.Memory));
    }
  };
  return () => memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
}

/** Collects until nothing more is found. */
export async function settle() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Bytes of the heap with everything reachable from it, and of WebAssembly, after a full collection. Node's figure for
 * external memory includes the memory of WebAssembly.
 */
export async function usedBytes(wasmBytes) {
  await settle();
  const { heapUsed, external } = process.memoryUsage();
  const wasm = wasmBytes();
  return { heap: heapUsed + external - wasm, wasm };
}
