// The reading of a session and of a scope: one statement each, so that all of it is of one moment.

import { defined } from '../../model/defined.js';
import { eventOf } from './event-json.js';
import { isEmptyState, microseconds, versionOf, type Tables } from './sql.js';
import { columnTime, fromColumnTime, nearestColumnTime } from './times.js';
import { readRow, valuesIn, type Integers, type Read } from './numbers.js';
import { changeJson } from '../../model/json-numbers.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { loadedOf as answerOf, stateOf } from '../shared/parts.js';
import { valuesOf } from '../shared/values.js';
import type { Positions, Seen } from './positions.js';
import type { SqlValue, Statement } from '../postgres/client.js';
import type { Loaded, LoadedScope, LoadQuery, ScopeName, StoredEvent, Values } from '../../store/contract.js';
import type { Json, SessionKey } from '../../model/types.js';

/** A session's head: all but its events. States that are known are null. */
interface Head {
  readonly created: string;
  readonly events: number;
  /** In microseconds. */
  readonly time: string;
  readonly last: string | null;
  readonly diverged: boolean | null;
  readonly session: Json;
  readonly app: SeenScope;
  readonly user: SeenScope;
}

/** A row of a scope, and its state where that is not known. */
type SeenScope = readonly [...Seen, state: Json];

/** The largest number of a `bigint` that is exact in JavaScript. */
const LAST_REV = Number.MAX_SAFE_INTEGER;

/**
 * The time of a session, in microseconds: `update_time`, or that of the event which it was written for, where either
 * was moved on by microseconds, see write.ts.
 */
export function timeOf(tables: Tables, session: string): string {
  const at = (column: string): string => `extract(epoch from ${column})::numeric * 1000000`;
  const isNear = `event.timestamp <= ${session}.update_time
      and event.timestamp > ${session}.update_time - interval '1 millisecond'`;
  return `coalesce((select case when abs(near.own - near.at) < 1000 then near.own else near.at end from (
    select ${at('event.timestamp')} as at, case jsonb_typeof(event.event_data -> 'timestamp')
      when 'number' then (event.event_data ->> 'timestamp')::numeric * 1000000 end as own
    from ${tables.events} event where ${isOf(session)} and ${isNear}
    order by event.timestamp desc, event.id desc limit 1) near), ${at(`${session}.update_time`)})::bigint`;
}

/** The number of events of a session. */
export function countOf(tables: Tables, session: string): string {
  return `(select count(*) from ${tables.events} event where ${isOf(session)})`;
}

function isOf(session: string): string {
  const { app, user, id } = { app: `${session}.app_name`, user: `${session}.user_id`, id: `${session}.id` };
  return `event.app_name = ${app} and event.user_id = ${user} and event.session_id = ${id}`;
}

/** The statement that loads a session: a row with the {@link Head}, and one for each event. */
export function loadStatement(
  tables: Tables,
  key: SessionKey,
  { events = {}, known = {} }: LoadQuery,
  positions: Positions,
): Statement {
  const { from = 1, to = LAST_REV, since, last = Infinity } = events;
  const { appName, userId, sessionId } = key;
  const values: SqlValue[] = [appName, userId, sessionId];
  const put = (value: SqlValue, type: string): string => `$${values.push(value)}::${type}`;
  const count = (value: number): string => put(String(Math.min(Math.max(0, Math.ceil(value)), LAST_REV)), 'bigint');

  // Each part of a statement costs time also where it is not reached: what nothing is known of is not asked for.
  let [sessionState, diverged] = ['session.state', 'null::boolean'];
  if (known.created !== undefined && known.rev !== undefined) {
    const [created, rev] = [put(known.created, 'text'), count(known.rev)];
    const id = `(select event.id from ${tables.events} event where ${isOf('session')}
      order by event.timestamp desc, event.id desc limit 1 offset greatest(session.events - ${rev}, 0))`;
    const isOther =
      known.last === undefined ? '' : ` or (${rev} > 0 and ${id} is distinct from ${put(known.last, 'text')})`;
    const isLost = `(${rev} > session.events${isOther})`;
    diverged = `session.created = ${created} and ${isLost}`;
    sessionState = `case when session.created = ${created} and session.events = ${rev} and not ${isLost}
      then null else session.state end`;
  }
  const scope = (part: 'app' | 'user'): string => {
    const name = part === 'app' ? { app: appName } : { app: appName, user: userId };
    const version = positions.versionAt(name, known.pos?.[part]);
    const seen = `${part}_row.version`;
    const state =
      version === undefined
        ? `${part}_row.state`
        : `case when coalesce(${seen}, '') = ${put(version, 'text')} then null else coalesce(${part}_row.state, '{}') end`;
    return `json_build_array(${seen}, coalesce(${part}_row.is_empty, true), ${state})`;
  };
  const [app, user] = [scope('app'), scope('user')];
  const row = (part: 'app' | 'user'): string =>
    `select ${versionOf('scope')} as version, ${isEmptyState('scope')} as is_empty, scope.state
    from ${tables[part]} scope where scope.app_name = $1${part === 'app' ? '' : ' and scope.user_id = $2'}`;

  // In the order of the index, from the last event on: the window begins behind those that are later than `to`.
  const upTo = to === LAST_REV ? undefined : count(Math.floor(to));
  const skipped = upTo === undefined ? '0' : `greatest(session.events - ${upTo}, 0)`;
  const room = `session.events - ${skipped} - ${count(Math.max(from, 1))} + 1`;
  const limit = `greatest(${last === Infinity ? room : `least(${room}, ${count(last)})`}, 0)`;
  const isSince =
    since === undefined ? '' : ` and event.timestamp >= ${put(columnTime(nearestColumnTime(since)), 'timestamp')}`;
  const text = `with session as materialized (
  select session.*, ${microseconds('session.create_time')} as created, ${countOf(tables, 'session')} as events
  from ${tables.sessions} session where session.app_name = $1 and session.user_id = $2 and session.id = $3),
head as (
  select json_build_object('created', session.created, 'events', session.events,
    'time', (${timeOf(tables, 'session')})::text,
    'last', (select event.id from ${tables.events} event where ${isOf('session')}
      order by event.timestamp desc, event.id desc limit 1),
    'diverged', ${diverged}, 'session', ${sessionState}, 'app', ${app}, 'user', ${user}) as head
  from session left join (${row('app')}) app_row on true left join (${row('user')}) user_row on true)
select null::bigint as rev, null::varchar as id, head::text as data from head
union all
(select session.events - ${skipped} - row_number() over (order by event.timestamp desc, event.id desc) + 1,
  event.id, event.event_data::text
from session cross join lateral (
  select event.id, event.timestamp, event.event_data from ${tables.events} event where ${isOf('session')}${isSince}
  order by event.timestamp desc, event.id desc offset ${skipped} limit ${limit}) event)`;
  return { text, values };
}

