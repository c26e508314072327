// Pictures within events. They are drawn from the event itself: nothing is loaded.

import type { FileData } from '../model/contents.js';

/** The types of pictures that contain no scripts and no addresses. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
/** The size up to which a picture is drawn, in characters of base64. */
const LARGEST = 700_000;
const BASE64 = /^[\w+/-]+={0,2}$/u;

/** The address of a small picture of a safe type, with the data in it; `undefined` for any other file. */
export function pictureOf({ mimeType, data }: FileData): string | undefined {
  const type = mimeType.toLowerCase();
  if (!TYPES.has(type) || data.length === 0 || data.length > LARGEST || !BASE64.test(data)) {
    return undefined;
  }
  // Python writes the alphabet for addresses.
  return `data:${type};base64,${data.replaceAll('-', '+').replaceAll('_', '/')}`;
}
