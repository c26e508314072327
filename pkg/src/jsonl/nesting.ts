// How deep a JSON text is nested, told while it comes in pieces.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Follows the brackets of one text. Each character is looked at once, however the text is cut. Nothing is parsed: of a
 * text that is no JSON the numbers say as much as its brackets do.
 */
export class Nesting {
  #depth = 0;
  #deepest = 0;
  #isInString = false;
  #isEscaped = false;

  /** The most lists and objects that are around one place of the text so far. */
  get deepest(): number {
    return this.#deepest;
  }

  /** True when all that was opened is closed again, and something was. */
  get isClosed(): boolean {
    return this.#deepest > 0 && this.#depth === 0 && !this.#isInString;
  }

  /** Goes on with the next piece of the text. */
  follow(piece: string): void {
    let index = 0;
    while (index < piece.length) {
      index = this.#isInString ? this.#followString(piece, index) : this.#followBrackets(piece, index);
    }
  }

  /** Goes to the end of a string; answers where to go on. */
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

  /** Goes to the beginning of a string; answers where to go on. */
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
