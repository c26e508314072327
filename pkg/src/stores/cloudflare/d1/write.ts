// Committing changes to D1, each call in one round trip.

import { isStoreError } from '../../../store/store-error.js';
import { sizeRefusal } from '../sizes.js';
import { groupsOf, packChange } from './packed-change.js';
import { batch, type D1DatabaseLike, type D1Query } from './client.js';
import { groupQueries, type Circumstances } from './commit.js';
import { isInDoubt } from './growth.js';
import { groupOutcomes } from './outcomes.js';
import { ifCurrent } from './read.js';
import { ScopePositions } from './changed.js';
import { FORGET_CALLS, FORGET_UPDATES } from '../../sqlite-core/statements.js';
import { REMEMBERED_MS } from '../../shared/limits.js';
import { commitEach, committedOr, commitUnrefused, type Outcome } from '../../shared/outcome.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Change, Committed } from '../../../store/contract.js';

/** See `SessionStore.commit`. */
export async function commit(database: D1DatabaseLike, change: Change, hasLog: boolean): Promise<Committed> {
  const [outcome] = await commitUnrefused([change], sizeRefusal, (changes) => write(database, changes, hasLog));
  return committedOr(outcome);
}

/** See `SessionStore.commitMany`. */
export function commitMany(
  database: D1DatabaseLike,
  changes: readonly Change[],
  hasLog: boolean,
): Promise<readonly Outcome[]> {
  return commitUnrefused(changes, sizeRefusal, async (fitting) => {
    try {
      return await write(database, fitting, hasLog);
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'rejected') {
        throw error;
      }
      // Nothing is written. The one that cannot be must not keep the others from it.
      return await commitEach(fitting, (one) => write(database, one, hasLog));
    }
  });
}

/** Writes changes in one batch, or each in one of its own. An error that it throws holds for all of them. */
async function write(database: D1DatabaseLike, changes: readonly Change[], hasLog: boolean): Promise<Outcome[]> {
  try {
    return await writeAtOnce(database, changes, { now: Date.now(), hasLog, isCareful: false });
  } catch (error) {
    if (!isInDoubt(error)) {
      throw error;
    }
    return await commitEach(changes, (one) =>
      writeAtOnce(database, one, { now: Date.now(), hasLog, isCareful: true }),
    );
  }
}

async function writeAtOnce(
  database: D1DatabaseLike,
  changes: readonly Change[],
  circumstances: Circumstances,
): Promise<Outcome[]> {
  const groups = groupsOf(changes.map(packChange)).map((group) => ({ group, ...groupQueries(group, circumstances) }));
  const forget = (text: string): D1Query => ({ sql: ifCurrent(text), values: [circumstances.now - REMEMBERED_MS] });
  const forgotten = [
    ...(changes.some(({ kind }) => kind === 'update') ? [forget(FORGET_UPDATES)] : []),
    ...(changes.some(({ attempt }) => attempt !== undefined) ? [forget(FORGET_CALLS)] : []),
  ];
  const answers = [...(await batch(database, [...groups.flatMap(({ queries }) => queries), ...forgotten]))];
  return groups.flatMap(({ group, queries, answer, changeCount, misses, sizes, ends }) => {
    const own = answers.splice(0, queries.length);
    const rowsAt = (place: number | undefined): readonly SqlRow[] => (place === undefined ? [] : (own[place] ?? []));
    return groupOutcomes(group, {
      rows: rowsAt(answer),
      scopes: new ScopePositions(own.slice(answer + 1, answer + 1 + changeCount).flat()),
      misses: rowsAt(misses),
      sizes: rowsAt(sizes),
      ends: rowsAt(ends),
    });
  });
}
