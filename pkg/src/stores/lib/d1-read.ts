// Reading from D1: what is common to all of it. Each answer is of one moment, and takes one round trip.

import { StoreError } from '../../store-error.js';
import { numberIn, textIn } from './sqlite-rows.js';
import { scopeColumn } from './sqlite-schema.js';
import { toColumn } from './sql-text.js';
import { emptyValues } from './values.js';
import type { Bindings, D1Query } from './d1-client.js';
import type { SqlRow } from './sqlite-driver.js';
import type { LoadedScope, ScopeName, Values } from '../../store.js';
import type { Json, SessionKey } from '../../types.js';

/** The columns of `statepad_values AS v` that {@link valuesOf} reads. */
export const VALUE_COLUMNS = 'v.name, v.value, v.born, v.nth';

/** The columns that say where a session is. */
export const SESSION_COLUMNS = 'n, created, rev, time';

/** Reads the values of a scope. Its parameter is what the scope is called in the tables. */
export const READ_SCOPE_VALUES = `SELECT ${VALUE_COLUMNS}
  FROM statepad_scopes AS x JOIN statepad_values AS v ON v.owner = x.n WHERE x.scope = ?1`;

/** The condition that a row of `statepad_sessions` is that of a session. */
export function isSession({ appName, userId, sessionId }: SessionKey, all: Bindings): string {
  return `app = ${all.add(toColumn(appName))} AND user = ${all.add(toColumn(userId))} AND id = ${all.add(toColumn(sessionId))}`;
}

/** The values in rows. `whose` says what is corrupt, if it is. */
export function valuesOf(rows: readonly SqlRow[], whose: string): Values {
  const entries = rows.map((row) => ({
    name: textIn(row, 'name'),
    value: textIn(row, 'value'),
    born: numberIn(row, 'born'),
    nth: numberIn(row, 'nth'),
  }));
  const record = emptyValues();
  for (const { name, value } of entries.sort((a, b) => a.born - b.born || a.nth - b.nth)) {
    try {
      record[name] = JSON.parse(value) as Json;
    } catch (cause) {
      throw new StoreError('corrupt', `the value of "${name}" of ${whose} cannot be read`, { cause });
    }
  }
  return Object.freeze(record);
}

/** The statements that read a scope. */
export function scopeQueries({ app, user }: ScopeName): D1Query[] {
  const values = [scopeColumn(app, user)];
  return [
    { sql: 'SELECT pos FROM statepad_scopes WHERE scope = ?1', values },
    { sql: READ_SCOPE_VALUES, values },
  ];
}

/** What {@link scopeQueries} have answered. */
export function scopeFrom({ app, user }: ScopeName, answers: readonly (readonly SqlRow[])[]): LoadedScope {
  const [[row] = [], values = []] = answers;
  const whose = user === undefined ? `app "${app}"` : `user "${user}"`;
  return { pos: row === undefined ? 0 : numberIn(row, 'pos'), state: valuesOf(values, whose) };
}
