// Stores that are broken, each in one way that a store might be: the cases have to catch them all.

import { brokenBatches } from './broken/batches.mjs';
import { brokenCalls } from './broken/calls.mjs';
import { brokenDigests } from './broken/digests.mjs';
import { brokenDuplicates } from './broken/duplicates.mjs';
import { brokenExpiry } from './broken/expiry.mjs';
import { brokenGuards } from './broken/guards.mjs';
import { brokenKeys } from './broken/keys.mjs';
import { brokenLeases } from './broken/leases.mjs';
import { brokenLimits } from './broken/limits.mjs';
import { brokenLists } from './broken/lists.mjs';
import { brokenLogs } from './broken/logs.mjs';
import { brokenMarks } from './broken/marks.mjs';
import { brokenNamesAndOwners } from './broken/names.mjs';
import { brokenOpening } from './broken/opening.mjs';
import { brokenOperators } from './broken/operators.mjs';
import { brokenOrder } from './broken/order.mjs';
import { brokenSweepsAndCounts } from './broken/sweeps.mjs';
import { brokenValues } from './broken/values.mjs';
import { brokenWindows } from './broken/windows.mjs';

/**
 * The faults of stores in memory, by the law that each breaks. An entry that has a `store` gives it whole, and may
 * give `another` on the same storage, and the one that is there when the storage is `reopened`.
 */
export const broken = {
  ...brokenValues,
  ...brokenDuplicates,
  ...brokenGuards,
  ...brokenKeys,
  ...brokenMarks,
  ...brokenCalls,
  ...brokenDigests,
  ...brokenWindows,
  ...brokenLists,
  ...brokenNamesAndOwners,
  ...brokenBatches,
  ...brokenOpening,
  ...brokenLeases,
  ...brokenOperators,
  ...brokenLogs,
  ...brokenOrder,
  ...brokenLimits,
  ...brokenExpiry,
  ...brokenSweepsAndCounts,
};
