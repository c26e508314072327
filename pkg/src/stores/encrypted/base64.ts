// Base64 in its canonical form: no other text for the same bytes is read. Node's own takes a fraction of the time.

import { builtinModule } from '../shared/builtin.js';

/** The number of bytes that are handed to one call as arguments. */
const CHUNK = 8_192;

/** Writes bytes as base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  const buffer = builtinModule('node:buffer')?.Buffer;
  if (buffer !== undefined) {
    return buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  }
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}

/** Reads what {@link toBase64} has written; `undefined` for everything else. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decode(text);
  // Decoders pass over blanks, missing padding and bits that belong to no byte, or over everything else.
  return bytes !== undefined && toBase64(bytes) === text ? bytes : undefined;
}

function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  const buffer = builtinModule('node:buffer')?.Buffer;
  if (buffer !== undefined) {
    return buffer.from(text, 'base64');
  }
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}
