// The version of sealed texts.

import { newerVersion, otherLayout } from '../../store/refusals.js';
import type { StoreError } from '../../store/store-error.js';

/** The version of what this package seals and opens. */
export const VERSION = 1;

/** Its fingerprint, which distinguishes unreleased builds. A test computes it from a small sealed history. */
export const LAYOUT = '73fd6165';

/** The prefix of every text that is sealed now. */
export const MARK = `sealed${VERSION}.${LAYOUT}:`;

/** The prefix of texts of all versions: the number of the version, and its fingerprint if it has one. */
const ANY_MARK = /^sealed(\d+)(?:\.([0-9a-f]{8}))?:/;

/** True if a text begins with the mark of any version. */
export function hasMark(text: string): boolean {
  return ANY_MARK.test(text);
}

/** `rejected`: a text that another version has sealed. `what` names it. */
export function otherSeal(text: string, what: string): StoreError {
  const [, number, layout] = ANY_MARK.exec(text) ?? [];
  return layout !== undefined && Number(number) > VERSION
    ? newerVersion(what, Number(number), VERSION)
    : otherLayout(what, layout, LAYOUT);
}
