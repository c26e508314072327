// The one instance of the core, and the way in for long texts.

import { loading } from '#load';
import { initSync, scratch, type InitOutput } from '../wasm/statepad.js';
import { StatepadError } from './errors.js';

let loaded = loading === undefined;
const whenLoaded = loading?.then(() => {
  loaded = true;
});
// Whoever calls ready() is told of a failure; that nobody has called yet is none.
whenLoaded?.catch(() => undefined);

/**
 * Resolves when the synchronous functions can be used. In Node they can be used at once; in a browser the module is
 * compiled first, which takes milliseconds. The asynchronous methods wait by themselves.
 *
 * Rejects when the host cannot compile the module (a content security policy without `'wasm-unsafe-eval'`, say).
 */
export async function ready(): Promise<void> {
  await whenLoaded;
}

/** Whether the core can be called. */
export function isReady(): boolean {
  return loaded;
}

/** Throws `NOT_READY` when the core cannot be called yet. `what` is what the caller called. */
export function requireReady(what: string): void {
  if (!loaded) {
    throw new StatepadError('NOT_READY', `${what} was called before the module was loaded: await ready() first`);
  }
}

/** The glue hands out the instance that it has. */
const instance = initSync as () => InitOutput;
const encoder = new TextEncoder();
let target = new Uint8Array(0);
let capacity = 0;

/** Writes texts where the core reads them, one behind the other. Returns the length of each in bytes. */
export function write(first: string, second = '', third = ''): readonly [number, number, number] {
  const most = (first.length + second.length + third.length) * 3;
  // A view of memory that has grown since is detached: its length is 0.
  if (target.length < most || target.length === 0) {
    capacity = Math.max(capacity, most, 4096);
    const pointer = scratch(capacity) >>> 0;
    target = new Uint8Array(instance().memory.buffer, pointer, capacity);
  }
  const a = encoder.encodeInto(first, target).written;
  const b = writeBehind(a, second);
  return [a, b, writeBehind(a + b, third)];
}

/** Short texts, ids mostly, are put there character by character, as long as they are ASCII. */
function writeBehind(at: number, text: string): number {
  const { length } = text;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127 || index > 64) {
      return encoder.encodeInto(text, target.subarray(at)).written;
    }
    target[at + index] = code;
  }
  return length;
}
