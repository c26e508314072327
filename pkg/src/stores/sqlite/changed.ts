// What others have done to a scope since a position, as the SQLite stores read it: which names the changes since then
// concern, and what is under these names now.

import { changesIn, deltaOf, namesSince, type ScopeChange } from './entries.js';
import { entryIn, numberIn, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { changedOf } from '../shared/parts.js';
import { TOLD } from './schema.js';
import type { SqlDriver } from './driver.js';
import type { ScopeRow } from './read.js';
import type { Committed, Delta, Known } from '../../store/contract.js';

/** What has happened to an app and a user since what is known, as far as it can be told. */
export function readChanged(
  driver: SqlDriver,
  app: ScopeRow,
  user: ScopeRow,
  known: Pick<Known, 'pos' | 'marks'>,
): Pick<Committed, 'changed'> {
  return changedOf(
    readDelta(driver, app, known.pos?.app, known.marks?.app, 'the app'),
    readDelta(driver, user, known.pos?.user, known.marks?.user, 'the user'),
  );
}

/** What has happened to a scope since a position; `undefined` when that had another mark, or is too long ago. */
function readDelta(
  driver: SqlDriver,
  { n, pos }: ScopeRow,
  since: number | undefined,
  mark: string | undefined,
  whose: string,
): Delta | undefined {
  if (since === undefined || mark === undefined || since >= pos || pos - since > TOLD) {
    return undefined;
  }
  const names = namesSince(changesSince(driver, n, since), since, toColumn(mark), pos);
  return (
    names &&
    deltaOf(
      names,
      names.flatMap((name) => driver.all(sql.READ_VALUE, [n, name]).map(entryIn)),
      since,
      whose,
    )
  );
}

/** The changes of a scope, from the one that came to the position `since` on at least, if it is known. */
function changesSince(driver: SqlDriver, n: number, since: number): ReadonlyMap<number, ScopeChange> {
  const read = (text: string, values: readonly number[]) =>
    driver.all(text, values).flatMap((row) => changesIn(numberIn(row, 'pos'), textIn(row, 'entries')));
  const recent = new Map(read(sql.READ_RECENT, [n]));
  return recent.has(since) ? recent : new Map([...read(sql.READ_CHANGES, [n, since]), ...recent]);
}
