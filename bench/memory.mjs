/**
 * The memory of one event: the JavaScript heap, what hangs on it, and the memory of every WebAssembly instance, before
 * and after 10,000 appends to one session, after a full collection each time.
 */

import { fill, readEvents, makeEvent, stateText } from './workload.mjs';

const EVENTS = 10_000;
const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };

/** Finds the memory of the instances that are made from now on. */
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

async function settle() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Bytes for each event. `wasmBytes` comes from `watchWasm`. */
export async function memoryPerEvent({ createService }, wasmBytes) {
  const service = createService();
  const bytes = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external + wasmBytes();
  };
  const session = await fill(service, KEY, 10);
  await settle();
  const before = bytes();
  const residentBefore = process.memoryUsage().rss;
  for (let number = 10; number < EVENTS + 10; number += 1) {
    await service.appendEvent({ session, event: makeEvent(number) });
  }
  await settle();
  const value = (bytes() - before) / EVENTS;
  const resident = (process.memoryUsage().rss - residentBefore) / EVENTS;
  const stored = await service.getSession(KEY);
  return { proof: { characters: readEvents(stored), state: stateText(stored.state) }, value, resident };
}
