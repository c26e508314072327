// The nesting depth of a JSON text that comes in pieces.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Follows the brackets of one text. Each character is examined once, in pieces of any size. Nothing is parsed: for a
 * text that is no JSON the numbers describe its brackets.
 */
export class Nesting {
  #depth = 0;
  #deepest = 0;
  #isInString = false;
  #isEscaped = false;

  /** The largest number of lists and objects around one character so far. */
  get deepest(): number {
    return this.#deepest;
  }

  /** True when something was opened, and all of it is closed again. */
  get isClosed(): boolean {
    return this.#deepest > 0 && this.#depth === 0 && !this.#isInString;
  }

  /** Continues with the next piece of the text. */
  follow(piece: string): void {
    let index = 0;
    while (index < piece.length) {
      index = this.#isInString ? this.#followString(piece, index) : this.#followBrackets(piece, index);
    }
  }

  /** Skips to the end of a string; answers the index to continue at. */
  #followString(piece: string, from: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return from + 1;
    }
    for (let index = from; index < piece.length; index++) {
      const code = piece.charCodeAt(index);
      if (code === BACKSLASH) {
        this.#isEscaped = true;
        return index + 1;
      }
      if (code === QUOTE) {
        this.#isInString = false;
        return index + 1;
      }
    }
    return piece.length;
  }

  /** Skips to the beginning of a string; answers the index to continue at. */
  #followBrackets(piece: string, from: number): number {
    for (let index = from; index < piece.length; index++) {
      const code = piece.charCodeAt(index);
      if (code === QUOTE) {
        this.#isInString = true;
        return index + 1;
      }
      if (OPENING.has(code)) {
        this.#depth += 1;
        this.#deepest = Math.max(this.#deepest, this.#depth);
      } else if (CLOSING.has(code)) {
        this.#depth -= 1;
      }
    }
    return piece.length;
  }
}
