// The writes of changes to app and user values, into the log of D1: in the batch that writes the values, just before
// it. The rows are those that the SQLite stores write, see `statepad_log`.

import { query, type Bindings, type D1Query } from './client.js';
import { KINDS, SET, UNSET, type PackedChange } from './packed-change.js';
import { headAs, PENDING, TOUCHED } from './pending.js';
import { IS_CURRENT } from './read.js';
import { rowsAs, type PackedRow } from './rows.js';
import { LONG_ROW } from '../../sqlite-core/log-writes.js';

const ADD = 'INSERT INTO statepad_log (owner, pos, nth, name, before, value, time, user, session, event)';

/** The writer: the columns `user`, `session` and `event`, of `pending`. */
const BY = [
  `CASE pending.kind WHEN ${KINDS.update} THEN NULL ELSE pending.user END`,
  `CASE pending.kind WHEN ${KINDS.update} THEN NULL ELSE pending.session END`,
  `CASE pending.kind WHEN ${KINDS.append} THEN pending.id END`,
] as const;

/** True if these columns and those of {@link BY} are too long for one row. */
const isLong = (...columns: string[]): string =>
  `${[...columns, ...BY].map((column) => `coalesce(length(${column}), 0)`).join(' + ')} > ${LONG_ROW}`;

/** {@link BY} in a row that is not too long. */
const SHORT_BY = BY.map((column) => `iif(long, NULL, ${column})`).join(', ');

/** The beginning of a statement over rows `name` of the changes that are pending. */
function tables(
  group: readonly PackedChange[],
  name: string,
  columns: readonly string[],
  rows: readonly PackedRow[],
  all: Bindings,
): string {
  return `WITH ${headAs(group, all)}, ${rowsAs(name, columns, rows, all)}, ${PENDING}, ${TOUCHED}`;
}

/** Logs what is deleted. To be run before it is. */
export function logUnset(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  const value = '(SELECT v.value FROM statepad_values AS v WHERE v.owner = deletion.owner AND v.name = deletion.name)';
  return query(
    (all) => `${tables(group, 'unset', UNSET, rows, all)}, deletion AS MATERIALIZED (
        SELECT unset.i, touched.owner, touched.born, 3 * unset.nth AS nth, unset.name,
            ${isLong('unset.name', 'v.value')} AS long
          FROM unset JOIN touched ON touched.i = unset.i AND touched.part = unset.part JOIN pending ON pending.i = unset.i
            CROSS JOIN statepad_values AS v ON v.owner = touched.owner AND v.name = unset.name
          WHERE touched.part < 2
      )
      ${ADD}
      SELECT owner, born, nth, NULL, NULL, NULL, pending.time, ${BY.join(', ')}
        FROM deletion JOIN pending ON pending.i = deletion.i WHERE long
      UNION ALL
      SELECT owner, born, nth + 1, name, ${value}, NULL, pending.time, ${SHORT_BY}
        FROM deletion JOIN pending ON pending.i = deletion.i`,
  );
}

/**
 * Logs what is set: to be run before it is, and after what is deleted and what is in earlier portions was written. A
 * change finds what the changes before it in its portion set. No table has two values in a row: each may be as long as
 * a row.
 */
export function logSet(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  // The value before: that of the change before, or the one that is there.
  const before = 'iif(made.earlier IS NULL, v.value, old.value)';
  const values = (name: string): string => `JOIN pending ON pending.i = ${name}.i
        JOIN put ON put.i = ${name}.i AND put.part = ${name}.part AND put.nth = ${name}.nth
        LEFT JOIN put AS old ON old.i = ${name}.earlier AND old.part = ${name}.part AND old.name = ${name}.name
        LEFT JOIN statepad_values AS v ON v.owner = ${name}.owner AND v.name = ${name}.name`;
  return query(
    (all) => `${tables(group, 'put', SET, rows, all)}, ordered AS MATERIALIZED (
        SELECT put.i, put.part, put.nth, put.name, touched.owner, touched.born,
            lag(put.i) OVER (PARTITION BY touched.owner, put.name ORDER BY put.i) AS earlier
          FROM put JOIN touched ON touched.i = put.i AND touched.part = put.part WHERE touched.part < 2
      ), made AS MATERIALIZED (
        SELECT ordered.*, ${isLong('ordered.name', 'put.value', before.replaceAll('made.', 'ordered.'))} AS long
          FROM ordered ${values('ordered')}
      )
      ${ADD}
      SELECT owner, born, 3 * nth, NULL, NULL, NULL, pending.time, ${BY.join(', ')}
        FROM made JOIN pending ON pending.i = made.i WHERE long
      UNION ALL
      SELECT made.owner, made.born, 3 * made.nth + 1, made.name, ${before}, NULL, pending.time, NULL, NULL, NULL
        FROM made ${values('made')} WHERE long AND ${before} IS NOT NULL
      UNION ALL
      SELECT made.owner, made.born, 3 * made.nth + 2, made.name, iif(long, NULL, ${before}), put.value, pending.time,
          ${SHORT_BY}
        FROM made ${values('made')}`,
  );
}

/** Logs changes of scopes that have written nothing, as what they delete was not there. To be run after the others. */
export function logEmpty(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}, ${TOUCHED}
      ${ADD}
      SELECT touched.owner, touched.born, 0, NULL, NULL, NULL, pending.time, ${BY.join(', ')}
        FROM touched JOIN pending ON pending.i = touched.i WHERE touched.part < 2
          AND NOT EXISTS (SELECT 1 FROM statepad_log AS l WHERE l.owner = touched.owner AND l.pos = touched.born)`,
  );
}

/** Notes beside each event where the scopes are after its change. To be run before they are moved. */
export function placeEvents(group: readonly PackedChange[]): D1Query {
  const at = (part: 'app' | 'user'): string =>
    `(SELECT pos FROM statepad_scopes WHERE scope = ${part}_scope)
      + sum(moves_${part}) OVER (PARTITION BY ${part}_scope ORDER BY i)`;
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}, placed AS MATERIALIZED (
        SELECT n, at, ${at('app')} AS app, ${at('user')} AS user FROM pending
      )
      UPDATE statepad_events SET app_pos = placed.app, user_pos = placed.user FROM placed
        WHERE placed.n IS NOT NULL AND statepad_events.place = (placed.n << 32 | placed.at + 1)`,
  );
}

/** Logs that scopes lose all their values; `now` is the time by the clock. */
export function logRemoval(areMeant: (all: Bindings) => string, now: number): D1Query {
  return query(
    (all) => `WITH scope AS MATERIALIZED (SELECT n, pos FROM statepad_scopes WHERE ${areMeant(all)} AND ${IS_CURRENT})
      ${ADD}
      SELECT scope.n, scope.pos + 1, row_number() OVER (PARTITION BY scope.n ORDER BY v.born, v.nth), v.name, v.value,
          NULL, ${all.add(now)}, NULL, NULL, NULL
        FROM scope LEFT JOIN statepad_values AS v ON v.owner = scope.n`,
  );
}
