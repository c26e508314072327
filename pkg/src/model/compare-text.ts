// The order of texts that every store and the core share.

/** Compares texts by their code points, as their UTF-8 bytes would; JavaScript compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) {
      // Surrogates encode code points above all others.
      const [isLeftHigh, isRightHigh] = [left >= 0xd800 && left <= 0xdfff, right >= 0xd800 && right <= 0xdfff];
      return isLeftHigh === isRightHigh ? left - right : isLeftHigh ? 1 : -1;
    }
  }
  return a.length - b.length;
}
