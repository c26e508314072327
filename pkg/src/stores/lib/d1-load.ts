// Loading a session from D1.

import { StoreError } from '../../store-error.js';
import { query, type D1Query } from './d1-client.js';
import { isSession, SESSION_COLUMNS, VALUE_COLUMNS, valuesOf } from './d1-read.js';
import { numberIn, textIn } from './sqlite-rows.js';
import { scopeColumn } from './sqlite-schema.js';
import { toColumn } from './sql-text.js';
import type { SqlRow } from './sqlite-driver.js';
import type { Loaded, LoadQuery, StoredEvent, Values } from '../../store.js';
import type { SessionKey } from '../../types.js';

type EventQuery = NonNullable<LoadQuery['events']>;

/** The most that a revision can be. */
const LAST_REV = 0xffff_ffff;

/** The statements that load a session. */
export function loadQueries(key: SessionKey, { events = {}, known = {} }: LoadQuery): D1Query[] {
  const { appName, userId } = key;
  const appScope = scopeColumn(appName, undefined);
  const userScope = scopeColumn(appName, userId);
  const session = query(
    (all) => `SELECT ${SESSION_COLUMNS},
        coalesce((SELECT pos FROM statepad_scopes WHERE scope = ${all.add(appScope)}), 0) AS app,
        coalesce((SELECT pos FROM statepad_scopes WHERE scope = ${all.add(userScope)}), 0) AS user
      FROM statepad_sessions WHERE ${isSession(key, all)}`,
  );
  const values = query((all) => {
    const created = all.add(known.created === undefined ? null : toColumn(known.created));
    const scope = (part: string, name: string, pos: number | undefined): string =>
      `SELECT '${part}', x.n FROM statepad_scopes AS x, session
          WHERE x.scope = ${all.add(name)} AND x.pos IS NOT ${all.add(pos ?? null)}`;
    return `WITH session AS MATERIALIZED (SELECT ${SESSION_COLUMNS} FROM statepad_sessions WHERE ${isSession(key, all)}),
      owner(part, n) AS (
        SELECT 'session', n FROM session WHERE NOT (created IS ${created} AND rev IS ${all.add(known.rev ?? null)})
        UNION ALL ${scope('app', appScope, known.pos?.app)}
        UNION ALL ${scope('user', userScope, known.pos?.user)}
      )
      SELECT owner.part, ${VALUE_COLUMNS} FROM owner JOIN statepad_values AS v ON v.owner = owner.n`;
  });
  return [session, values, ...(events.last !== undefined && events.last <= 0 ? [] : [eventsQuery(key, events)])];
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
      SELECT place & ${LAST_REV} AS rev, data FROM statepad_events
        WHERE place BETWEEN (SELECT n << 32 | ${start} FROM session)
          AND (SELECT n << 32 | min(CAST(${end} AS INTEGER), rev) FROM session)
          ${time === undefined ? '' : `AND time >= ${time}`}
        ORDER BY place DESC LIMIT ${all.add(Math.min(Math.ceil(last), LAST_REV))}`;
  });
}

/** The table that finds the first event whose `peak` is the time or later, by halves: its revision is the last `low`. */
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

/** What {@link loadQueries} have answered. */
export function loadedFrom(key: SessionKey, query: LoadQuery, answers: readonly (readonly SqlRow[])[]): Loaded | null {
  const [[row] = [], values = [], events = []] = answers;
  if (row === undefined) {
    return null;
  }
  const { events: wanted = {}, known = {} } = query;
  const [created, rev, time] = [textIn(row, 'created'), numberIn(row, 'rev'), numberIn(row, 'time')];
  const pos = { app: numberIn(row, 'app'), user: numberIn(row, 'user') };
  const of = (part: string, whose: string): Values => valuesOf(values.filter((each) => each['part'] === part), whose);
  return {
    created,
    rev,
    time,
    pos,
    state: {
      ...(known.created === created && known.rev === rev ? {} : { session: of('session', `session "${key.sessionId}"`) }),
      ...(known.pos?.app === pos.app ? {} : { app: of('app', `app "${key.appName}"`) }),
      ...(known.pos?.user === pos.user ? {} : { user: of('user', `user "${key.userId}"`) }),
    },
    events: eventsOf(events, wanted, rev),
  };
}

function eventsOf(rows: readonly SqlRow[], wanted: EventQuery, rev: number): StoredEvent[] {
  const { from = 1, to = Infinity, since, last = Infinity } = wanted;
  const end = Math.min(rev, Math.floor(to));
  const most = Math.max(0, Math.min(end - Math.max(0, Math.ceil(from)) + 1, Math.ceil(last)));
  const stored = rows.map((row) => ({ rev: numberIn(row, 'rev'), data: textIn(row, 'data') })).reverse();
  // Not all sessions have said what they began with.
  const isWithout = most > Math.max(0, end) && stored[0]?.rev !== 0;
  if (since === undefined && stored.length !== (isWithout ? end : most)) {
    throw new StoreError('corrupt', `events between the revisions ${from} and ${Math.min(rev, to)} are missing`);
  }
  return stored;
}
