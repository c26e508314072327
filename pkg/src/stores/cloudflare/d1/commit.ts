// Committing to D1, which has no transactions but batches of statements that are fixed in advance.
//
// So every statement decides in the database. Of each group of changes, first what is new and allowed is inserted as
// pending: an event one revision ahead of its session, a session at revision -1, an update at the time -1. Then the
// outcomes are read, the rest is written for what is pending, and in the end nothing is pending any more. As a batch
// is atomic, no other request ever sees anything pending.

import { query, type Bindings, type D1Query } from './client.js';
import { logEmpty, logSet, logUnset, placeEvents } from './log.js';
import { ENTRY, EVENT, GUARD, KINDS, SET, UNSET, type PackedChange } from './packed-change.js';
import { headAs, IS_AHEAD, IS_SESSION, PENDING, TOUCHED } from './pending.js';
import { IS_CURRENT } from './read.js';
import { portionsOf, rowsAs, type PackedRow } from './rows.js';
import { knownScopes, changeQueries } from './changed.js';
import { RECENT } from '../../sqlite-core/entries.js';
import { BEGINNING } from '../../sqlite-core/statements.js';
import { isEmpty } from '../../shared/values.js';
import type { Delta } from '../../../store/contract.js';

/**
 * The statements of a group, which of them answers the outcomes, and how many behind it report what others have done.
 */
export interface GroupQueries {
  readonly queries: readonly D1Query[];
  readonly answer: number;
  readonly changeCount: number;
}

const APP = '(SELECT n FROM statepad_scopes WHERE scope = head.app_scope)';
const USER = '(SELECT n FROM statepad_scopes WHERE scope = head.user_scope)';

/**
 * The statements that commit a group; `now` is the time by the clock. `hasLog` says whether what is written to scopes
 * is logged.
 */
export function groupQueries(group: readonly PackedChange[], now: number, hasLog: boolean): GroupQueries {
  const has = (kind: keyof typeof KINDS): boolean => group.some(({ change }) => change.kind === kind);
  const [creates, appends, updates] = [has('create'), has('append'), has('update')];
  const moves = group.some(({ entries }) => entries.length > 0);
  const changes = changeQueriesOf(group);
  const logs = moves && hasLog;
  const hasEvent = group.some(({ event }) => event !== undefined);
  const gates = [
    ...(creates || updates ? [makeScopes(group)] : []),
    ...(creates ? [makeSessions(group)] : []),
    ...(hasEvent ? [addEvents(group, hasLog)] : []),
    ...(updates ? [addUpdates(group)] : []),
  ];
  const queries = [
    ...gates,
    readOutcomes(group),
    ...changes,
    ...(group.some(({ change: { attempt } }) => attempt !== undefined) ? [addCalls(group, now)] : []),
    ...portionsOf(group.flatMap(({ unsets }) => unsets)).flatMap((rows) => [
      ...(logs ? [logUnset(group, rows)] : []),
      unsetValues(group, rows),
    ]),
    ...portionsOf(group.flatMap(({ sets }) => sets)).flatMap((rows) => [
      ...(logs ? [logSet(group, rows)] : []),
      setValues(group, rows),
    ]),
    ...(logs && group.some(setsNothing) ? [logEmpty(group)] : []),
    ...(hasEvent && hasLog && group.length > 1 ? [placeEvents(group)] : []),
    ...(moves ? [keepRecent(group)] : []),
    ...(moves || creates ? [moveScopes(group, hasLog)] : []),
    ...(creates || appends ? [moveSessions(group)] : []),
    ...(updates ? [query((all) => `UPDATE statepad_updates SET time = ${all.add(now)} WHERE time = -1`)] : []),
  ];
  return { queries, answer: gates.length, changeCount: changes.length };
}

/** True if a change writes to the app or the user without setting anything there. */
function setsNothing({ change: { delta } }: PackedChange): boolean {
  return [delta.app, delta.user].some((part) => !isEmpty(part) && Object.keys(part?.set ?? {}).length === 0);
}

/** Of several changes, each learns about the effects of those before it, too. */
function changeQueriesOf(group: readonly PackedChange[]): D1Query[] {
  const known = group.flatMap(({ change, appScope, userScope }) =>
    knownScopes(change.known ?? {}, appScope, userScope),
  );
  const scopes = new Set(known.map(({ scope }) => scope));
  const written = group.flatMap(({ change: { delta }, appScope, userScope }) => [
    { scope: appScope, delta: delta.app },
    { scope: userScope, delta: delta.user },
  ]);
  const isOurs = (each: {
    scope: string | undefined;
    delta: Delta | undefined;
  }): each is { scope: string; delta: Delta } =>
    each.delta !== undefined && each.scope !== undefined && scopes.has(each.scope);
  return known.length === 0 ? [] : changeQueries(known, group.length === 1 ? [] : written.filter(isOurs));
}

/**
 * The beginning of a statement that looks at guards, and the condition that they hold for `head` and its session, `s`.
 */
