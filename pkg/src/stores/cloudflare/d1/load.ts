// Loading a session from D1.

import { missingEvents, scopeTitle, sessionTitle } from '../../../store/refusals.js';
import { query, type D1Query } from './client.js';
import { isLive, isSession, VALUE_COLUMNS } from './read.js';
import { CHUNK, ITEMS, knownScopes, ScopePositions, changeQueries, type KnownScope } from './changed.js';
import { eventIn, numberIn, textIn, valuesIn } from '../../sqlite-core/rows.js';
import { EVENT_COLUMNS, scopeColumn } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import { isKnownScope } from '../../shared/keys.js';
import { loadedOf, stateOf } from '../../shared/parts.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Known, Loaded, LoadQuery, StoredEvent, Values } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

type EventQuery = NonNullable<LoadQuery['events']>;

/** The most that a revision can be. */
const LAST_REV = 0xffff_ffff;

/**
 * The statements that load a session: its row, its values, its events if any are requested, and what has happened to
 * its scopes.
 */
export function loadQueries(key: SessionKey, { events = {}, known = {} }: LoadQuery): D1Query[] {
  const { appName, userId } = key;
  const [app, user] = [scopeColumn(appName, undefined), scopeColumn(appName, userId)];
  const had = knownScopes(known, app, user);
  const session = query((all) => {
    const at = all.add(known.rev ?? null);
    return `SELECT s.n, created, rev, time, expires, coalesce(a.pos, 0) AS app, coalesce(u.pos, 0) AS user, a.mark AS appMark, u.mark AS userMark,
        (SELECT id FROM statepad_events WHERE rev > 0 AND place = (s.n << 32 | rev)) AS last,
        (SELECT id FROM statepad_events WHERE ${at} > 0 AND place = (s.n << 32 | CAST(${at} AS INTEGER))) AS known
      FROM statepad_sessions AS s
      LEFT JOIN statepad_scopes AS a ON a.scope = ${all.add(app)}
      LEFT JOIN statepad_scopes AS u ON u.scope = ${all.add(user)}
      WHERE ${isSession(key, all)} AND ${isLive()}`;
  });
  const hasEvents = events.last === undefined || events.last > 0;
  return [
    session,
    valuesQuery(key, known, had),
    hasEvents ? eventsQuery(key, events) : NOTHING,
    ...changeQueries(had),
  ];
}

const NOTHING: D1Query = { sql: 'SELECT 1 WHERE false', values: [] };

/** The values that are not known, but for scopes whose changes are reported in their place. */
function valuesQuery(key: SessionKey, known: Known, had: readonly KnownScope[]): D1Query {
  return query((all) => {
    const session = `session AS MATERIALIZED (SELECT n, created, rev FROM statepad_sessions WHERE ${isSession(key, all)})`;
    const scopes = had.map(
      ({ scope, pos, mark }) => `(${all.add(scope)}, ${all.add(pos)}, ${all.add(toColumn(mark))})`,
    );
    const tables =
      scopes.length === 0
        ? session
        : `${session}, known(scope, pos, mark) AS (VALUES ${scopes.join(', ')}), ${CHUNK}, change AS MATERIALIZED (
            SELECT chunk.n, chunk.pos - json_array_length(${ITEMS('chunk.entries')}) + 1 + item.key AS pos, item.value AS item
              FROM chunk, json_each(${ITEMS('chunk.entries')}) AS item
          ), telling AS MATERIALIZED (
            SELECT changed.n FROM changed JOIN known ON known.scope = changed.scope
              WHERE EXISTS (SELECT 1 FROM change WHERE n = changed.n AND pos = known.pos AND item ->> 0 = known.mark)
              AND NOT EXISTS (SELECT 1 FROM change WHERE n = changed.n AND pos > known.pos AND json_array_length(item) = 1)
          )`;
    const created = all.add(known.created === undefined ? null : toColumn(known.created));
    const rev = all.add(known.rev ?? null);
    const last = all.add(known.last === undefined ? null : toColumn(known.last));
    const isSame = `created IS ${created} AND rev IS ${rev} AND (${last} IS NULL OR rev = 0 OR ${last} IS
      (SELECT id FROM statepad_events WHERE place = (session.n << 32 | session.rev)))`;
    const scope = (part: 'app' | 'user'): string => {
      const [name, pos] = [
        all.add(scopeColumn(key.appName, part === 'app' ? undefined : key.userId)),
        all.add(known.pos?.[part] ?? null),
      ];
      const mark = known.marks?.[part];
      const isOther = mark === undefined ? '' : ` OR x.mark <> ${all.add(toColumn(mark))}`;
      return `SELECT '${part}', x.n FROM statepad_scopes AS x, session WHERE x.scope = ${name} AND (x.pos IS NOT ${pos}${isOther})
        ${scopes.length === 0 ? '' : 'AND x.n NOT IN (SELECT n FROM telling)'}`;
    };
    return `WITH ${tables}, owner(part, n) AS (
        SELECT 'session', n FROM session WHERE NOT (${isSame})
        UNION ALL ${scope('app')}
        UNION ALL ${scope('user')}
      )
      SELECT owner.part, ${VALUE_COLUMNS} FROM owner JOIN statepad_values AS v ON v.owner = owner.n`;
  });
}

