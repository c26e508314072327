/** The bytes of one item of many, after a full collection: heap, everything reachable from it, and WebAssembly. */

import { fill, makeEvent, readEvents, readState, stateText } from '../workload.mjs';
import { usedBytes } from '../memory.mjs';

const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };
const COUNT = 10_000;

/** `make` makes many and answers with what has to stay alive; `prove` looks at them. */
async function bytesOfEach(make, prove, { wasmBytes }) {
  const before = await usedBytes(wasmBytes);
  const items = await make();
  const after = await usedBytes(wasmBytes);
  const value = (after.heap + after.wasm - before.heap - before.wasm) / COUNT;
  return { proof: await prove(items), value, wasm: (after.wasm - before.wasm) / COUNT };
}

/** Of 10,000 appended to one session. */
export async function memoryEvent({ createService }, options) {
  const service = createService();
  const session = await fill(service, KEY, 10);
  const make = async () => {
    for (let number = 10; number < COUNT + 10; number += 1) {
      await service.appendEvent({ session, event: makeEvent(number) });
    }
    return session;
  };
  const prove = async () => {
    const stored = await service.getSession(KEY);
    return { characters: readEvents(stored), state: stateText(stored.state) };
  };
  return await bytesOfEach(make, prove, options);
}

/** Of 10,000 of one app, each with one key and a user of its own, whose handles are dropped. */
export async function memorySession({ createService }, options) {
  const service = createService();
  await fill(service, KEY, 10);
  const keyOf = (index) => ({ appName: 'app', userId: `user-${index}`, sessionId: `session-${index}` });
  const make = async () => {
    for (let index = 0; index < COUNT; index += 1) {
      await service.createSession({ ...keyOf(index), state: { topic: 'tides' } });
    }
  };
  return await bytesOfEach(make, async () => (await service.getSession(keyOf(7))).state.topic, options);
}

/** Of 10,000 of one session of ten events, whose state was read. */
export async function memoryHandle({ createService }, options) {
  const service = createService();
  await fill(service, KEY, 10);
  const make = async () => {
    const handles = [];
    for (let index = 0; index < COUNT; index += 1) {
      handles.push(await service.getSession(KEY));
      readState(handles.at(-1));
    }
    return handles;
  };
  return await bytesOfEach(make, (handles) => handles.map(readState).at(-1), options);
}

/** Of 10,000 with a number each, of one app, written by a hundred events. */
export async function memoryKey({ createService }, options) {
  const service = createService();
  const session = await fill(service, KEY, 10);
  const make = async () => {
    for (let number = 10; number < 110; number += 1) {
      const stateDelta = {};
      for (let index = 0; index < COUNT / 100; index += 1) stateDelta[`app:key ${number} ${index}`] = index;
      const event = { ...makeEvent(number), actions: { stateDelta } };
      await service.appendEvent({ session, event });
    }
  };
  return await bytesOfEach(make, async () => readState(await service.getSession(KEY)), options);
}
