// The tokens of pages: the place where the next page of a list begins, as an opaque text.

import { fromBase64Url, toBase64Url } from '../../http/base64url.js';
import { invalid } from '../../checks/arguments.js';
import { digest } from '../../model/digest.js';

/** A list: its operation, its target and its order. A token of one is refused for another. */
export type ListName = readonly (string | undefined)[];

/** The token of a place in a list. */
export function writePageToken(list: ListName, place: unknown): string {
  return toBase64Url(JSON.stringify([nameDigest(list), place]));
}

/**
 * The place of a token, as `isPlace` recognizes it. Tokens are no secrets, and bring nobody to a place that may not be
 * seen: every page is made by the rights of its own request. Throws `INVALID_ARGUMENT`.
 */
export function readPageToken<Place>(
  list: ListName,
  token: string,
  isPlace: (place: unknown) => place is Place,
): Place {
  try {
    const parsed = JSON.parse(fromBase64Url(token) ?? '') as unknown;
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [of, place] = parsed as unknown[];
      if (of === nameDigest(list) && isPlace(place)) {
        return place;
      }
    }
  } catch {
    // The error below reports it.
  }
  return invalid('pageToken', 'is not from a page of this list');
}

function nameDigest(list: ListName): string {
  return digest(JSON.stringify(list.map((part) => part ?? null)));
}