/** From the last event to the first. */
function eventsQuery(key: SessionKey, { from = 1, to = LAST_REV, since, last = LAST_REV }: EventQuery): D1Query {
  return query((all) => {
    const session = `session AS MATERIALIZED (SELECT n, rev FROM statepad_sessions WHERE ${isSession(key, all)})`;
    const first = all.add(Math.min(Math.max(0, Math.ceil(from)), LAST_REV));
    const end = all.add(Math.max(0, Math.min(Math.floor(to), LAST_REV)));
    const time = since === undefined ? undefined : all.add(since);
    const start = time === undefined ? `CAST(${first} AS INTEGER)` : '(SELECT max(low) FROM search)';
    return `WITH RECURSIVE ${session}${time === undefined ? '' : `, ${searchFor(first, time)}`}
      SELECT ${EVENT_COLUMNS} FROM statepad_events
        WHERE place BETWEEN (SELECT n << 32 | ${start} FROM session)
          AND (SELECT n << 32 | min(CAST(${end} AS INTEGER), rev) FROM session)
          ${time === undefined ? '' : `AND time >= ${time}`}
        ORDER BY place DESC LIMIT ${all.add(Math.min(Math.ceil(last), LAST_REV))}`;
  });
}

/**
 * The table that finds the first event whose `peak` is the time or later, by halves: its revision is the last `low`.
 */
function searchFor(first: string, time: string): string {
  const middle = '(search.low + search.high) / 2';
  return `search(low, high) AS (
      SELECT CAST(${first} AS INTEGER), rev + 1 FROM session
      UNION ALL
      SELECT CASE WHEN e.peak >= ${time} THEN search.low ELSE ${middle} + 1 END,
          CASE WHEN e.peak >= ${time} THEN ${middle} ELSE search.high END
        FROM search JOIN session LEFT JOIN statepad_events AS e ON e.place = (session.n << 32 | ${middle})
        WHERE search.low < search.high
    )`;
}

/** Reads the answers of {@link loadQueries}. */
export function loadedFrom(key: SessionKey, query: LoadQuery, answers: readonly (readonly SqlRow[])[]): Loaded | null {
  const [[row] = [], values = [], events = [], ...changes] = answers;
  if (row === undefined) {
    return null;
  }
  const { events: eventQuery = {}, known = {} } = query;
  const [created, rev, time] = [textIn(row, 'created'), numberIn(row, 'rev'), numberIn(row, 'time')];
  const pos = { app: numberIn(row, 'app'), user: numberIn(row, 'user') };
  const text = (column: string): string | undefined => (row[column] === null ? undefined : textIn(row, column));
  const [app, user, last] = [text('appMark'), text('userMark'), text('last')];
  const of = (part: string, whose: string): Values =>
    valuesIn(
      values.filter((each) => each['part'] === part),
      whose,
    );
  const scopes = new ScopePositions(changes.flat());
  const { changed } = scopes.changed(
    known,
    scopeColumn(key.appName, undefined),
    scopeColumn(key.appName, key.userId),
    pos,
  );
  const isSame = (part: 'app' | 'user', mark: string | undefined): boolean =>
    changed?.[part] !== undefined || isKnownScope(known, part, pos[part], mark);
  const isDiverged = known.created === created && hasDiverged(known, rev, text('known'));
  const isKnown = !isDiverged && known.created === created && known.rev === rev;
  const [appTitle, userTitle] = [scopeTitle({ app: key.appName }), scopeTitle({ app: key.appName, user: key.userId })];
  return loadedOf({
    created,
    rev,
    time,
    pos,
    state: stateOf(
      isKnown ? undefined : of('session', sessionTitle(key)),
      isSame('app', app) ? undefined : of('app', appTitle),
      isSame('user', user) ? undefined : of('user', userTitle),
    ),
    last,
    expires: row['expires'] === null ? undefined : numberIn(row, 'expires'),
    marks: [app, user],
    changed,
    isDiverged,
    events: eventsOf(events, eventQuery, rev),
  });
}

/** True if the known state of a session is not that of the store; `id` is that of the event at the known revision. */
function hasDiverged({ rev: known, last }: Known, rev: number, id: string | undefined): boolean {
  return known !== undefined && (known > rev || (known > 0 && last !== undefined && last !== id));
}

function eventsOf(rows: readonly SqlRow[], eventQuery: EventQuery, rev: number): StoredEvent[] {
  const { from = 1, to = Infinity, since, last = Infinity } = eventQuery;
  const end = Math.min(rev, Math.floor(to));
  const most = Math.max(0, Math.min(end - Math.max(0, Math.ceil(from)) + 1, Math.ceil(last)));
  const stored = rows.map(eventIn).reverse();
  // Not every session has an event of revision 0.
  const isWithout = most > Math.max(0, end) && stored[0]?.rev !== 0;
  if (since === undefined && stored.length !== (isWithout ? end : most)) {
    throw missingEvents(from, Math.min(rev, to));
  }
  return stored;
}
