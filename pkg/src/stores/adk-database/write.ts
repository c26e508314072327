// The statements that write. Rows are locked first, the session's before the app's and that before the user's, as
// adk-python does; what comes after sees all that was committed before the locks were had.

import { storedEvent } from './event-json.js';
import { invocationOf } from './limits.js';
import { holds, isAbout, isEmptyState, isEventOf, isSession, literal, merged } from './sql.js';
import { isKeepable, microseconds, timestamp, versionOf, type Tables } from './sql.js';
import { microsecondsOf } from './times.js';
import { SHARED_SCOPES, STORED_SCOPES, type SharedScope } from '../../model/scope.js';
import type { Change } from '../../store/contract.js';
import type { Json, SessionKey } from '../../model/types.js';

/** The setting of a transaction that says which session it has locked. */
const LOCKED = 'statepad.session';
const IS_LOCKED = `current_setting('${LOCKED}', true) <> ''`;

/** The values that a guard expects, by scope. */
type GuardedValues = NonNullable<NonNullable<Change['guard']>['keys']>;

/** The answer of a statement that writes, in its last row. */
export interface Answer {
  readonly verdict: 'written' | 'duplicate' | 'exists' | 'not-found' | 'conflict' | 'again';
  /** The number of events that the session had before; 0 without a session. */
  readonly events?: number;
  /** The id of the event before the last one, or of the last one where nothing was written. */
  readonly last?: string | null;
  /** The text of the event that is there. */
  readonly data?: string | null;
  readonly app: Moved;
  readonly user?: Moved;
}

/** A row of a scope: its version before, whether its state was empty, and its version after, if it was written. */
export type Moved = readonly [before: string | null, isEmpty: boolean | null, after: string | null];

/** Appends an event. `event` is what its text says. */
export function appendStatements(tables: Tables, change: Change, event: Json): string[] {
  const key = change.key as SessionKey;
  const { guard: { created, keys = {} } = {}, delta } = change;
  const { id } = change.event as NonNullable<Change['event']>;
  const locked = `select ${microseconds('create_time')} from ${tables.sessions} where ${isSession(key)} for update`;
  const isOther = created === undefined ? undefined : `(select created from session) <> ${literal(created)}`;
  const verdict = `case
    when not exists (select from session) then 'not-found'
    when (select created from session) <> current_setting('${LOCKED}', true) then 'again'
    ${isOther === undefined ? '' : `when ${isOther} then 'not-found'`}
    when exists (select from stored) then 'duplicate'
    when not (${conditions(keys)}) then 'conflict'
    else 'written' end`;
  return [
    `select set_config('${LOCKED}', coalesce((${locked}), ''), true)`,
    ...lockStatements(tables, change, IS_LOCKED),
    `with session as materialized (
  select ${microseconds('create_time')} as created, state from ${tables.sessions} where ${isSession(key)}),
stored as materialized (select event_data from ${tables.events} where ${isEventOf(key)} and id = ${literal(id)}),
${scopesBefore(tables, change)},
verdict as materialized (select ${verdict} as it),
written as materialized (select from verdict where it = 'written'),
placed as materialized (${placeOf(tables, change)}),
event as (${insertEvent(tables, change, event)}),
moved as (${updateSession(tables, change)}),
${scopesAfter(tables, delta, key)}
select json_build_object('verdict', (select it from verdict),
  'events', (select count(*) from ${tables.events} where ${isEventOf(key)}),
  'last', (${lastId(tables, change)}),
  'data', (select event_data::text from stored),
  ${scopeMembers(delta, key)})::text as answer`,
  ];
}

/** Creates a session. `created` is its time of creation, in microseconds. */
export function createStatements(tables: Tables, change: Change, created: number): string[] {
  const key = change.key as SessionKey;
  const { delta, guard: { keys = {} } = {} } = change;
  const isAllowed = conditions({ ...keys, session: {} });
  const state = merged(`'{}'::jsonb`, delta.session ?? {});
  const values = [key.appName, key.userId, key.sessionId].map(literal);
  return [
    ...SHARED_SCOPES.map((part) => ensure(tables, part, key, 'true')),
    ...lockStatements(tables, change, 'false'),
    `with ${scopesBefore(tables, change)},
made as (
  insert into ${tables.sessions} (app_name, user_id, id, state, create_time, update_time)
  select ${values.join(', ')}, ${state}, ${timestamp(created)}, ${timestamp(microsecondsOf(change.time))}
  where ${isAllowed} on conflict do nothing returning 1),
${scopesAfter(tables, delta, key, 'made')}
select json_build_object('verdict', case when exists (select from made) then 'written'
    when ${isAllowed} or exists (select from ${tables.sessions} where ${isSession(key)}) then 'exists'
    else 'conflict' end,
  ${scopeMembers(delta, key)})::text as answer`,
    TRANSACTION,
  ];
}

