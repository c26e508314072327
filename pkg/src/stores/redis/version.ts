// The version of the keys, and what is said of any other one.

import { newerVersion, olderVersion, otherLayout } from '../../store/refusals.js';
import { StoreError } from '../../store/store-error.js';

/** The way from one version of the keys to the next. */
export interface Upgrade {
  /** The versions, as keys say them. */
  readonly from: string;
  readonly to: string;
  /**
   * The script that brings a key up to date, in Lua: `key` is its name. It does nothing to a key that is up to date,
   * as it may be run again for each.
   */
  readonly lua: string;
}

/** A version of the keys, and what leads up to it. */
export interface Schema {
  readonly version: number;
  /** The fingerprint of the layout, which distinguishes unreleased builds; the first release takes it out. */
  readonly layout: string;
  /** From the earliest version that can be upgraded up to this one. */
  readonly upgrades: readonly Upgrade[];
}

/** The version of the keys that this package reads and writes. */
export const VERSION = 1;

/** Its fingerprint, which a test computes from what a small history leaves in a server. */
export const LAYOUT = 'd2264a78';

/** The version as keys say it. Every script that works for an app compares it. */
export const VERSION_TEXT = `${VERSION}:${LAYOUT}`;

/** The schema that this package reads and writes. */
export const SCHEMA: Schema = { version: VERSION, layout: LAYOUT, upgrades: [] };

/** The form of a version in keys. */
const TEXT = /^(\d+)(?::([0-9a-f]{8}))?$/;

/** `rejected`: what keys say instead of the version, also while an upgrade is on its way. `what` names the whole. */
export function otherVersion(what: string, value: string, { version, layout, upgrades }: Schema): StoreError {
  const [from = '', to = from] = value.split('>');
  const [, number, other] = TEXT.exec(to) ?? [];
  if (number === undefined) {
    return new StoreError('rejected', `${what} has no valid version: use another prefix`);
  }
  if (other !== undefined && Number(number) > version) {
    return newerVersion(what, Number(number), version);
  }
  return upgrades.some((step) => step.from === from)
    ? olderVersion(what, Number.parseInt(from, 10), version)
    : otherLayout(what, other, layout);
}
