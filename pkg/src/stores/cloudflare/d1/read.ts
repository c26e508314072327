// Reading from D1: what is common to all of it. Each answer is of one moment, and takes one round trip.

import { scopeTitle } from '../../../store/refusals.js';
import { numberIn, textIn, valuesIn } from '../../sqlite-core/rows.js';
import { scopeColumn } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import { SCHEMA_VERSION } from '../../sqlite-core/schema.js';
import type { Bindings, D1Query } from './client.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { LoadedScope, ScopeName } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** True if the tables have the version that this module writes: compared in each batch that writes. */
export const IS_CURRENT = `(SELECT value FROM statepad_meta WHERE name = 'version') = '${SCHEMA_VERSION}'`;

/** Reads the version of the tables: the first answer of a batch, for {@link checkVersion}. */
export const READ_VERSION: D1Query = { sql: "SELECT value FROM statepad_meta WHERE name = 'version'", values: [] };

/** The time by the clock of the database, in milliseconds since the epoch. */
export const NOW = "(unixepoch('subsec') * 1000)";

/**
 * True if a session has not expired. Statements of one batch find different times: it is for the first that looks at a
 * session, and the others go by what that has found.
 */
export const isLive = (session = ''): string => `(${session}expires IS NULL OR ${session}expires > ${NOW})`;

/** A statement with a condition at its end that does nothing in tables of another version. */
export function ifCurrent(sql: string): string {
  return `${sql} AND ${IS_CURRENT}`;
}

/** The columns of `statepad_values AS v` that {@link valuesOf} reads. */
export const VALUE_COLUMNS = 'v.name, v.value, v.born, v.nth';

/** Reads the values of a scope. Its parameter is what the scope is called in the tables. */
export const READ_SCOPE_VALUES = `SELECT ${VALUE_COLUMNS}
  FROM statepad_scopes AS x JOIN statepad_values AS v ON v.owner = x.n WHERE x.scope = ?1`;

/** The condition that a row of `statepad_sessions` is that of a session. */
export function isSession({ appName, userId, sessionId }: SessionKey, all: Bindings): string {
  return `app = ${all.add(toColumn(appName))} AND user = ${all.add(toColumn(userId))} AND id = ${all.add(toColumn(sessionId))}`;
}

/** The statements that read a scope. */
export function scopeQueries({ app, user }: ScopeName): D1Query[] {
  const values = [scopeColumn(app, user)];
  return [
    { sql: 'SELECT pos, mark FROM statepad_scopes WHERE scope = ?1', values },
    { sql: READ_SCOPE_VALUES, values },
  ];
}

/** Reads the answers of {@link scopeQueries}. */
export function scopeFrom(scope: ScopeName, answers: readonly (readonly SqlRow[])[]): LoadedScope {
  const [[row] = [], values = []] = answers;
  return {
    pos: row === undefined ? 0 : numberIn(row, 'pos'),
    state: valuesIn(values, scopeTitle(scope)),
    ...(typeof row?.['mark'] === 'string' && { mark: textIn(row, 'mark') }),
  };
}