/** A row of {@link loadStatement}. */
interface Row {
  readonly rev: string | number | null;
  readonly id: string;
  readonly data: string | null;
}

/** The head that {@link loadStatement} has found, if there is a session. */
export function headIn(rows: readonly unknown[], integers: Integers): Read<Head> | undefined {
  const found = (rows as readonly Row[]).find(({ rev }) => rev === null);
  return found && readRow<Head>(found.data ?? 'null', integers);
}

/** The answer to a load, of what {@link loadStatement} has found. */
export function loadedOf(
  rows: readonly unknown[],
  { row: head, mayLack }: Read<Head>,
  key: SessionKey,
  positions: Positions,
  integers: Integers,
): Loaded {
  const [ofApp, ofUser] = [{ app: key.appName }, { app: key.appName, user: key.userId }];
  const [app, user] = [seenOf(head.app), seenOf(head.user)];
  const events = (rows as readonly Row[]).filter(({ rev }) => rev !== null).map((row) => eventIn(row, integers));
  return answerOf({
    created: head.created,
    rev: head.events,
    time: fromColumnTime(head.time),
    pos: { app: positions.of(ofApp, app), user: positions.of(ofUser, user) },
    state: stateOf(
      head.session === null ? undefined : valuesIn(head.session, sessionTitle(key), mayLack),
      valuesUnlessKnown(head.app, scopeTitle(ofApp), mayLack),
      valuesUnlessKnown(head.user, scopeTitle(ofUser), mayLack),
    ),
    events: events.sort((one, other) => one.rev - other.rev),
    last: head.last ?? undefined,
    marks: [undefined, undefined],
    changed: undefined,
    isDiverged: head.diverged === true,
  });
}

/** The state of a scope as a statement has seen it. */
export function seenOf([version, isEmpty]: readonly [string | null, boolean | null, ...unknown[]]): Seen {
  return [version, isEmpty ?? true];
}

/** The values of a scope, unless they are known. */
function valuesUnlessKnown([version, , state]: SeenScope, whose: string, mayLack: boolean): Values | undefined {
  if (state === null) {
    return version === null ? valuesOf([]) : undefined;
  }
  return valuesIn(state, whose, mayLack);
}

function eventIn({ rev, id, data }: Row, integers: Integers): StoredEvent {
  return defined({ rev: Number(rev), id, data: eventText(data ?? '{}'), integers });
}

/** The text of an event, as ADK writes it in JSON, of the text that is stored. Its numbers keep their digits. */
export function eventText(stored: string): string {
  return changeJson(stored, (event) => eventOf(event as Json));
}

/** The statement that reads an app, or a user in it. */
export function scopeStatement(tables: Tables, { app, user }: ScopeName): Statement {
  const [table, isUser, values] =
    user === undefined
      ? ([tables.app, '', [app]] as const)
      : ([tables.user, ' and scope.user_id = $2', [app, user]] as const);
  const seen = `json_build_array(${versionOf('scope')}, ${isEmptyState('scope')}, scope.state)::text as data`;
  return { text: `select ${seen} from ${table} scope where scope.app_name = $1${isUser}`, values };
}

/** Reads the answer of {@link scopeStatement}. */
export function scopeIn(rows: readonly unknown[], integers: Integers): Read<SeenScope> {
  const [row] = rows as readonly { readonly data: string }[];
  return readRow<SeenScope>(row?.data ?? '[null, true, {}]', integers);
}

/** The answer to reading a scope. */
export function loadedScopeOf({ row, mayLack }: Read<SeenScope>, name: ScopeName, positions: Positions): LoadedScope {
  return { pos: positions.of(name, seenOf(row)), state: valuesIn(row[2], scopeTitle(name), mayLack) };
}

/** The statement that deletes all values of a scope. Its row stays: adk-python needs it. */
export function removeScopeStatement(tables: Tables, { app, user }: ScopeName): Statement {
  const set = `set state = '{}'::jsonb, update_time = now() where app_name = $1`;
  return user === undefined
    ? { text: `update ${tables.app} ${set}`, values: [app] }
    : { text: `update ${tables.user} ${set} and user_id = $2`, values: [app, user] };
}