function guarded(group: readonly PackedChange[], hasSession: boolean, all: Bindings): [tables: string, holds: string] {
  const guards = group.flatMap((packed) => packed.guards);
  const tables = [headAs(group, all), ...(guards.length > 0 ? [rowsAs('guard', GUARD, guards, all)] : [])];
  const holds = [
    IS_CURRENT,
    'NOT EXISTS (SELECT 1 FROM statepad_calls AS c WHERE c.id = head.call)',
    hasSession
      ? `(head.if_created IS NULL OR head.if_created = s.created) AND (head.if_rev IS NULL OR head.if_rev = s.rev)
          AND (head.if_fence IS NULL OR head.if_fence = s.fence)`
      : 'coalesce(head.if_rev, 0) = 0 AND coalesce(head.if_fence, 0) = 0',
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
        SELECT app_scope AS scope, NULL AS of_app, app AS name FROM head WHERE kind <> ${KINDS.append} AND ${holds}
        UNION
        SELECT user_scope, app, user FROM head WHERE kind <> ${KINDS.append} AND user_scope IS NOT NULL AND ${holds}
      )
      INSERT INTO statepad_scopes (n, scope, of_app, name, pos, sessions)
      SELECT (SELECT coalesce(min(n), 0) FROM statepad_scopes) - row_number() OVER (ORDER BY scope), scope, of_app, name, 0, 0
        FROM named
        WHERE NOT EXISTS (SELECT 1 FROM statepad_scopes AS x WHERE x.scope = named.scope)`;
  });
}

function makeSessions(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(group, false, all);
    return `${tables}
      INSERT INTO statepad_sessions (app, user, id, created, rev, time, digest)
      SELECT head.app, head.user, head.session, head.id, -1, head.time, head.digest FROM head
        WHERE head.kind = ${KINDS.create} AND NOT EXISTS (SELECT 1 FROM statepad_sessions AS s WHERE ${IS_SESSION}) AND ${holds}
        AND NOT EXISTS (SELECT 1 FROM statepad_creations AS c WHERE c.id = head.id)`;
  });
}

/**
 * Of a creation, the event is that of a session which has just been made. The positions of the scopes after it are
 * known at once for a change that is alone.
 */
function addEvents(group: readonly PackedChange[], hasLog: boolean): D1Query {
  const at = (part: 'app' | 'user'): string =>
    hasLog && group.length === 1
      ? `coalesce((SELECT pos FROM statepad_scopes WHERE scope = head.${part}_scope), 0) + head.moves_${part}`
      : 'NULL';
  return query((all) => {
    const events = rowsAs(
      'event',
      EVENT,
      group.flatMap(({ event }) => event ?? []),
      all,
    );
    const [tables, holds] = guarded(group, true, all);
    return `${tables}, ${events}
      INSERT INTO statepad_events (place, session, id, time, peak, data, app_pos, user_pos)
      SELECT s.n << 32 | s.rev + 1, s.n, CASE head.kind WHEN ${KINDS.create} THEN ${all.add(BEGINNING)} ELSE head.id END, event.time,
          max(event.time, coalesce((SELECT peak FROM statepad_events AS e WHERE e.place = (s.n << 32 | s.rev)), event.time)),
          event.data, ${at('app')}, ${at('user')}
        FROM head JOIN event ON event.i = head.i JOIN statepad_sessions AS s ON ${IS_SESSION}
        WHERE CASE head.kind WHEN ${KINDS.create} THEN s.rev = -1
          ELSE NOT EXISTS (SELECT 1 FROM statepad_events AS e WHERE e.session = s.n AND e.id = head.id) AND ${holds} END`;
  });
}

function addUpdates(group: readonly PackedChange[]): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(group, false, all);
    return `${tables}
      INSERT INTO statepad_updates (scope, id, time, digest)
      SELECT x.n, head.id, -1, head.digest FROM head JOIN statepad_scopes AS x ON x.scope = coalesce(head.user_scope, head.app_scope)
        WHERE head.kind = ${KINDS.update} AND ${holds}
        AND NOT EXISTS (SELECT 1 FROM statepad_updates AS u WHERE u.scope = x.n AND u.id = head.id)`;
  });
}

/** The state while changes are pending: all but they is as it was before. */
const PENDING_STATE = `SELECT head.i, head.call, head.attempt, head.digest AS sent, s.created, s.rev, s.fence,
    coalesce(a.pos, 0) AS app, coalesce(b.pos, 0) AS user, a.mark AS appMark, b.mark AS userMark,
    (SELECT id FROM statepad_events AS e WHERE s.rev > 0 AND e.place = (s.n << 32 | s.rev)) AS last,
    CASE head.kind
      WHEN ${KINDS.create} THEN s.rev IS -1
      WHEN ${KINDS.append} THEN s.n IS NOT NULL AND ${IS_AHEAD}
      ELSE u.time IS -1
    END AS written,
    CASE head.kind
      WHEN ${KINDS.create} THEN s.rev IS NOT -1
        AND (s.created IS head.id OR EXISTS (SELECT 1 FROM statepad_creations AS c WHERE c.id = head.id))
      WHEN ${KINDS.append} THEN (head.if_created IS NULL OR head.if_created = s.created)
        AND EXISTS (SELECT 1 FROM statepad_events AS e
          WHERE e.session = s.n AND e.id = head.id AND e.place <= (s.n << 32 | s.rev))
      ELSE u.time IS NOT -1 AND u.id IS NOT NULL
    END AS duplicate,
    CASE head.kind
      WHEN ${KINDS.create} THEN
        iif(s.created IS head.id, s.digest, (SELECT digest FROM statepad_creations AS c WHERE c.id = head.id))
      ELSE u.digest
    END AS digest,
    EXISTS (SELECT 1 FROM statepad_calls AS c WHERE c.id = head.call) AS refused,
    (SELECT digest FROM statepad_calls AS c WHERE c.id = head.call) AS refused_digest,
    (SELECT data FROM statepad_events AS e
      WHERE head.kind = ${KINDS.append} AND e.session = s.n AND e.id = head.id AND e.place <= (s.n << 32 | s.rev)) AS data,
    (SELECT value FROM statepad_meta WHERE name = 'version') AS version
  FROM head
  LEFT JOIN statepad_sessions AS s ON ${IS_SESSION}
  LEFT JOIN statepad_scopes AS a ON a.scope = head.app_scope
  LEFT JOIN statepad_scopes AS b ON b.scope = head.user_scope
  LEFT JOIN statepad_updates AS u
    ON head.kind = ${KINDS.update} AND u.scope = CASE WHEN head.user_scope IS NULL THEN a.n ELSE b.n END AND u.id = head.id`;

function readOutcomes(group: readonly PackedChange[]): D1Query {
  return query((all) => `WITH ${headAs(group, all)} ${PENDING_STATE} ORDER BY head.i`);
}

/** Remembers the calls of changes that are refused and were tried before. */
function addCalls(group: readonly PackedChange[], now: number): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, state AS MATERIALIZED (${PENDING_STATE})
      INSERT INTO statepad_calls (id, time, digest)
      SELECT call, ${all.add(now)}, sent FROM state WHERE attempt AND NOT written AND NOT duplicate AND ${IS_CURRENT}
      ON CONFLICT (id) DO UPDATE SET time = excluded.time`,
  );
}

