// The length of texts in UTF-8.

/**
 * The number of bytes of a text in UTF-8, without encoding it: `ä` has 2, `😀` has 4. Half of a surrogate pair by
 * itself has 3, as the replacement character that it is encoded to.
 */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) {
      bytes += unit > 0x7ff ? 2 : 1;
      if (isHigh(unit) && isLow(text.charCodeAt(index + 1))) {
        // Two units that have four bytes together.
        index += 1;
      }
    }
  }
  return bytes;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
