// Commits changes in one call, by the function that fits them.

import { appendManyStatement } from './append-many.js';
import { batchOf, outcomeIn } from './commit.js';
import { isPlainBatch } from './plain-append.js';
import type { Statement } from './client.js';
import { CROWDED } from './version.js';
import type { Outcome } from '../shared/outcome.js';
import type { Change } from '../../store/contract.js';

/** Sends a statement, and answers its rows. */
type Send = (statement: Statement) => Promise<readonly unknown[]>;

/**
 * Returns the outcome of each change. `keepsLog`: true if writes to apps and users go into the log.
 *
 * Of a few changes the function for every change makes shorter work than the one for batches of events.
 */
export async function commitAll(
  schema: string,
  send: Send,
  changes: readonly Change[],
  keepsLog: boolean,
): Promise<Outcome[]> {
  const ask = async (statement: Statement): Promise<string | undefined> => {
    const [row] = (await send(statement)) as readonly { readonly answers: string | null }[];
    return row?.answers ?? undefined;
  };
  if (changes.length > 1 && isPlainBatch(changes)) {
    const batch = appendManyStatement(schema, changes, keepsLog);
    const answer = await ask(batch.statement);
    if (answer !== undefined) {
      return batch.outcomes(answer);
    }
    // It has written nothing, because a limit is near: the function for every change compares it.
  }
  const text = `select ${schema}.commit($1, $2, $3, $4, $5) as answers`;
  const commit = (locksAll: boolean): Promise<string | undefined> =>
    ask({ text, values: [...batchOf(changes, locksAll), String(keepsLog)] });
  const answer = await commit(false).catch((error: unknown) => {
    if ((error as { code?: unknown } | undefined)?.code === CROWDED) {
      return commit(true);
    }
    throw error;
  });
  const answers = JSON.parse(answer ?? '') as readonly (readonly unknown[])[];
  return changes.map((change, index) => outcomeIn(answers[index] ?? [], change));
}
