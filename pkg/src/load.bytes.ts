import { base64 } from '../wasm/statepad_base64.js';

/**
 * The WebAssembly module, out of the text that lies in a script: no bundler loses it, no host must be asked for leave to
 * read a file.
 */
export function moduleBytes(): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  return bytes;
}
