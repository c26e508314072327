// Committing changes to D1, each call in one round trip.

import { isStoreError } from '../../store-error.js';
import { commitFitting, type Outcome } from './cloudflare-sizes.js';
import { groupsOf, packChange } from './d1-changes.js';
import { batch, type D1DatabaseLike, type D1Query } from './d1-client.js';
import { groupOutcomes, groupQueries } from './d1-commit.js';
import { FORGET_UPDATES } from './sqlite-schema.js';
import type { Change, Committed } from '../../store.js';

/** How long an update is remembered: those who send one again do it soon. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** See `SessionStore.commit`. */
export async function commit(database: D1DatabaseLike, change: Change): Promise<Committed> {
  const [outcome] = await commitFitting([change], (changes) => write(database, changes));
  if (isStoreError(outcome)) {
    throw outcome;
  }
  return outcome as Committed;
}

/** See `SessionStore.commitMany`. */
export async function commitMany(database: D1DatabaseLike, changes: readonly Change[]): Promise<readonly Outcome[]> {
  return commitFitting(changes, async (fitting) => {
    try {
      return await write(database, fitting);
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'rejected') {
        throw error;
      }
      // Nothing is written. The one that cannot be must not keep the others from it.
      const outcomes: Outcome[] = [];
      for (const change of fitting) {
        outcomes.push(await attempt(database, change));
      }
      return outcomes;
    }
  });
}

async function attempt(database: D1DatabaseLike, change: Change): Promise<Outcome> {
  try {
    return await commit(database, change);
  } catch (error) {
    if (isStoreError(error)) {
      return error;
    }
    throw error;
  }
}

/** Writes changes in one batch. What it throws holds for all of them. */
async function write(database: D1DatabaseLike, changes: readonly Change[]): Promise<Outcome[]> {
  const now = Date.now();
  const groups = groupsOf(changes.map(packChange)).map((group) => ({ group, ...groupQueries(group, now) }));
  const hasUpdates = changes.some(({ kind }) => kind === 'update');
  const forget: D1Query[] = hasUpdates ? [{ sql: FORGET_UPDATES, values: [now - REMEMBERED_MS] }] : [];
  const answers = [...(await batch(database, [...groups.flatMap(({ queries }) => queries), ...forget]))];
  return groups.flatMap(({ group, queries, answer }) => {
    const rows = answers.splice(0, queries.length)[answer];
    return groupOutcomes(group, rows ?? []);
  });
}
