// The module as text for browsers: a script in which it cannot get lost, and which compresses nearly as well as the
// module itself. Hexadecimal digits take 3 kB more, brotli, and base64 takes 14 kB more, as it breaks the bytes apart.

/** Printable characters that no script and no page has to escape. The last two come before a second one. */
const CHARACTERS = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
  .filter((character) => !'\'"`\\$<'.includes(character))
  .join('');
const ESCAPES = 2;

/**
 * A character for each of the most frequent bytes, two for each of the others, both in the order of their numbers.
 * `pkg/src/engine/module-text.ts` reads it.
 *
 * @param {Uint8Array} module
 */
export function encodeModule(module) {
  const counts = new Array(256).fill(0);
  for (const byte of module) counts[byte] += 1;
  const bytes = counts.map((_, byte) => byte).sort((a, b) => counts[b] - counts[a] || a - b);
  const single = CHARACTERS.length - ESCAPES;
  const frequent = bytes.slice(0, single).sort((a, b) => a - b);
  const others = bytes.slice(single).sort((a, b) => a - b);
  const half = Math.ceil(others.length / ESCAPES);
  /** @type {string[]} */
  const codes = [];
  frequent.forEach((byte, place) => (codes[byte] = CHARACTERS[place]));
  others.forEach(
    (byte, place) => (codes[byte] = CHARACTERS[single + Math.floor(place / half)] + CHARACTERS[place % half]),
  );
  const text = Array.from(module, (byte) => codes[byte]).join('');
  return { characters: CHARACTERS, frequent, length: module.length, text };
}

/**
 * The script that exports it.
 *
 * @param {Uint8Array} module
 */
export function moduleScript(module) {
  const { characters, frequent, length, text } = encodeModule(module);
  return [
    `export const characters = '${characters}';`,
    `export const frequent = [${frequent.join(',')}];`,
    `export const length = ${length};`,
    `export const text = '${text}';`,
    '',
  ].join('\n');
}

/** Its declarations. */
export const MODULE_DECLARATIONS = `/** The module as text, for a host that is to read it from a script. */
export declare const characters: string;
export declare const frequent: readonly number[];
export declare const length: number;
export declare const text: string;
`;
