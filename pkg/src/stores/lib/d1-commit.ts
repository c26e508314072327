// Committing to D1, which has no transactions but batches of statements that are fixed in advance.
//
// So every statement decides in the database. Of each group of changes, first what is new and allowed is inserted as
// pending: an event one revision ahead of its session, a session at revision -1, an update at the time -1. Then the
// outcomes are read, the rest is written for what is pending, and in the end nothing is pending any more. As a batch is
// atomic, nobody else ever sees something pending.

import { StoreError } from '../../store-error.js';
import { query, type Bindings, type D1Query } from './d1-client.js';
import { EVENT, GUARD, HEAD, KINDS, SET, UNSET, type PackedChange } from './d1-changes.js';
import { portionsOf, rowsAs, type PackedRow } from './d1-rows.js';
import { numberIn, textIn } from './sqlite-rows.js';
import { BEGINNING } from './sqlite-schema.js';
import { isEmpty } from './values.js';
import type { SqlRow } from './sqlite-driver.js';
import type { Committed } from '../../store.js';

/** The statements of a group, and which of them answers the outcomes. */
export interface GroupQueries {
  readonly queries: readonly D1Query[];
  readonly answer: number;
}

const APP = '(SELECT n FROM statepad_scopes WHERE scope = head.app_scope)';
const USER = '(SELECT n FROM statepad_scopes WHERE scope = head.user_scope)';
const IS_SESSION = 's.app = head.app AND s.user = head.user AND s.id = head.session';

/** Whether the event of `head` is pending in the session `s`. */
const IS_AHEAD = 'EXISTS (SELECT 1 FROM statepad_events AS e WHERE e.place = (s.n << 32 | s.rev + 1) AND e.id = head.id)';

/** The changes of the group that are pending, with the number and the revision of their sessions. */
const PENDING = `pending AS MATERIALIZED (
    SELECT head.*, s.n, s.rev AS at FROM head JOIN statepad_sessions AS s ON ${IS_SESSION}
      WHERE head.kind = ${KINDS.append} AND ${IS_AHEAD} OR head.kind = ${KINDS.create} AND s.rev = -1
    UNION ALL
    SELECT head.*, NULL, NULL FROM head
      JOIN statepad_scopes AS x ON x.scope = coalesce(head.user_scope, head.app_scope)
      JOIN statepad_updates AS u ON u.scope = x.n AND u.id = head.id
      WHERE head.kind = ${KINDS.update} AND u.time = -1
  )`;

/** What each pending change writes to: the number of the scope or session, and which position or revision it brings. */
const TOUCHED = `touched AS MATERIALIZED (
    SELECT i, 0 AS part, x.n AS owner, x.pos + row_number() OVER (PARTITION BY x.n ORDER BY i) AS born
      FROM pending JOIN statepad_scopes AS x ON x.scope = app_scope WHERE moves_app
    UNION ALL
    SELECT i, 1, x.n, x.pos + row_number() OVER (PARTITION BY x.n ORDER BY i)
      FROM pending JOIN statepad_scopes AS x ON x.scope = user_scope WHERE moves_user
    UNION ALL
    SELECT i, 2, n, at + 1 FROM pending WHERE n IS NOT NULL
  )`;

/** The statements that commit a group; `now` is the time by the clock. */
export function groupQueries(group: readonly PackedChange[], now: number): GroupQueries {
  const has = (kind: keyof typeof KINDS): boolean => group.some(({ change }) => change.kind === kind);
  const [creates, appends, updates] = [has('create'), has('append'), has('update')];
  const moves = creates || group.some(({ change: { delta } }) => !isEmpty(delta.app) || !isEmpty(delta.user));
  const gates = [
    ...(creates || updates ? [makeScopes(group)] : []),
    ...(creates ? [makeSessions(group)] : []),
    ...(group.some(({ event }) => event !== undefined) ? [addEvents(group)] : []),
    ...(updates ? [addUpdates(group)] : []),
  ];
  const queries = [
    ...gates,
    readOutcomes(group),
    ...portionsOf(group.flatMap(({ unsets }) => unsets)).map((rows) => unsetValues(group, rows)),
    ...portionsOf(group.flatMap(({ sets }) => sets)).map((rows) => setValues(group, rows)),
    ...(moves ? [moveScopes(group)] : []),
    ...(creates || appends ? [moveSessions(group)] : []),
    ...(updates ? [query((all) => `UPDATE statepad_updates SET time = ${all.add(now)} WHERE time = -1`)] : []),
  ];
  return { queries, answer: gates.length };
}

function headAs(group: readonly PackedChange[], all: Bindings): string {
  return rowsAs('head', HEAD, group.map(({ head }) => head), all);
}