/** Writes values of an app and a user. */
export function updateStatements(tables: Tables, change: Change): string[] {
  const { delta, key, guard: { keys = {} } = {} } = change;
  return [
    ...lockStatements(tables, change, 'true'),
    `with ${scopesBefore(tables, change)},
verdict as materialized (select case when ${conditions({ ...keys, session: {} })} then 'written' else 'conflict' end as it),
written as materialized (select from verdict where it = 'written'),
${scopesAfter(tables, delta, key)}
select json_build_object('verdict', (select it from verdict), ${scopeMembers(delta, key)})::text as answer`,
    TRANSACTION,
  ];
}

/** The number of the transaction, if it has written anything, and the process of the server that runs it. */
const TRANSACTION = 'select txid_current_if_assigned()::text as id, pg_backend_pid()::text as process';

/** Makes the rows of the scopes that a change writes or looks at, where they are missing, and locks them. */
function lockStatements(tables: Tables, { key, delta, guard }: Change, condition: string): string[] {
  return partsOf(key)
    .filter((part) => isAbout(delta[part]) || isAbout(guard?.keys?.[part]))
    .flatMap((part) => [
      ...(condition === 'false' ? [] : [ensure(tables, part, key, condition)]),
      `select from ${tables[part]} where ${isScope(part, key)} for update`,
    ]);
}

/** Makes the row of a scope where it is missing: adk-python needs both before it appends to a session. */
function ensure(tables: Tables, part: SharedScope, key: Change['key'], condition: string): string {
  const [columns, values] =
    part === 'app'
      ? ['app_name', literal(key.appName)]
      : ['app_name, user_id', `${literal(key.appName)}, ${literal(key.userId ?? '')}`];
  return `insert into ${tables[part]} (${columns}, state, update_time)
  select ${values}, '{}'::jsonb, now() where ${condition} on conflict do nothing`;
}

/** The scopes as they are, in a part of a statement for each. States are read where a guard looks at them. */
function scopesBefore(tables: Tables, { key, guard }: Change): string {
  return partsOf(key)
    .map((part) => {
      const state = isAbout(guard?.keys?.[part]) ? ', scope.state' : '';
      const columns = `${versionOf('scope')} as version, ${isEmptyState('scope')} as is_empty${state}`;
      return `${part}_before as materialized (select ${columns} from ${tables[part]} scope where ${isScope(part, key)})`;
    })
    .join(',\n');
}

/** Writes the scopes once something else is written. */
function scopesAfter(tables: Tables, delta: Change['delta'], key: Change['key'], once = 'written'): string {
  const writes = partsOf(key).flatMap((part) => {
    const written = delta[part];
    return isAbout(written)
      ? [
          `${part}_after as (
  update ${tables[part]} scope set state = ${merged('scope.state', written)}, update_time = now()
  where ${isScope(part, key)} and exists (select from ${once}) returning ${versionOf('scope')} as version)`,
        ]
      : [];
  });
  return [...writes, 'done as (select)'].join(',\n');
}

/** The members of an {@link Answer} about the scopes. */
function scopeMembers(delta: Change['delta'], key: Change['key']): string {
  return partsOf(key)
    .map((part) => {
      const after = isAbout(delta[part]) ? `(select version from ${part}_after)` : 'null';
      const before = `(select version from ${part}_before), (select is_empty from ${part}_before)`;
      return `'${part}', json_build_array(${before}, ${after})`;
    })
    .join(', ');
}

/** A condition: a guard holds. */
function conditions(keys: GuardedValues): string {
  if (!areKeepable(keys)) {
    return 'false';
  }
  const ofScopes = SHARED_SCOPES.flatMap((part) => {
    const expected = keys[part];
    return isAbout(expected) ? [holds(`coalesce((select state from ${part}_before), '{}'::jsonb)`, expected)] : [];
  });
  const ofSession = isAbout(keys.session) ? [holds('(select state from session)', keys.session)] : [];
  return [...ofScopes, ...ofSession, 'true'].join(' and ');
}

