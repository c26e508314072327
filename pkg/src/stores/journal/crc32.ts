// CRC-32, as zip and PNG have it: it finds every error of a single byte, and almost all others.

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) {
    rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return rest;
});
const encoder = new TextEncoder();

let count = countCrc32;

/** The CRC-32 of a text's UTF-8 bytes. */
export function crc32(text: string): number {
  return count(text);
}

/** Lets a function of the host count from now on, which says the same in less time. */
export function countBy(faster: typeof countCrc32): void {
  count = faster;
}

/** The same for hosts that cannot count it. */
export function countCrc32(text: string): number {
  const bytes = encoder.encode(text);
  let rest = -1;
  // Counting takes half the time of `for … of`.
  let index = 0;
  while (index < bytes.length) {
    rest = (rest >>> 8) ^ (TABLE[(rest ^ (bytes[index++] as number)) & 0xff] as number);
  }
  return ~rest >>> 0;
}
