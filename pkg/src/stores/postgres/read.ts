// The reading of a session and of a scope: one statement each, so that all of it is of one moment.

import { deltaOf, textIn, valuesIn, type Entries, type ReportedChanges } from './answers.js';
import { entries, NOT_EXPIRED } from './entries.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { resultsIn } from './operators.js';
import { changedOf, loadedOf as answerOf, stateOf } from '../shared/parts.js';
import type { SqlValue, Statement } from './client.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import type { Delta, Loaded, LoadedScope, LoadQuery, ScopeName, StoredEvent } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/**
 * A session's head: all but its events. A scope whose values are known is null; of one of which enough is known, what
 * happened.
 */
type Head = readonly [
  created: string,
  rev: number,
  time: number,
  app: number,
  user: number,
  session: Entries | null,
  appState: Entries | ReportedChanges | null,
  userState: Entries | ReportedChanges | null,
  last: string | null,
  appMark: string | null,
  userMark: string | null,
  diverged: boolean | null,
  expires: number | null,
];

/** The largest number of an `integer` column. */
const LAST_REV = 2 ** 31 - 1;

/** The statement that loads a session: a row with the {@link Head}, which has no revision, and one for each event. */
export function loadStatement(schema: string, key: SessionKey, { events = {}, known = {} }: LoadQuery): Statement {
  const { from = 1, to = LAST_REV, since, last = Infinity } = events;
  const values: SqlValue[] = [toColumn(key.appName), toColumn(key.userId), toColumn(key.sessionId)];
  const number = (value: number | undefined, type: string): string => `$${values.push(value ?? null)}::${type}`;
  const text = (value: string | undefined): string =>
    `$${values.push(value === undefined ? null : toColumn(value))}::text`;
  const revision = (value: number | undefined): string =>
    number(value === undefined ? undefined : Math.min(Math.max(0, Math.ceil(value)), LAST_REV), 'integer');
  const idAt = (rev: string): string =>
    `(select event.id from ${schema}.events event where event.session = session.no and event.rev = ${rev} and event.rev > 0)`;

  // Nothing is asked about parts that are not known: each part of a statement costs time also where it is not reached.
  let sessionState = entries(schema, 'session.no');
  let diverged = 'null::boolean';
  if (known.created !== undefined && known.rev !== undefined) {
    const [created, rev] = [text(known.created), revision(known.rev)];
    let [isSame, hasOther] = [`session.created = ${created} and session.rev = ${rev}`, `${rev} > session.rev`];
    if (known.last !== undefined) {
      const lastId = text(known.last);
      isSame += ` and coalesce(session.last = ${lastId}, true)`;
      hasOther += ` or case when session.rev = ${rev} then session.last else ${idAt(rev)} end is distinct from ${lastId}`;
    }
    sessionState = `case when ${isSame} then null else ${sessionState} end`;
    diverged = `session.created = ${created} and (${hasOther})`;
  }
  const scopeState = (scope: 'app' | 'usr', pos: number | undefined, mark: string | undefined): string => {
    if (pos === undefined || !Number.isSafeInteger(pos)) {
      return entries(schema, `session.${scope}`);
    }
    const all = `${schema}.all_values(session.${scope})`;
    const [at, by] = [number(pos, 'bigint'), text(mark)];
    const isKnown = `session.${scope}_pos = ${at} and coalesce(session.${scope}_mark = ${by}, true)`;
    const changes = `${schema}.changed(session.${scope}, ${at}, ${by}, session.${scope}_pos)`;
    const more =
      mark === undefined ? all : `coalesce(case when ${at} < session.${scope}_pos then ${changes} end, ${all})`;
    return `case when ${isKnown} then null else ${more} end`;
  };
  const states = [
    scopeState('app', known.pos?.app, known.marks?.app),
    scopeState('usr', known.pos?.user, known.marks?.user),
  ];

  // Each question has its own index, see the schema. Questions that nobody asks are left out.
  const condition =
    since === undefined
      ? 'event.session = (select session.no from session)'
      : `~event.session = ~(select session.no from session) and event.time >= ${number(since, 'float8')}`;
  const range = `event.rev between ${revision(from)} and ${number(Math.min(Math.max(0, Math.floor(to)), LAST_REV), 'integer')}`;
  const limit =
    last === Infinity ? '' : `order by event.rev desc limit ${number(Math.max(0, Math.ceil(last)), 'bigint')}`;
  const statement = `with session as (
  select session.*, ${idAt('session.rev')} as last
  from (
    select session.no, session.created, session.rev, session.time, session.expires,
      app.no as app, app.pos as app_pos, app.mark as app_mark,
      usr.no as usr, usr.pos as usr_pos, usr.mark as usr_mark
    from ${schema}.scopes app
    join ${schema}.scopes usr on usr.parent = app.no and usr.name = $2
    join ${schema}.sessions session on session.usr = usr.no and session.id = $3 and ${NOT_EXPIRED}
    where app.parent = 0 and app.name = $1) session)
select null::integer as rev, null::text as id, null::text as results, null::bigint as app_pos, null::bigint as user_pos, json_build_array(
  session.created, session.rev, session.time, session.app_pos, session.usr_pos,
  ${sessionState},
  ${states.join(',\n  ')},
  session.last, session.app_mark, session.usr_mark,
  ${diverged}, session.expires)::text as data
from session
union all
(select event.rev, event.id, event.results, event.app_pos, event.user_pos, event.data from ${schema}.events event where ${condition} and ${range} ${limit})`;
  return { text: statement, values };
}

