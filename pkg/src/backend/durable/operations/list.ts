// Pages of sessions over a store, each beginning at the end of the one before.

import { defined } from '../../../model/defined.js';
import { cursorText, parseCursor } from './cursor.js';
import { rowHandle, sharedVersion } from '../cache/uncached-handle.js';
import { isUnfinished } from '../cache/unfinished.js';
import { pageOf } from '../../backend.js';
import type { ListPlan } from '../../../input/requests.js';
import type { ListQuery, Page, Place, Row } from '../../../store/contract.js';
import type { StoreComponents } from './components.js';
import type { ListSessionsResponse } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** A page of the store, with the rows of the caller's page and its end. */
interface BoundedPage {
  readonly page: Page;
  readonly rows: readonly Row[];
  /** Absent when there are no more sessions. */
  readonly end: Place | undefined;
}

/**
 * One page of a list. The existence of a next one is never derived from a count: sessions are created and deleted
 * between two pages. The store is asked for one session more than requested, and the cursor is the place of the last
 * row.
 */
export async function listPage(
  { cache: { registry }, connection }: Pick<StoreComponents, 'cache' | 'connection'>,
  plan: ListPlan,
  signal: Signal | undefined,
): Promise<ListSessionsResponse> {
  const start = plan.cursor === undefined ? undefined : parseCursor(plan.cursor);
  const ask = async (limit: number | undefined): Promise<Page> => {
    const { appName: app, userId: user, descending, offset } = plan;
    const query: ListQuery = {
      app,
      descending,
      ...defined({ user, limit }),
      ...(start === undefined ? { offset } : { after: start.after }),
    };
    return await connection.ask(async (store, context) => await store.list(query, context), signal);
  };
  const { page, rows, end } = await readPage(ask, plan.limit);
  const { app, users, total, corrupt = [] } = page;
  const ofApp = sharedVersion('app', app);
  const ofUsers = new Map([...users].map(([id, values]) => [id, sharedVersion('user', values)]));
  const whole = rows.filter((row) => !isUnfinished(row));
  const handles = whole.map((row) => {
    return rowHandle(registry, row, [ofApp, ofUsers.get(row.key.userId) ?? sharedVersion('user', {})]);
  });
  const before = start?.before ?? plan.offset;
  const cursor = end && cursorText(end, before + rows.length + corrupt.length);
  const answer = pageOf(plan, before, total - (rows.length - whole.length), handles, cursor);
  return corrupt.length === 0 ? answer : { ...answer, corrupt };
}

async function readPage(
  ask: (limit: number | undefined) => Promise<Page>,
  limit: number | undefined,
): Promise<BoundedPage> {
  if (limit === undefined || limit === 0) {
    const page = await ask(limit);
    return { page, rows: page.rows, end: undefined };
  }
  for (let most = limit; ; most *= 2) {
    const page = await ask(most + 1);
    const { corrupt = [], next } = page;
    const rows = page.rows.slice(0, limit);
    const last = rows.at(-1);
    if (page.rows.length + corrupt.length <= most) {
      // The store has no further sessions. There are more rows than requested only after a larger query.
      return { page, rows, end: last && rows.length < page.rows.length ? placeOf(last) : undefined };
    }
    const end =
      corrupt.length > 0 && rows.length === page.rows.length
        ? (next ?? (last && placeOf(last)))
        : last && placeOf(last);
    if (end !== undefined) {
      return { page, rows, end };
    }
    // No session of it can be read, and the store does not report its end: a larger query follows, up to a readable
    // one.
  }
}

function placeOf({ time, key: { sessionId, userId } }: Row): Place {
  return { time, sessionId, userId };
}
