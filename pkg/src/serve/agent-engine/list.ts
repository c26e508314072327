// Lists of sessions.

import { toBase64Url, fromBase64Url } from '../../http/base64url.js';
import { readEmpty } from './wire/bodies.js';
import { invalidArgument } from './wire/errors.js';
import { readFilter, type Comparison } from './wire/filter.js';
import { pageOf, sizeOf } from './wire/lists.js';
import { sessionTest } from './wire/matches.js';
import { nanosecondsOf } from './moments.js';
import { readSession, visibleOwners } from './owner.js';
import { sessionAnswer } from './session-answer.js';
import { isStatepadError } from '../../model/errors.js';
import { digest } from '../../model/digest.js';
import { visibleSession } from '../../http/visible.js';
import type { Details } from './details.js';
import type { EngineCall } from './call.js';
import type { Session } from '../../model/types.js';

/** The largest number of sessions on a page, and the default. */
const MAX_PAGE_SIZE = 100;
/** The number of sessions whose details are read at the same time. */
const PARALLEL = 16;

/** A session with what a filter compares and an order ranks. */
interface Row extends Details {
  readonly session: Session;
  readonly userId: string;
  readonly number: number;
}

const TIMES = {
  createTime: ({ createTime }: Row) => nanosecondsOf(createTime),
  updateTime: ({ session }: Row) => nanosecondsOf(session.lastUpdateTime),
};

/**
 * Lists the sessions that the client may see. The order without `orderBy` is that of `update_time desc`: pages in the
 * order of updates read no more than they show.
 */
export async function listSessions(call: EngineCall): Promise<object> {
  readEmpty(call.body);
  const { query, rights } = call;
  const comparisons = readFilter(query['filter'] ?? '');
  comparisons.forEach(sessionTest);
  const user = userIn(comparisons);
  const users = visibleUsers(call, user);
  const order = orderIn(query['orderBy'] ?? '');
  const isPlain = comparisons.length === (user === undefined ? 0 : 1);
  if (order !== undefined && isPlain && users.length === 1 && rights.sessions === 'all') {
    return await pageByCursor(call, users[0], order);
  }
  return await pageOfAll(call, users, comparisons);
}

/** A page by the cursor of the service. */
async function pageByCursor(call: EngineCall, userId: string | undefined, order: 'asc' | 'desc'): Promise<object> {
  const { query, service, target, signal } = call;
  const limit = sizeOf(query, MAX_PAGE_SIZE);
  const mark = digest(JSON.stringify([target.appName, userId ?? null, order]));
  const cursor = query['pageToken'] ? cursorIn(query['pageToken'], mark) : undefined;
  const { appName } = target;
  try {
    const page = await service.listSessions({ appName, userId, limit, order, cursor, signal });
    const next = page.cursor === undefined ? undefined : toBase64Url(JSON.stringify([mark, page.cursor]));
    return await answerOf(call, await rowsOf(call, page.sessions), next);
  } catch (error) {
    if (cursor !== undefined && isStatepadError(error) && error.path === 'cursor') {
      throw invalidArgument();
    }
    throw error;
  }
}

/** A page of all sessions in any order. */
async function pageOfAll(
  call: EngineCall,
  users: readonly (string | undefined)[],
  comparisons: readonly Comparison[],
): Promise<object> {
  const tests = comparisons.map(sessionTest);
  const all = (await Promise.all(users.map(async (user) => await sessionsOf(call, user)))).flat();
  const rows = await rowsOf(call, all);
  const { items, nextPageToken } = pageOf({
    title: `sessions of ${call.target.appName}`,
    items: rows.filter((row) => tests.every((test) => test({ displayName: '', ...row, labels: mapOf(row) }))),
    query: call.query,
    times: TIMES,
    orderBy: 'update_time desc',
    number: ({ number }) => number,
    maxSize: MAX_PAGE_SIZE,
  });
  return await answerOf(call, items, nextPageToken);
}

/** The sessions of a user, or of all users, that the client may see. */
async function sessionsOf(call: EngineCall, userId: string | undefined): Promise<readonly Session[]> {
  const { rights, service, target, signal } = call;
  const { appName } = target;
  if (rights.sessions === 'all') {
    return (await service.listSessions({ appName, userId, signal })).sessions;
  }
  const found = [...new Set(rights.sessions)].map(async (sessionId) => {
    const owners = (await visibleOwners(call, appName, sessionId)).filter((owner) => (userId ?? owner) === owner);
    return await Promise.all(owners.map((owner) => readSession(call, { appName, userId: owner, sessionId })));
  });
  return (await Promise.all(found)).flat().filter((session) => session !== undefined);
}

async function rowsOf(call: EngineCall, sessions: readonly Session[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < sessions.length; start += PARALLEL) {
    const read = sessions.slice(start, start + PARALLEL).map(async (session, index) => {
      const details = await call.details.of(call.access, session);
      return { ...details, session, userId: session.userId, number: start + index };
    });
    rows.push(...(await Promise.all(read)));
  }
  return rows;
}

async function answerOf(call: EngineCall, rows: readonly Row[], nextPageToken: string | undefined): Promise<object> {
  const sessions = rows.map((row) => sessionAnswer(call.target, visibleSession(call.rights, row.session), row));
  return { ...(sessions.length > 0 && { sessions }), ...(nextPageToken !== undefined && { nextPageToken }) };
}

/** The user that a filter names. */
function userIn(comparisons: readonly Comparison[]): string | undefined {
  const named = comparisons.find(({ path, operator }) => ['user_id', 'userId'].includes(path) && operator === '=');
  return named?.value;
}

/** The users to list; `undefined` stands for all. Throws `FORBIDDEN` for a user that the client may not see. */
function visibleUsers({ rights, target }: EngineCall, user: string | undefined): readonly (string | undefined)[] {
  const { users } = rights;
  rights.checkSessions({ appName: target.appName, userId: user });
  return user !== undefined ? [user] : users === 'all' ? [undefined] : users;
}

/** The order by which the service lists; `undefined` for any other one. */
function orderIn(orderBy: string): 'asc' | 'desc' | undefined {
  const found = /^\s*(?:update_time|updateTime)(?:\s+(asc|desc))?\s*$/.exec(orderBy);
  return orderBy.trim() === ''
    ? 'desc'
    : (((found && (found[1] ?? 'asc')) ?? undefined) as 'asc' | 'desc' | undefined);
}

function cursorIn(token: string, mark: string): string {
  try {
    const [found, cursor] = JSON.parse(fromBase64Url(token) ?? '') as readonly unknown[];
    if (found === mark && typeof cursor === 'string') {
      return cursor;
    }
  } catch {
    // It is none of this server's own.
  }
  throw invalidArgument();
}

function mapOf({ labels = {} }: Row): ReadonlyMap<string, string> {
  return new Map(Object.entries(labels));
}
