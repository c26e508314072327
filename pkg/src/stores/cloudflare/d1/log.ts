// What changes write to app and user values, into the log of D1: in the batch that writes the values, just before it.
// The rows are those that the SQLite stores write, see `statepad_log`.

import { query, type Bindings, type D1Query } from './client.js';
import { KINDS, SET, UNSET, type PackedChange } from './packed-change.js';
import { headAs, PENDING, TOUCHED } from './pending.js';
import { IS_CURRENT } from './read.js';
import { rowsAs, type PackedRow } from './rows.js';
import { LONG_ROW } from '../../sqlite/log-writes.js';
import { scopeColumn } from '../../sqlite/statements.js';
import type { ScopeName } from '../../../store/contract.js';

const ADD = 'INSERT INTO statepad_log (owner, pos, nth, name, before, value, time, user, session, event)';

/** Who has written: the columns `user`, `session` and `event`, of `pending`. */
const BY = ['user', 'session', `CASE pending.kind WHEN ${KINDS.append} THEN pending.id END`].map((column) =>
  column.startsWith('CASE') ? column : `CASE pending.kind WHEN ${KINDS.update} THEN NULL ELSE pending.${column} END`,
);

const isLong = (columns: readonly string[]): string =>
  `${[...columns, ...BY].map((column) => `coalesce(length(${column}), 0)`).join(' + ')} > ${LONG_ROW}`;

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
  return query(
    (all) => `${tables(group, 'gone', UNSET, rows, all)}, lost AS MATERIALIZED (
        SELECT touched.owner, touched.born, 3 * gone.nth AS nth, v.name, v.value AS before, pending.time,
            ${BY[0]} AS user, ${BY[1]} AS session, ${BY[2]} AS event, ${isLong(['v.name', 'v.value'])} AS long
          FROM gone JOIN touched ON touched.i = gone.i AND touched.part = gone.part JOIN pending ON pending.i = gone.i
            CROSS JOIN statepad_values AS v ON v.owner = touched.owner AND v.name = gone.name
          WHERE touched.part < 2
      )
      ${ADD}
      SELECT owner, born, nth, NULL, NULL, NULL, time, user, session, event FROM lost WHERE long
      UNION ALL
      SELECT owner, born, nth + 1, name, before, NULL, time, iif(long, NULL, user), iif(long, NULL, session),
          iif(long, NULL, event)
        FROM lost`,
  );
}

/**
 * Logs what is set: to be run before it is, and after what is deleted and what is in earlier portions was written. A
 * change finds what the changes before it in its portion set.
 */
export function logSet(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  return query(
    (all) => `${tables(group, 'put', SET, rows, all)}, found AS MATERIALIZED (
        SELECT touched.owner, touched.born, 3 * put.nth AS nth, put.name, put.value,
            row_number() OVER same AS turn, lag(put.value) OVER same AS earlier,
            pending.time, ${BY[0]} AS user, ${BY[1]} AS session, ${BY[2]} AS event,
            ${isLong([])} AS long
          FROM put JOIN touched ON touched.i = put.i AND touched.part = put.part JOIN pending ON pending.i = put.i
          WHERE touched.part < 2 WINDOW same AS (PARTITION BY touched.owner, put.name ORDER BY put.i)
      ), made AS MATERIALIZED (
        SELECT found.owner, found.born, found.nth, found.name, found.value, time, user, session, event,
            iif(turn > 1, earlier, v.value) AS before,
            long OR length(found.name) + length(found.value) + coalesce(length(iif(turn > 1, earlier, v.value)), 0) > ${LONG_ROW} / 2
              AS long
          FROM found LEFT JOIN statepad_values AS v ON v.owner = found.owner AND v.name = found.name
      )
      ${ADD}
      SELECT owner, born, nth, NULL, NULL, NULL, time, user, session, event FROM made WHERE long
      UNION ALL
      SELECT owner, born, nth + 1, name, before, NULL, time, NULL, NULL, NULL FROM made WHERE long AND before IS NOT NULL
      UNION ALL
      SELECT owner, born, nth + 2, name, iif(long, NULL, before), value, time, iif(long, NULL, user),
          iif(long, NULL, session), iif(long, NULL, event)
        FROM made`,
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
    `(SELECT pos FROM statepad_scopes_v2 WHERE scope = ${part}_scope)
      + sum(moves_${part}) OVER (PARTITION BY ${part}_scope ORDER BY i)`;
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}, placed AS MATERIALIZED (
        SELECT n, at, ${at('app')} AS app, ${at('user')} AS user FROM pending
      )
      UPDATE statepad_events SET app_pos = placed.app, user_pos = placed.user FROM placed
        WHERE placed.n IS NOT NULL AND statepad_events.place = (placed.n << 32 | placed.at + 1)`,
  );
}

/** Logs that a scope loses all its values; `now` is the time by the clock. */
export function logRemoval({ app, user }: ScopeName, now: number): D1Query {
  return {
    sql: `${ADD}
      SELECT x.n, x.pos + 1, row_number() OVER (ORDER BY v.born, v.nth), v.name, v.value, NULL, ?2, NULL, NULL, NULL
        FROM statepad_scopes_v2 AS x LEFT JOIN statepad_values AS v ON v.owner = x.n
        WHERE x.scope = ?1 AND ${IS_CURRENT}`,
    values: [scopeColumn(app, user), now],
  };
}
