// Reading and trimming the log of app and user values in D1.

import { scopeTitle } from '../../../store/refusals.js';
import { query, type D1Query } from './client.js';
import { ifCurrent, READ_VERSION } from './read.js';
import { checkRemoval } from './remove.js';
import { entriesIn } from '../../sqlite-core/log.js';
import { entriesText } from '../../sqlite-core/log-statements.js';
import { numberIn } from '../../sqlite-core/rows.js';
import { scopeColumn } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { LogQuery, ScopeLog, ScopeName } from '../../../store/contract.js';

const BASE = 'coalesce(log_base, pos)';

/** The statements that read a log. */
export function logQueries({ app, user }: ScopeName, log: LogQuery): D1Query[] {
  const { after = 0, to = Infinity, name, limit = Infinity } = log;
  const scope = scopeColumn(app, user);
  const place = { sql: `SELECT pos, ${BASE} AS base FROM statepad_scopes WHERE scope = ?1`, values: [scope] };
  const entries = query((all) => {
    const isScope = `FROM statepad_scopes WHERE scope = ${all.add(scope)}`;
    return entriesText({
      owner: `(SELECT n ${isScope})`,
      after: `(SELECT max(${BASE}, ${all.add(after)}) ${isScope})`,
      to: all.add(Math.min(to, Number.MAX_SAFE_INTEGER)),
      name: name === undefined ? undefined : all.add(toColumn(name)),
      limit: limit === Infinity ? undefined : all.add(Math.ceil(limit)),
    });
  });
  return [place, entries];
}

/** Reads the answers of {@link logQueries}. */
export function logFrom(scope: ScopeName, log: LogQuery, [places = [], rows = []]: (readonly SqlRow[])[]): ScopeLog {
  const [place] = places;
  const [pos, base] = place === undefined ? [0, 0] : [numberIn(place, 'pos'), numberIn(place, 'base')];
  return { pos, base, entries: entriesIn(rows, log, scopeTitle(scope)) };
}

/** The statements that trim a log. */
export function trimQueries({ app, user }: ScopeName, upTo: number): D1Query[] {
  const values = [scopeColumn(app, user), Math.min(Math.floor(upTo), Number.MAX_SAFE_INTEGER)];
  const place = (columns: string): string => `(SELECT ${columns} FROM statepad_scopes WHERE scope = ?1)`;
  const isTrimmed = `owner = ${place('n')} AND pos <= min(?2, ${place('pos')})`;
  return [
    READ_VERSION,
    {
      sql: `SELECT count(DISTINCT pos) AS entries FROM statepad_log WHERE ${isTrimmed} AND pos > ${place(BASE)}`,
      values,
    },
    { sql: ifCurrent(`DELETE FROM statepad_log WHERE ${isTrimmed}`), values },
    {
      sql: ifCurrent(`UPDATE statepad_scopes SET log_base = CAST(min(?2, pos) AS INTEGER)
        WHERE scope = ?1 AND ${BASE} < min(?2, pos)`),
      values,
    },
  ];
}

/** Reads the answers of {@link trimQueries}: the number of entries that there were. */
export function trimmedFrom(answers: readonly (readonly SqlRow[])[]): number {
  checkRemoval(answers);
  return numberIn(answers[1]?.[0] ?? {}, 'entries');
}
