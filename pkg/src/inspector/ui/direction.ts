// The direction of a text.

/** The length of the beginning of a text that is examined, in characters. */
const LOOKED_AT = 400;

/** Letters that are read from right to left: Hebrew, Arabic and their neighbours. */
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * The `dir` for a text that is being typed, by its first letter. `auto` would be the same, but takes browsers half a
 * minute for a text area with two million characters in a line.
 */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const letter = /\p{L}/u.exec(text.slice(0, LOOKED_AT))?.[0];
  return letter === undefined ? 'ltr' : RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
