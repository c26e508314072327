// The apps and users in which a client may see something. Where it may not see everything, a name is answered for what
// the client itself may see under it: the list tells of no session of others.

import { compareText } from '../../model/compare-text.js';
import { readPageToken, writePageToken } from './page-token.js';
import type { Rights } from '../../http/principal.js';
import type { ServerContext } from '../api.js';

/** The part of a list of names that a request asks for. */
export interface NamesPart {
  readonly pageSize: number;
  readonly pageToken?: string | undefined;
}

/** One page of names, and the token of the next one. */
export interface NamesListed {
  readonly names: readonly string[];
  readonly nextPageToken?: string;
}

/** A request for a list of names. */
export interface NamesRequest {
  readonly context: ServerContext;
  readonly rights: Rights;
  readonly signal: AbortSignal;
}

/** A page of a list of the service. */
interface ServicePage {
  readonly names: readonly string[];
  readonly cursor?: string | undefined;
}
type ReadPage = (part: { readonly limit: number; readonly cursor: string | undefined }) => Promise<ServicePage>;

/** The number of names that are read at a time. */
const CHUNK = 500;

/** A page of the apps in which the client may see something. */
export async function visibleApps(request: NamesRequest, part: NamesPart): Promise<NamesListed> {
  const { rights } = request;
  const read = appsOf(request);
  if (rights.apps === 'all' && seesAllSessions(rights)) {
    return await servicePage(['apps'], part, read);
  }
  const names = rights.apps === 'all' ? allOf(read) : rights.apps;
  return await filteredPage(['apps'], part, names, async (appName) => await seesInApp(request, appName));
}

/** A page of the users in an app of whom the client may see something. */
export async function visibleUsers(request: NamesRequest, appName: string, part: NamesPart): Promise<NamesListed> {
  const { rights } = request;
  const list = ['users', appName];
  const read = usersOf(request, appName);
  if (seesAllSessions(rights)) {
    return await servicePage(list, part, read);
  }
  const names = rights.users === 'all' ? allOf(read) : rights.users;
  return await filteredPage(list, part, names, async (userId) => await seesOfUser(request, { appName, userId }));
}

/** The users that the client may see, of whom each may have a session with this id. */
export async function usersWith(
  request: NamesRequest,
  { appName, sessionId }: { readonly appName: string; readonly sessionId: string },
): Promise<readonly string[]> {
  const { context, rights, signal } = request;
  if (rights.users !== 'all') {
    return [...new Set(rights.users)];
  }
  const access = await context.access();
  if (access.hasOwners) {
    return await access.owners(appName, sessionId, { signal });
  }
  const users: string[] = [];
  for await (const user of allOf(usersOf(request, appName))) {
    users.push(user);
  }
  return users;
}

/** True when every session of the apps that it may see is one that it may see. */
function seesAllSessions(rights: Rights): boolean {
  return rights.users === 'all' && rights.sessions === 'all' && rights.reads('session');
}

function appsOf({ context: { service }, signal }: NamesRequest): ReadPage {
  return async (part) => {
    const { apps, cursor } = await service.listApps({ ...part, signal });
    return { names: apps, cursor };
  };
}

function usersOf({ context: { service }, signal }: NamesRequest, appName: string): ReadPage {
  return async (part) => {
    const { users, cursor } = await service.listUsers({ appName, ...part, signal });
    return { names: users, cursor };
  };
}

async function* allOf(read: ReadPage): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await read({ limit: CHUNK, cursor });
    yield* page.names;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

async function servicePage(
  list: readonly string[],
  { pageSize, pageToken }: NamesPart,
  read: ReadPage,
): Promise<NamesListed> {
  const cursor = pageToken === undefined ? undefined : readPageToken([...list, 'all'], pageToken, isText);
  const page = await read({ limit: pageSize, cursor });
  return {
    names: page.names,
    ...(page.cursor !== undefined && { nextPageToken: writePageToken([...list, 'all'], page.cursor) }),
  };
}

/** The names that are seen, behind the last one of the page before: a token has no other name. */
async function filteredPage(
  list: readonly string[],
  { pageSize, pageToken }: NamesPart,
  candidates: readonly string[] | AsyncIterable<string>,
  isSeen: (name: string) => Promise<boolean>,
): Promise<NamesListed> {
  const after = pageToken === undefined ? undefined : readPageToken(list, pageToken, isText);
  const ordered = Symbol.asyncIterator in candidates ? candidates : [...new Set(candidates)].sort(compareText);
  const names: string[] = [];
  for await (const name of ordered) {
    const isBehind = after === undefined || compareText(name, after) > 0;
    if (isBehind && (await isSeen(name))) {
      if (names.length === pageSize) {
        return { names, nextPageToken: writePageToken(list, names.at(-1)) };
      }
      names.push(name);
    }
  }
  return { names };
}

function isText(place: unknown): place is string {
  return typeof place === 'string';
}

/** True when the client may see a value of an app, a session in it, or a value of a user in it, that is there. */
async function seesInApp(request: NamesRequest, appName: string): Promise<boolean> {
  const { context, rights, signal } = request;
  const { service } = context;
  if (rights.reads('app') && hasMembers(await service.getAppState({ appName, signal }))) {
    return true;
  }
  if (seesAllSessions(rights) && (await service.listSessions({ appName, limit: 1, signal })).totalItems > 0) {
    return true;
  }
  for await (const userId of rights.users === 'all' ? allOf(usersOf(request, appName)) : rights.users) {
    if (await seesOfUser(request, { appName, userId })) {
      return true;
    }
  }
  return false;
}

/** True when the client may see a session of a user, or a value of a user, that is there. */
async function seesOfUser(
  { context: { service }, rights, signal }: NamesRequest,
  user: { readonly appName: string; readonly userId: string },
): Promise<boolean> {
  if (rights.reads('user') && hasMembers(await service.getUserState({ ...user, signal }))) {
    return true;
  }
  if (!rights.reads('session')) {
    return false;
  }
  if (rights.sessions === 'all') {
    return (await service.listSessions({ ...user, limit: 1, signal })).totalItems > 0;
  }
  const config = { numRecentEvents: 0 };
  for (const sessionId of rights.sessions) {
    if ((await service.getSession({ ...user, sessionId, config, signal })) !== undefined) {
      return true;
    }
  }
  return false;
}

function hasMembers(state: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(state).length > 0;
}
