// The contents of the database: the scripts that make its tables and functions.

import allValues from './sql/all_values.sql';
import appendMany from './sql/append_many.sql';
import changed from './sql/changed.sql';
import checkGuard from './sql/check_guard.sql';
import checkLimits from './sql/check_limits.sql';
import claim from './sql/claim.sql';
import cleanLog from './sql/clean_log.sql';
import commitDeclare from './sql/commit/declare.sql';
import commitFinish from './sql/commit/finish.sql';
import commitJudge from './sql/commit/judge.sql';
import commitLock from './sql/commit/lock.sql';
import commitLook from './sql/commit/look.sql';
import commitMove from './sql/commit/move.sql';
import commitWrite from './sql/commit/write.sql';
import decideLease from './sql/decide_lease.sql';
import emptyScopes from './sql/empty_scopes.sql';
import forget from './sql/forget.sql';
import lease from './sql/lease.sql';
import logDeletions from './sql/log_deletions.sql';
import nameSize from './sql/name_size.sql';
import number from './sql/number.sql';
import refuseVersion from './sql/refuse_version.sql';
import release from './sql/release.sql';
import remove from './sql/remove.sql';
import removeScope from './sql/remove_scope.sql';
import reserve from './sql/reserve.sql';
import resolve from './sql/resolve.sql';
import resolveOperators from './sql/resolve_operators.sql';
import sweep from './sql/sweep.sql';
import tables from './sql/tables.sql';
import trimLog from './sql/trim_log.sql';
import { LAYOUT, VERSION } from './version.js';

/** The function that commits. It is one, as each function costs time to call; its parts share its variables. */
const commit = [commitDeclare, commitLock, commitLook, commitJudge, commitMove, commitWrite, commitFinish].join('\n');

/** A version of the schema, and the scripts that make it. */
export interface Schema {
  readonly version: number;
  readonly layout: string;
  readonly scripts: readonly string[];
  /**
   * The script that makes the next version of an older one, by the older one. It leaves the functions by which the
   * older one writes as they are: they compare the version, and refuse then. Those of the next version have other
   * names.
   */
  readonly upgrades: Readonly<Record<number, string>>;
}

/** The version that this package reads and writes. */
export const CURRENT: Schema = {
  version: VERSION,
  layout: LAYOUT,
  scripts: [
    tables,
    refuseVersion,
    number,
    nameSize,
    resolve,
    resolveOperators,
    decideLease,
    lease,
    claim,
    trimLog,
    cleanLog,
    logDeletions,
    changed,
    allValues,
    checkGuard,
    checkLimits,
    commit,
    appendMany,
    forget,
    remove,
    emptyScopes,
    removeScope,
    sweep,
    reserve,
    release,
  ],
  upgrades: {},
};
