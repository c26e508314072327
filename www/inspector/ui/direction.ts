// Which way a text is read.

/** As much of a text is looked at, in characters. */
const LOOKED_AT = 400;

/** Letters that are read from right to left: Hebrew, Arabic and their neighbours. */
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * What `dir` should be for a text that is being typed: as its first letter is read. `auto` says the same, but takes
 * browsers half a minute for a text area with two million characters in a line.
 */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const letter = /\p{L}/u.exec(text.slice(0, LOOKED_AT))?.[0];
  return letter === undefined ? 'ltr' : RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