/** A row of {@link loadStatement}. */
interface Row {
  readonly rev: number | string | null;
  readonly id: string;
  readonly data: string;
  readonly results: string | null;
  readonly app_pos: number | string | null;
  readonly user_pos: number | string | null;
}

/** Reads the answer of {@link loadStatement}. `log`: true if the positions of events are in it. */
export function loadedOf(rows: readonly unknown[], key: SessionKey, log: boolean): Loaded | null {
  const { appName, userId } = key;
  let head: Head | undefined;
  const events: StoredEvent[] = [];
  for (const row of rows as readonly Row[]) {
    if (row.rev === null) {
      head = JSON.parse(row.data) as Head;
    } else {
      events.push(eventIn(row, key, log));
    }
  }
  if (head === undefined) {
    return null;
  }
  const [created, rev, time, app, user, session, appState, userState, last, appMark, userMark, diverged, expires] =
    head;
  const [ofApp, ofUser] = [scopeTitle({ app: appName }), scopeTitle({ app: appName, user: userId })];
  const { changed } = changedOf(deltaIn(appState, ofApp), deltaIn(userState, ofUser));
  const loaded = answerOf({
    created: fromColumn(created),
    rev,
    time,
    pos: { app, user },
    state: stateOf(
      session ? valuesIn(session, sessionTitle(key)) : undefined,
      isWhole(appState) ? valuesIn(appState, ofApp) : undefined,
      isWhole(userState) ? valuesIn(userState, ofUser) : undefined,
    ),
    events: events.sort((a, b) => a.rev - b.rev),
    last: textIn(last),
    marks: [textIn(appMark), textIn(userMark)],
    changed,
    isDiverged: diverged === true,
  });
  return expires === null ? loaded : { ...loaded, expires };
}

function eventIn(
  { rev, id, data, results, app_pos: app, user_pos: user }: Row,
  key: SessionKey,
  log: boolean,
): StoredEvent {
  const at = Number(rev);
  return {
    ...{ rev: at, data: fromColumn(data) },
    ...(at > 0 && { id: fromColumn(id) }),
    ...resultsIn(results, sessionTitle(key)),
    ...(log && app !== null && { pos: { app: Number(app), user: Number(user) } }),
  };
}

/** True if it is all values of a scope. */
function isWhole(state: Entries | ReportedChanges | null): state is Entries {
  return Array.isArray(state);
}

/** The changes of a scope, where they are reported in place of its values. */
function deltaIn(state: Entries | ReportedChanges | null, whose: string): Delta | undefined {
  return isWhole(state) ? undefined : deltaOf(state, whose);
}

/** The statement that reads an app, or a user in it. */
export function scopeStatement(schema: string, { app, user }: ScopeName): Statement {
  const select = `select json_build_array(scope.pos, ${entries(schema, 'scope.no')}, scope.mark)::text as data`;
  const text = `${select}
from ${schema}.scopes scope where scope.parent = 0 and scope.name = $1`;
  const ofUser = `${select}
from ${schema}.scopes app join ${schema}.scopes scope on scope.parent = app.no and scope.name = $2
where app.parent = 0 and app.name = $1`;
  return user === undefined
    ? { text, values: [toColumn(app)] }
    : { text: ofUser, values: [toColumn(app), toColumn(user)] };
}

/** Reads the answer of {@link scopeStatement}. */
export function scopeOf(rows: readonly unknown[], scope: ScopeName): LoadedScope {
  const [row] = rows as readonly { data: string }[];
  const [pos, state, mark = null] = JSON.parse(row?.data ?? '[0,[]]') as [number, Entries, (string | null)?];
  const values = valuesIn(state, scopeTitle(scope));
  return { pos, state: values, ...(mark !== null && { mark: fromColumn(mark) }) };
}