/** False where Postgres can hold no such names or values: then none of them is there. */
function areKeepable(keys: GuardedValues): boolean {
  const isValue = (value: unknown): boolean =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).every(([name, item]) => isKeepable(name) && isValue(item))
      : typeof value !== 'string' || isKeepable(value);
  return STORED_SCOPES.every((scope) => isValue(keys[scope]?.set ?? {}));
}

function insertEvent(tables: Tables, change: Change, event: Json): string {
  const { appName, userId, sessionId } = change.key as SessionKey;
  const { id } = change.event as NonNullable<Change['event']>;
  const keys = [id, appName, userId, sessionId, invocationOf(event)].map(literal).join(', ');
  const data = literal(JSON.stringify(storedEvent(event)));
  return `
  insert into ${tables.events} (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
  select ${keys}, placed.at, ${data}::jsonb from written, placed`;
}

/**
 * The place of an event: at its time. Events of one millisecond would come in the order of their ids, which says
 * nothing: so one that would come before another of its millisecond, which is there, comes a microsecond after that.
 */
function placeOf(tables: Tables, { key, event }: Change): string {
  const { id, time } = event as NonNullable<Change['event']>;
  const at = timestamp(microsecondsOf(time));
  return `
  select coalesce((select last.timestamp + interval '1 microsecond' from (
    select timestamp, id from ${tables.events} where ${isEventOf(key as SessionKey)}
      and timestamp >= ${at} and timestamp < ${at} + interval '1 millisecond'
    order by timestamp desc, id desc limit 1) last
  where (last.timestamp, last.id) > (${at}, ${literal(id)}::varchar)), ${at}) as at`;
}

/**
 * Writes the session's own values, and the time. adk-python sees by `update_time` alone that others have written: so
 * where it would stay as it is, or differ by what was added here before, it goes on by one microsecond, see
 * `timeOf` of read.ts.
 */
function updateSession(tables: Tables, { key, delta }: Change): string {
  const state = isAbout(delta.session) ? `state = ${merged('state', delta.session)}, ` : '';
  return `
  update ${tables.sessions} set ${state}update_time = case
    when update_time >= placed.at and update_time < placed.at + interval '1 millisecond'
    then update_time + interval '1 microsecond' else placed.at end
  from written, placed where ${isSession(key as SessionKey)}`;
}

/**
 * The id of the event before the last one, once this one is among them: another one than the last so far shows that
 * this one is not the last. If nothing is written, the id of the last one.
 */
function lastId(tables: Tables, { key, event }: Change): string {
  const { id } = event as NonNullable<Change['event']>;
  const ours = `select ${literal(id)}::varchar as id, placed.at as timestamp from written, placed`;
  return `select id from (
    (select id, timestamp from ${tables.events} where ${isEventOf(key as SessionKey)}
     order by timestamp desc, id desc limit 2)
    union all ${ours}) event
  order by timestamp desc, id desc limit 1 offset (select count(*) from written)`;
}

function partsOf({ userId }: Change['key']): readonly SharedScope[] {
  return userId === undefined ? ['app'] : SHARED_SCOPES;
}

function isScope(part: SharedScope, { appName, userId = '' }: Change['key']): string {
  const ofApp = `app_name = ${literal(appName)}`;
  return part === 'app' ? ofApp : `${ofApp} and user_id = ${literal(userId)}`;
}

/**
 * The time for which a deletion waits for others, in milliseconds: less than the second after which Postgres ends one
 * of two that wait for each other.
 */
const DELETION_WAITS_MS = 250;

/**
 * Deletes a session and its events; with `created` only one that was created then. Events come first, as adk-python
 * deletes them. The two may wait for each other all the same, for an event that came meanwhile: then this one gives
 * up, to be tried again, as adk-python would not.
 */
export function removeStatements(tables: Tables, key: SessionKey, created: string | undefined): string[] {
  const isNamed = created === undefined ? '' : ` and ${microseconds('create_time')} = ${literal(created)}`;
  const isOne = `${isSession(key)}${isNamed}`;
  return [
    `select set_config('lock_timeout', '${DELETION_WAITS_MS}ms', true)`,
    `delete from ${tables.events} where ${isEventOf(key)} and exists (select from ${tables.sessions} where ${isOne})`,
    `delete from ${tables.sessions} where ${isOne}`,
  ];
}