/** The beginning of a statement that looks at guards, and the condition that they hold for `head` and its session, `s`. */
function guarded(group: readonly PackedChange[], hasSession: boolean, all: Bindings): [tables: string, holds: string] {
  const guards = group.flatMap((packed) => packed.guards);
  const tables = [headAs(group, all), ...(guards.length > 0 ? [rowsAs('guard', GUARD, guards, all)] : [])];
  const holds = [
    hasSession
      ? '(head.if_created IS NULL OR head.if_created = s.created) AND (head.if_rev IS NULL OR head.if_rev = s.rev)'
      : 'coalesce(head.if_rev, 0) = 0',
    '(head.if_app IS NULL OR head.if_app = coalesce((SELECT pos FROM statepad_scopes WHERE scope = head.app_scope), 0))',
    '(head.if_user IS NULL OR head.if_user = coalesce((SELECT pos FROM statepad_scopes WHERE scope = head.user_scope), 0))',
  ];
  if (guards.length > 0) {
    const owner = `CASE guard.part WHEN 0 THEN ${APP} WHEN 1 THEN ${USER} ELSE ${hasSession ? 's.n' : 'NULL'} END`;
    const value = `(SELECT v.value FROM statepad_values AS v WHERE v.owner = ${owner} AND v.name = guard.name)`;
    holds.push(`NOT EXISTS (SELECT 1 FROM guard WHERE guard.i = head.i AND ${value} IS NOT guard.value)`);
  }
  return [`WITH ${tables.join(', ')}`, holds.join(' AND ')];
}

/** Makes the rows of scopes that are new. Those of a session are there already. */
function makeScopes(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(group, false, all);
    return `${tables}, named AS (
        SELECT app_scope AS scope FROM head WHERE kind <> ${KINDS.append} AND ${holds}
        UNION
        SELECT user_scope FROM head WHERE kind <> ${KINDS.append} AND user_scope IS NOT NULL AND ${holds}
      )
      INSERT INTO statepad_scopes (n, scope, pos, sessions)
      SELECT (SELECT coalesce(min(n), 0) FROM statepad_scopes) - row_number() OVER (ORDER BY scope), scope, 0, 0 FROM named
        WHERE NOT EXISTS (SELECT 1 FROM statepad_scopes AS x WHERE x.scope = named.scope)`;
  });
}

function makeSessions(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(group, false, all);
    return `${tables}
      INSERT INTO statepad_sessions (app, user, id, created, rev, time)
      SELECT head.app, head.user, head.session, head.id, -1, head.time FROM head
        WHERE head.kind = ${KINDS.create} AND NOT EXISTS (SELECT 1 FROM statepad_sessions AS s WHERE ${IS_SESSION}) AND ${holds}`;
  });
}

/** Of a creation, the event is that of a session which has just been made. */
function addEvents(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const events = rowsAs('event', EVENT, group.flatMap(({ event }) => event ?? []), all);
    const [tables, holds] = guarded(group, true, all);
    return `${tables}, ${events}
      INSERT INTO statepad_events (place, session, id, time, peak, data)
      SELECT s.n << 32 | s.rev + 1, s.n, CASE head.kind WHEN ${KINDS.create} THEN ${all.add(BEGINNING)} ELSE head.id END, event.time,
          max(event.time, coalesce((SELECT peak FROM statepad_events AS e WHERE e.place = (s.n << 32 | s.rev)), event.time)),
          event.data
        FROM head JOIN event ON event.i = head.i JOIN statepad_sessions AS s ON ${IS_SESSION}
        WHERE CASE head.kind WHEN ${KINDS.create} THEN s.rev = -1
          ELSE NOT EXISTS (SELECT 1 FROM statepad_events AS e WHERE e.session = s.n AND e.id = head.id) AND ${holds} END`;
  });
}

function addUpdates(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(group, false, all);
    return `${tables}
      INSERT INTO statepad_updates (scope, id, time)
      SELECT x.n, head.id, -1 FROM head JOIN statepad_scopes AS x ON x.scope = coalesce(head.user_scope, head.app_scope)
        WHERE head.kind = ${KINDS.update} AND ${holds}
        AND NOT EXISTS (SELECT 1 FROM statepad_updates AS u WHERE u.scope = x.n AND u.id = head.id)`;
  });
}

