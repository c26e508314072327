// The lists of apps and of users. Loaded at the first call.

import { admitString, invalid } from '../checks/arguments.js';
import { REQUESTS, checkNameLimit, checkRequest } from '../input/requests.js';
import { defined } from '../model/defined.js';
import type { Lifetime } from './lifetime.js';
import type { NamePage, NameQuery } from '../store/contract.js';
import type { ListAppsRequest, ListAppsResponse, ListUsersRequest, ListUsersResponse } from '../model/types.js';

/** See `SessionService.listApps`. */
export async function listApps(lifetime: Lifetime, request: ListAppsRequest): Promise<ListAppsResponse> {
  checkRequest(request, REQUESTS.listApps);
  const query = queryOf(request);
  const sessions = await lifetime.begin(request);
  const page = await (await sessions.access()).listApps(query, request.signal);
  return defined({ apps: [...page.names], cursor: cursorOf(page) });
}

/** See `SessionService.listUsers`. */
export async function listUsers(lifetime: Lifetime, request: ListUsersRequest): Promise<ListUsersResponse> {
  checkRequest(request, REQUESTS.listUsers);
  const appName = admitString(request.appName, 'appName');
  const query = queryOf(request);
  const sessions = await lifetime.begin(request);
  const page = await (await sessions.access()).listUsers(appName, query, request.signal);
  return defined({ users: [...page.names], cursor: cursorOf(page) });
}

function queryOf({ limit, cursor }: ListAppsRequest): NameQuery {
  checkNameLimit(limit);
  return defined({ limit, after: cursor === undefined ? undefined : nameIn(admitString(cursor, 'cursor')) });
}

/** The cursor of the next page: the last name of this one. */
function cursorOf({ names, more }: NamePage): string | undefined {
  return more && names.length > 0 ? JSON.stringify([names.at(-1)]) : undefined;
}

function nameIn(cursor: string): string {
  try {
    const [name, ...others] = JSON.parse(cursor) as unknown[];
    if (typeof name === 'string' && others.length === 0) {
      return name;
    }
  } catch {
    // The error below reports it.
  }
  return invalid('cursor', 'must come from a page of apps or users');
}
