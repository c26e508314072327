// All marshalling: three buffers in the module's memory, which are written here and read by the next call, or written
// by a call and read here. Views of memory that has grown are detached, with length 0, and are taken anew.

import { memoryFull } from './core-error.js';
import { Absent, Floats, instance, make_floats, make_scratch, make_words } from './wasm.js';

/** Created at the first use: a host may lack it, which a call reports, not the import. */
let encoder: TextEncoder | undefined;
let text = new Uint8Array(0);
let textCapacity = 0;
let words = new Uint32Array(0);
let wordsStart = 0;
let wordsCapacity = 0;
let floats = new Float64Array(0);

/** The least size of the text buffer, and the size and the excess from which it is shrunk, in bytes. */
const MIN_BYTES = 4096;
const LARGE_BYTES = 1 << 20;
const SHRINK_FACTOR = 16;

/** The same for the buffer of words, in words. */
const MIN_WORDS = 1024;
const LARGE_WORDS = 1 << 18;

/** The length of the buffer of floats, and the indexes in it. */
const FLOATS = 8;
const NONE: number = Absent.Number;
const TIME: number = Floats.Time;
const REVISION: number = Floats.Revision;
const APP_VERSION: number = Floats.AppVersion;
const USER_VERSION: number = Floats.UserVersion;
const EXPECTED: number = Floats.Expected;
const ACTUAL: number = Floats.Actual;

/** Writes a text where the core reads it. Returns its length in bytes. Throws `CORE_FAILED`. */
export function writeText(value: string): number {
  roomForTexts(value.length * 3, () => byteLength(value));
  return encodeAt(0, value);
}

/**
 * Writes texts where the core reads them, one behind the other, and the length of each in bytes as words, behind as
 * many words as `behind`. An absent text has a length of its own. Throws `CORE_FAILED`.
 */
export function writeTexts(texts: readonly (string | undefined)[], behind = 0): void {
  const most = texts.reduce((sum, one) => sum + (one?.length ?? 0), 0) * 3;
  const lengths = wordsFor(behind + texts.length);
  roomForTexts(most, () => texts.reduce((sum, one) => sum + byteLength(one ?? ''), 0));
  // Writing the texts may have grown the memory.
  const target = lengths.length === 0 ? currentWords() : lengths;
  let at = 0;
  texts.forEach((one, index) => {
    const length = one === undefined ? NONE : encodeAt(at, one);
    target[behind + index] = length;
    at += one === undefined ? 0 : length;
  });
}

/** Makes room for texts of `most` bytes; or, without enough memory, for their exact length. */
function roomForTexts(most: number, exactly: () => number): void {
  if (text.length < most || text.length === 0 || (text.length > LARGE_BYTES && text.length > most * SHRINK_FACTOR)) {
    resizeText(textCapacity > LARGE_BYTES ? most : Math.max(textCapacity, most));
    if (text.length < most) {
      resizeText(exactly());
    }
    if (text.length === 0) {
      throw memoryFull();
    }
  }
}

/** Resizes the buffer; to length 0 when there is no room for it. */
function resizeText(length: number): void {
  textCapacity = Math.max(length, MIN_BYTES);
  const pointer = make_scratch(textCapacity) >>> 0;
  textCapacity = pointer === 0 ? 0 : textCapacity;
  text = new Uint8Array(instance().memory.buffer, pointer, textCapacity);
}

/** An upper bound of a text's length in UTF-8: a pair of surrogates has fewer bytes. */
function byteLength(value: string): number {
  let length = value.length;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    length += code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
  }
  return length;
}

/** Short texts, mostly ids, are written character by character, as long as they are ASCII. */
function encodeAt(at: number, value: string): number {
  const { length } = value;
  if (length > 64) {
    return (encoder ??= new TextEncoder()).encodeInto(value, at === 0 ? text : text.subarray(at)).written;
  }
  for (let index = 0; index < length; index++) {
    const code = value.charCodeAt(index);
    if (code > 127) {
      return (encoder ??= new TextEncoder()).encodeInto(value, text.subarray(at)).written;
    }
    text[at + index] = code;
  }
  return length;
}

/** The buffer of words for a call with so many writes, both its arguments and its answer. Throws `CORE_FAILED`. */
export function wordsFor(writes: number): Uint32Array {
  const needed = 2 * writes + 64;
  if (wordsCapacity < needed || (wordsCapacity > LARGE_WORDS && wordsCapacity > needed * SHRINK_FACTOR)) {
    takeWords(Math.max(needed, MIN_WORDS));
  }
  return currentWords();
}

/** The words of an answer, for which the core has made room. Throws `CORE_FAILED`. */
export function answerOf(length: number): Uint32Array {
  takeWords(Math.max(length, wordsCapacity));
  return currentWords();
}

/** The buffer of words of the last call. */
export function currentWords(): Uint32Array {
  if (words.length === 0) {
    words = new Uint32Array(instance().memory.buffer, wordsStart, wordsCapacity);
  }
  return words;
}

function takeWords(length: number): void {
  wordsStart = make_words(length) >>> 0;
  words = new Uint32Array(0);
  wordsCapacity = wordsStart === 0 ? 0 : length;
  if (wordsStart === 0) {
    throw memoryFull();
  }
}

/** Writes the time of a change and the expected versions, -1 for one that is not compared. */
export function writeFloats(time: number, revision = -1, app = -1, user = -1): void {
  const floats = currentFloats();
  floats[TIME] = time;
  floats[REVISION] = revision;
  floats[APP_VERSION] = app;
  floats[USER_VERSION] = user;
}

/** The revisions of an error of the core, the expected one and that of the session; below 0 without any. */
export function readRevisions(): [number, number] {
  const floats = currentFloats();
  return [floats[EXPECTED] as number, floats[ACTUAL] as number];
}

function currentFloats(): Float64Array {
  if (floats.length === 0) {
    floats = new Float64Array(instance().memory.buffer, make_floats() >>> 0, FLOATS);
  }
  return floats;
}
