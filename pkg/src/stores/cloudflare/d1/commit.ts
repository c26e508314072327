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
import { checkDoubts, countAll, doubtfulScope, isBeyond, isMeasured, makeRoom, readSizes, sizesAs } from './growth.js';
import { IS_CURRENT, isLive, NOW } from './read.js';
import { portionsOf, rowsAs, type PackedRow } from './rows.js';
import { knownScopes, changeQueries } from './changed.js';
import { RECENT } from '../../sqlite-core/entries.js';
import { BEGINNING } from '../../sqlite-core/statements.js';
import { isEmpty } from '../../shared/values.js';
import type { Delta } from '../../../store/contract.js';

/** The answers of a group that are of use, by the places of their statements. */
export interface GroupQueries {
  readonly queries: readonly D1Query[];
  /** The outcomes; behind them, so many reports on what others have done. */
  readonly answer: number;
  readonly changeCount: number;
  /** What is known for refusals alone; absent where there is nothing of the kind. */
  readonly misses: number | undefined;
  readonly sizes: number | undefined;
  /** The ends of sessions after the changes; absent where there are only updates. */
  readonly ends: number | undefined;
}

/** The circumstances of a commit. */
export interface Circumstances {
  /** The time by the clock. */
  readonly now: number;
  /** Writes to scopes are logged. */
  readonly hasLog: boolean;
  /**
   * Sizes are compared with limits exactly, and sessions that have expired make room for others: for a change that is
   * alone. Otherwise the batch fails where that might be needed, see {@link isInDoubt}.
   */
  readonly isCareful: boolean;
}

const APP = '(SELECT n FROM statepad_scopes WHERE scope = head.app_scope)';
const USER = '(SELECT n FROM statepad_scopes WHERE scope = head.user_scope)';

