/**
 * The store cases: what holds for every store, as data, and a function that runs one of them over a store. They know
 * no test runner and no store; they run in Node, browsers and workers.
 *
 * @example With the test runner of Node
 * ```js
 * import { test } from 'node:test';
 * import { runStoreCase, storeCases } from 'statepad/testing';
 *
 * // Fresh, empty storage at each call.
 * async function open() {
 *   const path = await freshPath();
 *   const make = () => myStore(path);
 *   return { store: make(), reopen: make, another: make, dispose: () => deletePath(path) };
 * }
 *
 * for (const storeCase of storeCases) {
 *   test(storeCase.name, () => runStoreCase(storeCase, open));
 * }
 * ```
 *
 * @example With vitest
 * ```js
 * import { test } from 'vitest';
 * test.each(storeCases)('$name', (storeCase) => runStoreCase(storeCase, open));
 * ```
 *
 * @example With nothing
 * ```js
 * for (const storeCase of storeCases) {
 *   await runStoreCase(storeCase, open); // throws when the store is not what it has to be
 * }
 * ```
 *
 * @example A store that tells nothing of others, and whose storage does not outlive it
 * ```js
 * const without = new Set(['reopen', 'watch']);
 * const mine = storeCases.filter(({ needs }) => !needs.some((need) => without.has(need)));
 * ```
 *
 * @packageDocumentation
 */

import { basicCases } from './testing/cases/basic.js';
import { callCases } from './testing/cases/calls.js';
import { changedCases } from './testing/cases/changed.js';
import { claimCases } from './testing/cases/claims.js';
import { comparisonCases } from './testing/cases/comparisons.js';
import { digestCases } from './testing/cases/digests.js';
import { duplicateCases } from './testing/cases/duplicates.js';
import { expiryCases } from './testing/cases/expiry.js';
import { isolationCases } from './testing/cases/isolation.js';
import { leaseCases } from './testing/cases/leases.js';
import { limitOperatorCases } from './testing/cases/limit-operators.js';
import { limitRefusalCases } from './testing/cases/limit-refusals.js';
import { limitCases } from './testing/cases/limits.js';
import { listCases } from './testing/cases/lists.js';
import { loadCases } from './testing/cases/loads.js';
import { logCases } from './testing/cases/log.js';
import { keptLogCases } from './testing/cases/log-kept.js';
import { manyCases } from './testing/cases/many.js';
import { marksCases } from './testing/cases/marks.js';
import { nameCases } from './testing/cases/names.js';
import { numberCases } from './testing/cases/numbers.js';
import { operatorBatchCases } from './testing/cases/operator-batches.js';
import { operatorCases } from './testing/cases/operators.js';
import { orderCases } from './testing/cases/order.js';
import { parallelCases } from './testing/cases/parallel.js';
import { refusalCases } from './testing/cases/refusals.js';
import { removalCases } from './testing/cases/removal.js';
import { reopenCases } from './testing/cases/reopen.js';
import { scopeCases } from './testing/cases/scopes.js';
import { sharingCases } from './testing/cases/sharing.js';
import { sweepCases } from './testing/cases/sweeps.js';
import { valueCases } from './testing/cases/values.js';
import type { StoreCase } from './testing/case.js';

export { missingNeeds } from './testing/needs.js';
export { runStoreCase } from './testing/run.js';
export type * from './testing/case.js';
export type { StoreFeature, StoreLack } from './store/contract.js';

/** All cases. Each begins with fresh storage; none depends on another. */
export const storeCases: readonly StoreCase[] = [
  ...basicCases,
  ...scopeCases,
  ...refusalCases,
  ...comparisonCases,
  ...duplicateCases,
  ...removalCases,
  ...loadCases,
  ...listCases,
  ...nameCases,
  ...manyCases,
  ...parallelCases,
  ...reopenCases,
  ...sharingCases,
  ...valueCases,
  ...isolationCases,
  ...marksCases,
  ...changedCases,
  ...callCases,
  ...digestCases,
  ...leaseCases,
  ...operatorCases,
  ...operatorBatchCases,
  ...numberCases,
  ...logCases,
  ...keptLogCases,
  ...orderCases,
  ...limitCases,
  ...limitRefusalCases,
  ...limitOperatorCases,
  ...expiryCases,
  ...sweepCases,
  ...claimCases,
];
