// Short texts that distinguish long ones.

/**
 * A text of at most 11 characters (`0-9a-z`) that hardly ever collides (cyrb53, 53 bits). It separates values that
 * differ by accident; it is no protection against an attacker.
 */
export function digest(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (2 ** 32 * (0x1fffff & low) + (high >>> 0)).toString(36);
}
