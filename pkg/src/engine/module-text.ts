// The module in a script, as `scripts/module-text.mjs` writes it.

/** The bytes of the module as printable characters. */
export interface ModuleText {
  /** Each stands for its place. The last two come before another one, for a byte that is not frequent. */
  readonly characters: string;
  /** The bytes that one character stands for, by its place; the others go on from the lowest to the highest. */
  readonly frequent: readonly number[];
  /** How many bytes there are. */
  readonly length: number;
  readonly text: string;
}

/** Reads the bytes. */
export function decodeModule({ characters, frequent, length, text }: ModuleText): Uint8Array<ArrayBuffer> {
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !frequent.includes(byte));
  const half = Math.ceil(others.length / (characters.length - frequent.length));
  const table = [...frequent, ...others];
  const places = new Uint8Array(128);
  Array.from(characters, (character, place) => (places[character.charCodeAt(0)] = place));
  const bytes = new Uint8Array(length);
  let at = 0;
  const next = (): number => places[text.charCodeAt(at++)] as number;
  for (let index = 0; index < length; index++) {
    let place = next();
    if (place >= frequent.length) {
      place = frequent.length + (place - frequent.length) * half + next();
    }
    bytes[index] = table[place] as number;
  }
  return bytes;
}
