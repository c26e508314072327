// The way in for long texts: a buffer in the module's memory, written here and read by the next call.

import { memoryFull } from './core-error.js';
import { instance, make_scratch } from './wasm.js';
import type { Json } from '../model/types.js';

const encoder = new TextEncoder();
let target = new Uint8Array(0);
let capacity = 0;

/**
 * The buffer grows no less than to this, and one that is this many times as large as is needed is given back, in
 * bytes.
 */
const LEAST = 4096;
const LARGE = 1 << 20;
const MUCH = 16;

/**
 * Writes texts where the core reads them, one behind the other. Returns the length of each in bytes. Throws
 * `CORE_FAILED`.
 */
export function write(first: string, second = '', third = ''): readonly [number, number, number] {
  const most = (first.length + second.length + third.length) * 3;
  // A view of memory that has grown since is detached: its length is 0.
  if (target.length < most || target.length === 0 || (target.length > LARGE && target.length > most * MUCH)) {
    resize(capacity > LARGE ? most : Math.max(capacity, most));
    if (target.length < most) {
      // There is no room for the longest that the texts could be: for what they are there may be.
      resize([first, second, third].reduce((sum, text) => sum + byteLength(text), 0));
    }
    if (target.length === 0) {
      throw memoryFull();
    }
  }
  const a = encoder.encodeInto(first, target).written;
  const b = writeBehind(a, second);
  return [a, b, writeBehind(a + b, third)];
}

/** Makes the buffer so long; of no length when there is no room for it. */
function resize(length: number): void {
  capacity = Math.max(length, LEAST);
  const pointer = make_scratch(capacity) >>> 0;
  capacity = pointer === 0 ? 0 : capacity;
  target = new Uint8Array(instance().memory.buffer, pointer, capacity);
}

/** The most bytes that a text can have in UTF-8: a pair of surrogates has fewer. */
function byteLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    length += code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
  }
  return length;
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

/** A delta under full keys: the values to set (`null` where a key is deleted), and the keys to delete. */
export interface KeyedDelta {
  readonly delta: Readonly<Record<string, Json>>;
  readonly deleted: readonly string[];
}

/**
 * Writes a delta, and behind it the `id` of its event. Returns the length of each text in bytes. Throws `CORE_FAILED`.
 */
export function writeDelta({ delta, deleted }: KeyedDelta, id?: string): readonly [number, number, number] {
  return write(JSON.stringify(delta), namesText(deleted), id);
}

/** Names as JSON text: the members of an object. No text at all when there are none. */
export function namesText(names: readonly string[]): string {
  return names.length === 0 ? '' : `{${names.map((name) => `${JSON.stringify(name)}:0`).join()}}`;
}
