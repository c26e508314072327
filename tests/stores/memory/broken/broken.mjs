// Stores that are broken, each in one way that a store might be: the cases have to catch them all.

import { brokenBatches } from './batches.mjs';
import { brokenCalls } from './calls.mjs';
import { brokenDuplicates } from './duplicates.mjs';
import { brokenGuards } from './guards.mjs';
import { brokenKeys } from './keys.mjs';
import { brokenLists } from './lists.mjs';
import { brokenMarks } from './marks.mjs';
import { brokenOpening } from './opening.mjs';
import { brokenValues } from './values.mjs';
import { brokenWindows } from './windows.mjs';

/**
 * What each changes of a store in memory, under what is wrong with it. One that has a `store` gives it whole, and may
 * give `another` on the same storage, and the one that is there when the storage is `reopened`.
 */
export const broken = {
  ...brokenValues,
  ...brokenDuplicates,
  ...brokenGuards,
  ...brokenKeys,
  ...brokenMarks,
  ...brokenCalls,
  ...brokenWindows,
  ...brokenLists,
  ...brokenBatches,
  ...brokenOpening,
};
