// Where the placeholders of a template stand, for people. The same rule as in the core (src/template.rs).

/** A place in a text. */
export interface Place {
  /** From 1. */
  readonly line: number;
  /** In characters (code points), from 1. */
  readonly column: number;
}

/** Answers with the place of a position in the text. The positions that it is given must not go back. */
export function placesIn(text: string): (position: number) => Place {
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

/** Whether a unit is the second of the two that make one character. */
function isSecondHalf(text: string, at: number, code: number): boolean {
  return code >= 0xdc00 && code < 0xe000 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
