// Decodes the module from a script, as `scripts/module-text.mjs` writes it.

/** The bytes of the module as printable characters. */
export interface ModuleText {
  /**
   * The alphabet. A character stands for its index; the last two are the first of a pair, for a byte that is not
   * frequent.
   */
  readonly characters: string;
  /** The bytes that one character stands for, by index; the others follow in ascending order. */
  readonly frequent: readonly number[];
  /** The number of bytes. */
  readonly length: number;
  readonly text: string;
}

/** Decodes the bytes. */
export function decodeModule({ characters, frequent, length, text }: ModuleText): Uint8Array<ArrayBuffer> {
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !frequent.includes(byte));
  const half = Math.ceil(others.length / (characters.length - frequent.length));
  const table = [...frequent, ...others];
  const codes = new Uint8Array(128);
  Array.from(characters, (character, code) => (codes[character.charCodeAt(0)] = code));
  const bytes = new Uint8Array(length);
  let at = 0;
  const next = (): number => codes[text.charCodeAt(at++)] as number;
  for (let index = 0; index < length; index++) {
    let code = next();
    if (code >= frequent.length) {
      code = frequent.length + (code - frequent.length) * half + next();
    }
    bytes[index] = table[code] as number;
  }
  return bytes;
}