function unsetValues(group: readonly PackedChange[], rows: readonly PackedRow[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${rowsAs('unset', UNSET, rows, all)}, ${PENDING}, ${TOUCHED}
      DELETE FROM statepad_values WHERE (owner, name) IN
        (SELECT touched.owner, unset.name FROM unset JOIN touched ON touched.i = unset.i AND touched.part = unset.part)`,
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

/** The moves of each scope by all pending changes: `recent` grows by `text`, unless it gets too long (`is_full`). */
function movedAs(group: readonly PackedChange[], all: Bindings): string {
  const entries = rowsAs(
    'entry',
    ENTRY,
    group.flatMap((packed) => packed.entries),
    all,
  );
  return `${headAs(group, all)}, ${entries}, ${PENDING}, step AS MATERIALIZED (
      SELECT app_scope AS scope, i, 0 AS part, moves_app AS steps, kind = ${KINDS.create} AS made, call FROM pending
      UNION ALL
      SELECT user_scope, i, 1, moves_user, kind = ${KINDS.create}, call FROM pending WHERE user_scope IS NOT NULL
    ), total AS MATERIALIZED (
      SELECT scope, sum(steps) AS steps, sum(made) AS made, max(CASE WHEN steps THEN step.i END) AS latest, call AS mark,
          coalesce(group_concat(entry.entry, '' ORDER BY step.i), '') AS text
        FROM step LEFT JOIN entry ON entry.i = step.i AND entry.part = step.part GROUP BY scope HAVING sum(steps + made) > 0
    ), moved AS MATERIALIZED (
      SELECT x.n, total.*, (x.pos + steps) / ${RECENT.changes} > x.pos / ${RECENT.changes}
          OR length(text) > steps * ${RECENT.characters} AS is_full
        FROM total JOIN statepad_scopes AS x ON x.scope = total.scope
    )`;
}

function keepRecent(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${movedAs(group, all)}
      INSERT INTO statepad_changes (owner, pos, entries)
      SELECT x.n, x.pos + moved.steps, x.recent || moved.text FROM moved JOIN statepad_scopes AS x ON x.n = moved.n
        WHERE moved.is_full AND moved.steps > 0`,
  );
}

function moveScopes(group: readonly PackedChange[], hasLog: boolean): D1Query {
  return query(
    (all) => `WITH ${movedAs(group, all)}
      UPDATE statepad_scopes SET pos = pos + moved.steps, sessions = sessions + moved.made,
          mark = CASE WHEN moved.steps > 0 THEN moved.mark ELSE statepad_scopes.mark END,
          recent = CASE WHEN moved.is_full THEN '' ELSE recent || moved.text END,
          log_base = CASE WHEN moved.steps = 0 THEN log_base ELSE ${hasLog ? 'coalesce(log_base, pos)' : 'NULL'} END
        FROM moved WHERE statepad_scopes.n = moved.n`,
  );
}

function moveSessions(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}
      UPDATE statepad_sessions SET rev = rev + 1, time = pending.time FROM pending WHERE statepad_sessions.n = pending.n`,
  );
}
