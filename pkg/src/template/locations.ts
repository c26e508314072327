// Lines and columns of placeholders, for people. The rule is that of the core (src/template.rs).

/** A line and a column in a text. */
export interface Location {
  /** From 1. */
  readonly line: number;
  /** In characters (code points), from 1. */
  readonly column: number;
}

/** Returns a function that locates an index in the text. Its arguments must not decrease. */
export function locator(text: string): (position: number) => Location {
  let at = 0;
  let line = 1;
  let column = 1;
  return (position) => {
    for (; at < position; at++) {
      const code = text.charCodeAt(at);
      if (code === NEWLINE) {
        line += 1;
        column = 1;
      } else if (!isSecondHalf(text, at, code)) {
        column += 1;
      }
    }
    return { line, column };
  };
}

const NEWLINE = 10;

/** True when a unit is the second half of a surrogate pair. */
function isSecondHalf(text: string, at: number, code: number): boolean {
  return code >= 0xdc00 && code < 0xe000 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
