// Lists of the sessions that a client may see. Where it may not see all sessions of a user or an app, the list is made
// of those that it may see, and counts no others.

import { compareText } from '../../model/compare-text.js';
import { readPageToken, writePageToken } from './page-token.js';
import { isStatepadError } from '../../model/errors.js';
import { usersWith, type NamesRequest } from './visible-names.js';
import type { ServerContext } from '../api.js';
import type { ListSessionsRequest, ListSessionsResponse, Session, SessionKey } from '../../model/types.js';

/** The target of a list: an app, or a user in it. */
export interface ListTarget {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** The part of a list that a request asks for. */
export interface ListPart {
  readonly pageSize: number;
  readonly pageToken?: string | undefined;
  readonly offset?: number | undefined;
  readonly page?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

/** One page of a list, and the token of the next one. */
export type ListedPage = Omit<ListSessionsResponse, 'cursor'> & { readonly nextPageToken?: string };

/** The number of sessions that are read of one user at a time. */
const CHUNK = 500;
/** The number of sessions that are read at once. */
const AT_ONCE = 16;

/** A page of the sessions of a target that the client may see. Throws `INVALID_ARGUMENT`. */
export async function visibleSessions(request: NamesRequest, target: ListTarget, part: ListPart): Promise<ListedPage> {
  const { context, rights, signal } = request;
  const { appName, userId } = target;
  const users = userId === undefined ? rights.users : [userId];
  const isWhole = rights.sessions === 'all' && (users === 'all' || users.length === 1);
  return isWhole
    ? await servicePage(context, { appName, userId: users === 'all' ? undefined : users[0], signal }, target, part)
    : await mergedPage(await sourcesOf(request, target, part), target, part);
}

/** A page of a list that the service has. */
async function servicePage(
  { service }: ServerContext,
  request: ListSessionsRequest,
  target: ListTarget,
  { pageSize, pageToken, offset, page, order }: ListPart,
): Promise<ListedPage> {
  const list = listName(target, order);
  const cursor = pageToken === undefined ? undefined : readPageToken(list, pageToken, isText);
  const { cursor: next, ...listed } = await service.listSessions({
    ...request,
    limit: pageSize,
    offset,
    page,
    order,
    cursor,
  });
  return { ...listed, ...(next !== undefined && { nextPageToken: writePageToken(list, next) }) };
}

/** A list of its own name and order: tokens of another one are refused. */
function listName({ appName, userId }: ListTarget, order: string | undefined): readonly (string | undefined)[] {
  return ['sessions', appName, userId, order === 'desc' ? order : undefined];
}

function isText(place: unknown): place is string {
  return typeof place === 'string';
}

/** Sessions in the order of the list, of which some are read at a time. */
interface Source {
  /** The number of all of them. */
  readonly total: number;
  readonly chunks: AsyncIterable<Pick<ListSessionsResponse, 'sessions' | 'corrupt'>>;
}

async function sourcesOf(
  request: NamesRequest,
  { appName, userId }: ListTarget,
  { order }: ListPart,
): Promise<readonly Source[]> {
  const { context, rights, signal } = request;
  if (rights.sessions === 'all') {
    const users = rights.users === 'all' ? [] : [...new Set(rights.users)];
    return await Promise.all(
      users.map(async (user) => await sourceOf(context, { appName, userId: user, order, signal })),
    );
  }
  const { sessions, corrupt } = await readAll(request, await namedKeys(request, { appName, userId }));
  sessions.sort((one, other) => compare(placeOf(one), placeOf(other), order));
  return [{ total: sessions.length, chunks: once({ sessions, corrupt }) }];
}

/** The sessions of one user. */
async function sourceOf({ service }: ServerContext, request: ListSessionsRequest): Promise<Source> {
  const first = await service.listSessions({ ...request, limit: CHUNK });
  async function* chunks(): AsyncGenerator<ListSessionsResponse> {
    let page = first;
    yield page;
    while (page.cursor !== undefined) {
      page = await service.listSessions({ ...request, limit: CHUNK, cursor: page.cursor });
      yield page;
    }
  }
  return { total: first.totalItems, chunks: chunks() };
}

async function* once<T>(chunk: T): AsyncGenerator<T> {
  yield chunk;
}

/** The keys of the sessions that the rights name. */
async function namedKeys(request: NamesRequest, { appName, userId }: ListTarget): Promise<readonly SessionKey[]> {
  const { sessions } = request.rights;
  const keys: SessionKey[] = [];
  for (const sessionId of new Set(sessions === 'all' ? [] : sessions)) {
    const users = userId === undefined ? await usersWith(request, { appName, sessionId }) : [userId];
    users.forEach((user) => keys.push({ appName, userId: user, sessionId }));
  }
  return keys;
}

/** The sessions that are there, without events, and those that cannot be read. */
async function readAll(
  { context: { service }, signal }: NamesRequest,
  keys: readonly SessionKey[],
): Promise<{ readonly sessions: Session[]; readonly corrupt: readonly SessionKey[] }> {
  const sessions: Session[] = [];
  const corrupt: SessionKey[] = [];
  const read = async (key: SessionKey): Promise<void> => {
    try {
      const session = await service.getSession({ ...key, config: { numRecentEvents: 0 }, signal });
      sessions.push(...(session === undefined ? [] : [session]));
    } catch (error) {
      if (!isStatepadError(error) || error.code !== 'STORE_CORRUPT') {
        throw error;
      }
      corrupt.push(key);
    }
  };
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    await Promise.all(keys.slice(at, at + AT_ONCE).map(read));
  }
  return { sessions, corrupt };
}

/** The place of a session in a list: its time, its id and its user. */
type Place = readonly [number, string, string];

function placeOf({ lastUpdateTime, id, userId }: Session): Place {
  return [lastUpdateTime, id, userId];
}

function isPlace(place: unknown): place is Place {
  const [time, id, userId, ...others] = Array.isArray(place) ? (place as unknown[]) : [];
  return Number.isFinite(time) && isText(id) && isText(userId) && others.length === 0;
}

/** The order of lists: by time; ids and then users break ties, ascending either way. */
function compare(one: Place, other: Place, order: ListPart['order']): number {
  const byTime = one[0] - other[0];
  return (order === 'desc' ? -byTime : byTime) || compareText(one[1], other[1]) || compareText(one[2], other[2]);
}

/** A page of several sources in one order. It begins behind a place, so that changes meanwhile skip nothing. */
async function mergedPage(
  sources: readonly Source[],
  target: ListTarget,
  { pageSize, pageToken, offset = 0, page, order }: ListPart,
): Promise<ListedPage> {
  const list = listName(target, order);
  const after = pageToken === undefined ? undefined : readPageToken(list, pageToken, isPlace);
  const skipped = page === undefined ? offset : (page - 1) * pageSize;
  const parts = await Promise.all(
    sources.map(async (source) => await partOf(source, after, skipped + pageSize + 1, order)),
  );
  const behind = parts.flatMap(({ rows }) => rows).sort((one, other) => compare(placeOf(one), placeOf(other), order));
  const sessions = behind.slice(skipped, skipped + pageSize);
  // Their places are unknown: the first page names them all.
  const corrupt = after === undefined ? parts.flatMap((part) => part.corrupt) : [];
  const total = sources.reduce((sum, source) => sum + source.total, 0);
  const passed = parts.reduce((sum, part) => sum + part.passed, 0);
  const last = sessions.at(-1);
  return {
    sessions,
    page: pageSize === 0 ? (page ?? 1) : Math.floor((after === undefined ? skipped : passed) / pageSize) + 1,
    limit: pageSize,
    totalItems: total,
    totalPages: pageSize === 0 ? 0 : Math.ceil(total / pageSize),
    ...(corrupt.length > 0 && { corrupt }),
    ...(last !== undefined &&
      behind.length > skipped + pageSize && { nextPageToken: writePageToken(list, placeOf(last)) }),
  };
}

/** The first sessions of a source that are behind a place, and the number of those before it. */
async function partOf(
  { chunks }: Source,
  after: Place | undefined,
  most: number,
  order: ListPart['order'],
): Promise<{ readonly rows: readonly Session[]; readonly passed: number; readonly corrupt: readonly SessionKey[] }> {
  const rows: Session[] = [];
  const corrupt: SessionKey[] = [];
  let passed = 0;
  for await (const chunk of chunks) {
    corrupt.push(...(chunk.corrupt ?? []));
    for (const session of chunk.sessions) {
      if (after !== undefined && compare(placeOf(session), after, order) <= 0) {
        passed += 1;
      } else if (rows.length < most) {
        rows.push(session);
      }
    }
    if (rows.length >= most) {
      break;
    }
  }
  return { rows, passed, corrupt };
}
