// The version of a log: of its records, and of the lines that a journal makes of them.

import { newerVersion, otherLayout } from '../../store/refusals.js';

/** The statement of a log about itself. */
export interface LogVersion {
  readonly version: number;
  /** The fingerprint of the layout, which tells unreleased builds apart; the first release takes it out. */
  readonly layout: string;
}

/** The version that a log is written in, and the earlier ones that can be read and upgraded. */
export interface LogFormat extends LogVersion {
  readonly older: readonly LogVersion[];
}

/** The version of logs that this package writes. The Rust service has the same one. */
export const VERSION = 1;

/** Its fingerprint, which a test computes from the log of a small history. */
export const LAYOUT = 'c01999b4';

/** The format that this package writes, and reads. */
export const FORMAT: LogFormat = { version: VERSION, layout: LAYOUT, older: [] };

/** The statement of a log about its version, as it was read. */
export interface VersionStatement {
  readonly version: number;
  /** Absent in the logs of builds without fingerprints. */
  readonly layout: string | undefined;
}

/** Returns the version of a log. Throws `rejected` for one that cannot be read; `what` names the log. */
export function readableVersion(what: string, { version, layout }: VersionStatement, format: LogFormat): LogVersion {
  const known = versionsIn(format).find((each) => each.version === version && each.layout === layout);
  if (known !== undefined) {
    return known;
  }
  throw layout !== undefined && version > format.version
    ? newerVersion(what, version, format.version)
    : otherLayout(what, layout, format.layout);
}

/** All versions that can be read, the latest first. */
export function versionsIn(format: LogFormat): readonly LogVersion[] {
  return [format, ...format.older];
}
