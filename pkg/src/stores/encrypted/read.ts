// Turns the answers of an inner store into plain text again.

import { defined } from '../../model/defined.js';
import { StoreError } from '../../store/store-error.js';
import { sessionTitle } from '../../store/refusals.js';
import { unlessCorrupt } from '../shared/outcome.js';
import { changedOf, stateOf } from '../shared/parts.js';
import { placeOf } from '../shared/list-order.js';
import type { Home, Records } from './records.js';
import type { Change, Changed, Delta, Loaded, LoadQuery, Page, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Opens a session. Throws `corrupt`. */
export async function openLoaded(
  records: Records,
  loaded: Loaded,
  key: SessionKey,
  query: LoadQuery,
): Promise<Loaded> {
  const { created, state, changed } = loaded;
  const { appName: app, userId: user } = key;
  checkEvents(loaded, key, query.events, records.readsPlaintext);
  const open = async (values: Values | undefined, home: Home): Promise<Values | undefined> =>
    values && records.openValues(values, home);
  const [ownValues, appValues, userValues, openedChanged, ...opened] = await Promise.all([
    open(state.session, { scope: 'session', key, created }),
    open(state.app, { scope: 'app', app }),
    open(state.user, { scope: 'user', app, user }),
    changed === undefined ? Promise.resolve(undefined) : openChanged(records, changed, key),
    ...loaded.events.map((event) => records.openEvent(event.data, event, key, created)),
  ] as const);
  return {
    ...loaded,
    state: stateOf(ownValues, appValues, userValues),
    ...defined({ changed: openedChanged }),
    events: loaded.events.flatMap((event, index) => {
      records.checkResults(event.data, event.results);
      const data = opened[index]?.data;
      return data === undefined ? [] : [{ ...event, data }];
    }),
  };
}

/**
 * Opens what others have done to an app and a user in it. A scope is left out when the inner store reports that a name
 * was deleted of which only the token is known here: its values have to be loaded. Throws `corrupt`.
 */
export async function openChanged(
  records: Records,
  { app, user }: Changed,
  { appName, userId }: Change['key'],
): Promise<Changed> {
  const open = async (delta: Delta | undefined, home: Home | undefined): Promise<Delta | undefined> =>
    delta && home && records.openDelta(delta, home);
  const [ofApp, ofUser] = await Promise.all([
    open(app, { scope: 'app', app: appName }),
    open(user, userId === undefined ? undefined : { scope: 'user', app: appName, user: userId }),
  ]);
  return changedOf(ofApp, ofUser).changed ?? {};
}

/**
 * Opens a page. Sessions that cannot be read are listed in `corrupt`, as are all of a user whose values cannot be
 * read. Without the app's values none can: throws `corrupt`.
 */
export async function openPage(records: Records, page: Page, app: string): Promise<Page> {
  const [appValues, users, opened] = await Promise.all([
    records.openValues(page.app, { scope: 'app', app }),
    Promise.all([...page.users].map(([user, values]) => unlessCorrupt(openUser(records, app, user, values)))),
    Promise.all(page.rows.map((row) => unlessCorrupt(openRow(records, row)))),
  ]);
  const values = new Map(users.filter((entry) => entry !== undefined));
  const rows: Row[] = [];
  const corrupt = [...(page.corrupt ?? [])];
  for (const [index, { key }] of page.rows.entries()) {
    const row = opened[index];
    if (row !== undefined && values.has(key.userId)) {
      rows.push(row);
    } else {
      corrupt.push(key);
    }
  }
  return {
    rows,
    app: appValues,
    users: new Map(rows.map(({ key: { userId } }) => [userId, values.get(userId) ?? {}])),
    total: page.total,
    ...(corrupt.length > 0 && { corrupt, ...endOf(page) }),
  };
}

/**
 * The end of a page: where the inner store says, or else behind its last row, which may be one that cannot be opened.
 */
function endOf({ rows, next }: Page): Pick<Page, 'next'> {
  const last = rows.at(-1);
  const end = next ?? (last && placeOf(last));
  return end === undefined ? {} : { next: end };
}

async function openUser(
  records: Records,
  app: string,
  user: string,
  values: Values,
): Promise<readonly [string, Values]> {
  return [user, await records.openValues(values, { scope: 'user', app, user })];
}

async function openRow(records: Records, row: Row): Promise<Row> {
  return {
    ...row,
    state: await records.openValues(row.state, { scope: 'session', key: row.key, created: row.created }),
  };
}

/**
 * Each event has its revision, so a missing one leaves a gap. With `since` there may be gaps. A session in plain
 * text may lack the event of revision 0.
 */
function checkEvents(
  { rev, events }: Loaded,
  key: SessionKey,
  query: LoadQuery['events'] = {},
  readsPlaintext: boolean,
): void {
  const { from = 1, to = Infinity, last = Infinity, since } = query;
  const end = Math.min(to, rev);
  const first = Math.max(0, from);
  const least = Math.max(first, end - last + 1);
  const start = readsPlaintext && least === 0 && events[0]?.rev !== 0 ? 1 : least;
  const isWhole =
    events.length === Math.max(0, end - start + 1) && events.every((event, index) => event.rev === start + index);
  const isOrdered = events.every(
    (event, index) => event.rev > (events[index - 1]?.rev ?? first - 1) && event.rev <= end,
  );
  if (!(since === undefined ? isWhole : isOrdered)) {
    throw new StoreError('corrupt', `events of ${sessionTitle(key)} are missing`);
  }
}