/** The statements that commit a group. */
export function groupQueries(group: readonly PackedChange[], { now, hasLog, isCareful }: Circumstances): GroupQueries {
  const has = (kind: keyof typeof KINDS): boolean => group.some(({ change }) => change.kind === kind);
  const [creates, appends, updates] = [has('create'), has('append'), has('update')];
  const moves = group.some(({ entries }) => entries.length > 0);
  const logs = moves && hasLog;
  const hasEvent = group.some(({ event }) => event !== undefined);
  const gating = { group, isCareful };
  const gates = [
    ...(isCareful ? makeRoom(group, now) : checkDoubts(group)),
    ...(creates || updates ? [makeScopes(gating)] : []),
    ...(creates ? [makeSessions(gating)] : []),
    ...(hasEvent ? [addEvents(gating, hasLog)] : []),
    ...(updates ? [addUpdates(gating)] : []),
  ];
  const changes = changeQueriesOf(group);
  const misses = group.some(({ change, guards }) => change.limits !== undefined && guards.length > 0)
    ? [readMisses(group)]
    : [];
  const sizes = isCareful && isMeasured(group) ? [readSizes(group)] : [];
  const reads = [readOutcomes(group), ...changes, ...misses, ...sizes];
  const queries = [
    ...gates,
    ...reads,
    ...(group.some(({ change: { attempt } }) => attempt !== undefined) ? [addCalls(group, now)] : []),
    ...countAll(group),
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
    ...(updates ? [query((all) => `UPDATE statepad_updates SET time = ${all.add(now)} WHERE time = -1`)] : []),
    ...(creates || appends ? [moveSessions(group)] : []),
  ];
  const behind = gates.length + 1 + changes.length;
  return {
    queries,
    answer: gates.length,
    changeCount: changes.length,
    misses: misses.length > 0 ? behind : undefined,
    sizes: sizes.length > 0 ? behind + misses.length : undefined,
    ends: creates || appends ? queries.length - 1 : undefined,
  };
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

/** The changes whose guards and limits a statement looks at. */
interface Gating extends Pick<Circumstances, 'isCareful'> {
  readonly group: readonly PackedChange[];
}

/** The value that is there under the name of a row `guard`. */
const guardedValue = (hasSession: boolean): string =>
  `(SELECT v.value FROM statepad_values AS v WHERE v.name = guard.name AND v.owner =
    CASE guard.part WHEN 0 THEN ${APP} WHEN 1 THEN ${USER} ELSE ${hasSession ? 's.n' : 'NULL'} END)`;

function guardAs(group: readonly PackedChange[], all: Bindings): string {
  const guards = group.flatMap((packed) => packed.guards);
  return rowsAs('guard', GUARD, guards, all);
}

/**
 * The beginning of a statement that looks at guards and limits, and the condition that they hold for `head` and its
 * session, `s`.
 */
function guarded({ group, isCareful }: Gating, hasSession: boolean, all: Bindings): [tables: string, holds: string] {
  const hasGuards = group.some(({ guards }) => guards.length > 0);
  const isSized = isCareful && isMeasured(group);
  const tables = [
    headAs(group, all),
    ...(hasGuards ? [guardAs(group, all)] : []),
    ...(isSized ? [sizesAs(group, all)] : []),
  ];
  const holds = [
    IS_CURRENT,
    'NOT EXISTS (SELECT 1 FROM statepad_calls AS c WHERE c.id = head.call)',
    hasSession
      ? `${isLive('s.')} AND (head.if_created IS NULL OR head.if_created = s.created)
          AND (head.if_rev IS NULL OR head.if_rev = s.rev) AND (head.if_fence IS NULL OR head.if_fence = s.fence)
          AND (head.most_events IS NULL OR s.rev < head.most_events)`
      : 'coalesce(head.if_rev, 0) = 0 AND coalesce(head.if_fence, 0) = 0',
    '(head.if_app IS NULL OR head.if_app = coalesce((SELECT pos FROM statepad_scopes WHERE scope = head.app_scope), 0))',
    '(head.if_user IS NULL OR head.if_user = coalesce((SELECT pos FROM statepad_scopes WHERE scope = head.user_scope), 0))',
  ];
  if (hasGuards) {
    holds.push(
      `NOT EXISTS (SELECT 1 FROM guard WHERE guard.i = head.i AND ${guardedValue(hasSession)} IS NOT guard.value)`,
    );
  }
  if (isSized) {
    holds.push(`NOT EXISTS (SELECT 1 FROM size WHERE ${isBeyond(group, all)})`);
  }
  return [`WITH ${tables.join(', ')}`, holds.join(' AND ')];
}

/** Reads the numbers of the changes with a guard that the values do not meet. */
function readMisses(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${guardAs(group, all)}
      SELECT DISTINCT guard.i FROM guard JOIN head ON head.i = guard.i LEFT JOIN statepad_sessions AS s ON ${IS_SESSION}
        WHERE ${guardedValue(true)} IS NOT guard.value`,
  );
}

/** Makes the rows of scopes that are new. Those of a session are there already. */
function makeScopes(gating: Gating): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(gating, false, all);
    const [doubtTables, doubtRows] = gating.isCareful ? ['', ''] : doubtfulScope(gating.group, all);
    return `${tables}${doubtTables}, named AS (
        SELECT app_scope AS scope, NULL AS of_app, app AS name FROM head WHERE kind <> ${KINDS.append} AND ${holds}
        UNION
        SELECT user_scope, app, user FROM head WHERE kind <> ${KINDS.append} AND user_scope IS NOT NULL AND ${holds}
      )
      INSERT INTO statepad_scopes (n, scope, of_app, name, pos, sessions)
      SELECT (SELECT coalesce(min(n), 0) FROM statepad_scopes) - row_number() OVER (ORDER BY scope), scope, of_app, name, 0, 0
        FROM named
        WHERE NOT EXISTS (SELECT 1 FROM statepad_scopes AS x WHERE x.scope = named.scope) ${doubtRows}`;
  });
}

function makeSessions(gating: Gating): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(gating, false, all);
    return `${tables}
      INSERT INTO statepad_sessions (app, user, id, created, rev, time, digest, ttl, expires)
      SELECT head.app, head.user, head.session, head.id, -1, head.time, head.digest, head.ttl,
          coalesce(head.ends, ${NOW} + head.ttl) FROM head
        WHERE head.kind = ${KINDS.create} AND NOT EXISTS (SELECT 1 FROM statepad_sessions AS s WHERE ${IS_SESSION}) AND ${holds}
        AND NOT EXISTS (SELECT 1 FROM statepad_creations AS c WHERE c.id = head.id)`;
  });
}

/**
 * Of a creation, the event is that of a session which has just been made. The positions of the scopes after it are
 * known at once for a change that is alone.
 */
function addEvents(gating: Gating, hasLog: boolean): D1Query {
  const { group } = gating;
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
    const [tables, holds] = guarded(gating, true, all);
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

function addUpdates(gating: Gating): D1Query {
  return query((all) => {
    const [tables, holds] = guarded(gating, false, all);
    return `${tables}
      INSERT INTO statepad_updates (scope, id, time, digest)
      SELECT x.n, head.id, -1, head.digest FROM head JOIN statepad_scopes AS x ON x.scope = coalesce(head.user_scope, head.app_scope)
        WHERE head.kind = ${KINDS.update} AND ${holds}
        AND NOT EXISTS (SELECT 1 FROM statepad_updates AS u WHERE u.scope = x.n AND u.id = head.id)`;
  });
}

/** The state while changes are pending: all but they is as it was before. */
const PENDING_STATE = `SELECT head.i, head.call, head.attempt, head.digest AS sent, s.created, s.rev, s.fence, s.expires,
    coalesce(s.expires <= ${NOW}, 0) AS expired,
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
      WHEN ${KINDS.append} THEN ${isLive('s.')} AND (head.if_created IS NULL OR head.if_created = s.created)
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
      INSERT INTO statepad_values (owner, name, born, nth, size, value)
      SELECT touched.owner, put.name, touched.born, put.nth, put.size, put.value
        FROM put JOIN touched ON touched.i = put.i AND touched.part = put.part WHERE true ORDER BY put.i, put.nth
      ON CONFLICT (owner, name) DO UPDATE SET size = excluded.size, value = excluded.value`,
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
          changed = CASE WHEN moved.steps > 0 THEN ${NOW} ELSE statepad_scopes.changed END,
          recent = CASE WHEN moved.is_full THEN '' ELSE recent || moved.text END,
          log_base = CASE WHEN moved.steps = 0 THEN log_base ELSE ${hasLog ? 'coalesce(log_base, pos)' : 'NULL'} END
        FROM moved WHERE statepad_scopes.n = moved.n`,
  );
}

/** Ends what is pending. Answers the ends of the sessions. */
function moveSessions(group: readonly PackedChange[]): D1Query {
  return query(
    (all) => `WITH ${headAs(group, all)}, ${PENDING}
      UPDATE statepad_sessions SET rev = rev + 1, time = pending.time, expires = coalesce(${NOW} + statepad_sessions.ttl, statepad_sessions.expires)
        FROM pending WHERE statepad_sessions.n = pending.n RETURNING app, user, id, expires`,
  );
}
