// Lists over HTTP. A page of the server is smaller than that of a service may be: several of them make one.

import { handleOf } from './handle.js';
import { MAX_PAGE } from '../http/pages.js';
import { pathTo, PATHS } from '../http/paths.js';
import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError } from '../model/errors.js';
import type { Calls } from './calls.js';
import type { Parameters } from './server.js';
import type { Signal } from '../async/abort.js';
import type { ListPlan } from '../input/requests.js';
import type {
  ListAppsRequest,
  ListAppsResponse,
  ListSessionsResponse,
  ListUsersRequest,
  ListUsersResponse,
  Session,
  SessionKey,
} from '../model/types.js';

/** One page of the server. */
interface ServerPage {
  readonly nextPageToken?: string;
}

/** The list to read. */
interface List<Page extends ServerPage> {
  readonly path: string;
  /** The parameters of every page. */
  readonly parameters: Parameters;
  /** The parameters of the first page alone. */
  readonly first?: Parameters;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly signal: Signal | undefined;
  /** The number of items of a page that count towards the limit. */
  readonly count: (page: Page) => number;
  /** The items, for messages. */
  readonly what: string;
}

/** The pages of the server that have the items of a list up to its limit. */
async function pagesOf<Page extends ServerPage>(calls: Calls, list: List<Page>): Promise<readonly [Page, ...Page[]]> {
  const { path, parameters, first, limit = Infinity, cursor, signal, count, what } = list;
  const read = async (left: number, pageToken: string | undefined, more?: Parameters): Promise<Page> => {
    const pageSize = Math.min(left, MAX_PAGE);
    try {
      return (await calls.read<Page>(path, { ...parameters, ...more, pageSize, pageToken }, signal)).json;
    } catch (error) {
      const isCursor = isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path === 'pageToken';
      throw isCursor ? wrongCursor(what, error) : error;
    }
  };
  const begin = await read(limit, cursor, first);
  const pages: [Page, ...Page[]] = [begin];
  let left = limit - count(begin);
  for (let next = begin.nextPageToken; next !== undefined && left > 0;) {
    const page = await read(left, next);
    pages.push(page);
    left -= count(page);
    next = page.nextPageToken;
  }
  return pages;
}

/** The error for a cursor, which the server has under another name. */
function wrongCursor(what: string, cause: unknown): StatepadError {
  const message = `cursor must come from a page of ${what}`;
  return new StatepadError('INVALID_ARGUMENT', message, { path: 'cursor', cause });
}

interface SessionsPage extends ServerPage, Omit<ListSessionsResponse, 'cursor' | 'sessions'> {
  readonly sessions: readonly (Session & { readonly etag?: string })[];
}

/** Lists sessions. */
export async function listSessions(
  calls: Calls,
  plan: ListPlan,
  signal: Signal | undefined,
): Promise<ListSessionsResponse> {
  const { appName, userId, limit, offset, cursor, descending, page } = plan;
  const pages = await pagesOf<SessionsPage>(calls, {
    path: userId === undefined ? pathTo(PATHS.appSessions, { appName }) : pathTo(PATHS.sessions, { appName, userId }),
    parameters: { order: descending ? 'desc' : 'asc' },
    first: { offset: offset > 0 ? offset : undefined },
    limit,
    cursor,
    signal,
    count: ({ sessions, corrupt = [] }) => sessions.length + corrupt.length,
    what: 'sessions',
  });
  const [{ totalItems, page: firstPage }] = pages;
  const corrupt: readonly SessionKey[] = pages.flatMap((each) => each.corrupt ?? []);
  return defined({
    sessions: pages.flatMap(({ sessions }) => sessions.map(({ etag, ...row }) => handleOf(calls, row, etag))),
    page: limit ? pageNumber(firstPage, limit, plan) : page,
    limit: limit ?? totalItems,
    totalItems,
    totalPages: limit === undefined ? Math.min(totalItems, 1) : limit === 0 ? 0 : Math.ceil(totalItems / limit),
    cursor: pages.at(-1)?.nextPageToken,
    corrupt: corrupt.length > 0 ? corrupt : undefined,
  });
}

/** The number of a page: that of its offset, and after a cursor the server's, whose pages may be smaller. */
function pageNumber(firstPage: number, limit: number, { cursor, offset }: ListPlan): number {
  if (cursor === undefined) {
    return Math.floor(offset / limit) + 1;
  }
  return limit <= MAX_PAGE ? firstPage : Math.ceil(((firstPage - 1) * MAX_PAGE) / limit) + 1;
}

/** Lists apps. */
export async function listApps(calls: Calls, { limit, cursor, signal }: ListAppsRequest): Promise<ListAppsResponse> {
  const pages = await pagesOf<ServerPage & { readonly apps: string[] }>(calls, {
    path: pathTo(PATHS.apps, {}),
    parameters: {},
    limit,
    cursor,
    signal,
    count: ({ apps }) => apps.length,
    what: 'apps or users',
  });
  return defined({ apps: pages.flatMap(({ apps }) => apps), cursor: pages.at(-1)?.nextPageToken });
}

/** Lists the users in an app. */
export async function listUsers(
  calls: Calls,
  { appName, limit, cursor, signal }: ListUsersRequest,
): Promise<ListUsersResponse> {
  const pages = await pagesOf<ServerPage & { readonly users: string[] }>(calls, {
    path: pathTo(PATHS.users, { appName }),
    parameters: {},
    limit,
    cursor,
    signal,
    count: ({ users }) => users.length,
    what: 'apps or users',
  });
  return defined({ users: pages.flatMap(({ users }) => users), cursor: pages.at(-1)?.nextPageToken });
}