/** What there is now: of what is pending, all but that is as it was before. */
function readOutcomes(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}
      SELECT head.i, s.created, s.rev, coalesce(a.pos, 0) AS app, coalesce(b.pos, 0) AS user,
          CASE head.kind
            WHEN ${KINDS.create} THEN s.rev IS -1
            WHEN ${KINDS.append} THEN s.n IS NOT NULL AND ${IS_AHEAD}
            ELSE u.time IS -1
          END AS written,
          u.id IS NOT NULL AS known,
          (SELECT data FROM statepad_events AS e
            WHERE head.kind = ${KINDS.append} AND e.session = s.n AND e.id = head.id AND e.place <= (s.n << 32 | s.rev)) AS data
        FROM head
        LEFT JOIN statepad_sessions AS s ON ${IS_SESSION}
        LEFT JOIN statepad_scopes AS a ON a.scope = head.app_scope
        LEFT JOIN statepad_scopes AS b ON b.scope = head.user_scope
        LEFT JOIN statepad_updates AS u
          ON head.kind = ${KINDS.update} AND u.scope = CASE WHEN head.user_scope IS NULL THEN a.n ELSE b.n END AND u.id = head.id
        ORDER BY head.i`,
  );
}

function unsetValues(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${rowsAs('gone', UNSET, rows, all)}, ${PENDING}, ${TOUCHED}
      DELETE FROM statepad_values WHERE (owner, name) IN
        (SELECT touched.owner, gone.name FROM gone JOIN touched ON touched.i = gone.i AND touched.part = gone.part)`,
  );
}

function setValues(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${rowsAs('put', SET, rows, all)}, ${PENDING}, ${TOUCHED}
      INSERT INTO statepad_values (owner, name, born, nth, value)
      SELECT touched.owner, put.name, touched.born, put.nth, put.value
        FROM put JOIN touched ON touched.i = put.i AND touched.part = put.part WHERE true ORDER BY put.i, put.nth
      ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value`,
  );
}

function moveScopes(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}, moved AS MATERIALIZED (
        SELECT scope, sum(steps) AS steps, sum(made) AS made FROM (
          SELECT app_scope AS scope, moves_app AS steps, kind = ${KINDS.create} AS made FROM pending
          UNION ALL
          SELECT user_scope, moves_user, kind = ${KINDS.create} FROM pending WHERE user_scope IS NOT NULL
        ) GROUP BY scope HAVING sum(steps + made) > 0
      )
      UPDATE statepad_scopes SET pos = pos + moved.steps, sessions = sessions + moved.made
        FROM moved WHERE statepad_scopes.scope = moved.scope`,
  );
}

function moveSessions(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}
      UPDATE statepad_sessions SET rev = rev + 1, time = pending.time FROM pending WHERE statepad_sessions.n = pending.n`,
  );
}

/** What became of the changes of a group, in their order. */
export function groupOutcomes(group: readonly PackedChange[], rows: readonly SqlRow[]): (Committed | StoreError)[] {
  /** How many changes of this group have touched each scope so far. */
  const steps = new Map<string, number>();
  return group.map((packed, place) => {
    const row = rows[place];
    if (row === undefined) {
      throw new Error(`the database has not said what became of change "${packed.change.id}"`);
    }
    return outcome(packed, row, steps);
  });
}

function outcome({ change, appScope, userScope }: PackedChange, row: SqlRow, steps: Map<string, number>): Committed | StoreError {
  const { kind, key, delta, guard = {} } = change;
  const isWritten = numberIn(row, 'written') === 1;
  const move = (scope: string | undefined, isMoved: boolean, before: number): number => {
    const step = (steps.get(scope ?? '') ?? 0) + (isMoved ? 1 : 0);
    steps.set(scope ?? '', step);
    return before + step;
  };
  const pos = {
    app: move(appScope, isWritten && !isEmpty(delta.app), numberIn(row, 'app')),
    user: userScope === undefined ? 0 : move(userScope, isWritten && !isEmpty(delta.user), numberIn(row, 'user')),
  };
  const session = row['created'] === null ? undefined : { created: textIn(row, 'created'), rev: numberIn(row, 'rev') };
  if (kind === 'update') {
    if (isWritten || row['known'] === 1) {
      return { rev: 0, prev: null, pos, ...(!isWritten && { duplicate: true }) };
    }
  } else if (kind === 'create') {
    if (isWritten) {
      return { rev: 0, prev: null, pos };
    }
    if (session !== undefined) {
      return session.created === change.id
        ? { rev: session.rev, prev: session.rev, pos, duplicate: true }
        : new StoreError('exists', `session "${key.sessionId ?? ''}" exists already`);
    }
  } else {
    if (session === undefined || (guard.created !== undefined && guard.created !== session.created)) {
      return new StoreError('not-found', `session "${key.sessionId ?? ''}" is not there`);
    }
    if (isWritten) {
      return { rev: session.rev + 1, prev: session.rev, pos };
    }
    if (row['data'] !== null) {
      return { rev: session.rev, prev: session.rev, pos, duplicate: true, data: textIn(row, 'data') };
    }
  }
  const actual = session?.rev ?? 0;
  return guard.rev !== undefined && guard.rev !== actual
    ? new StoreError('conflict', `the session is at revision ${actual}, not at the expected ${guard.rev}`, { actual })
    : new StoreError('conflict', 'the state is not what it was expected to be');
}
