// Routes of lists: sessions, apps and users.

import { PATHS } from '../../http/paths.js';
import { visibleSession } from '../../http/visible.js';
import { invalid } from '../../checks/arguments.js';
import { DEFAULT_PAGE, NAMES, SESSION, SESSION_KEY } from './components.js';
import { visibleSessions, type ListTarget } from './list-sessions.js';
import { visibleApps, visibleUsers } from './visible-names.js';
import { NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN, writeEtag } from './shared.js';
import { route, type Answer } from './route.js';
import type { Schema, ValueOf } from './schema.js';
import type { Asked, Declaration } from './route.js';

const LIST_QUERY = {
  type: 'object',
  properties: {
    pageSize: { ...PAGE_SIZE, minimum: 0 },
    pageToken: PAGE_TOKEN,
    offset: {
      type: 'integer',
      minimum: 0,
      description: 'The number of sessions to skip. Ignored when there is a `page`; not together with `pageToken`.',
    },
    page: {
      type: 'integer',
      minimum: 1,
      description: 'The number of the page, from 1. It needs a `pageSize`, and goes not together with `pageToken`.',
    },
    order: {
      type: 'string',
      enum: ['asc', 'desc'],
      description: 'By `lastUpdateTime`, ascending by default; ids break ties, ascending either way.',
    },
  },
} as const satisfies Schema;

const COUNT = { type: 'integer', minimum: 0 } as const satisfies Schema;

const ROW = {
  ...SESSION,
  properties: { ...SESSION.properties, etag: { type: 'string', description: 'The ETag of the session.' } },
  required: [...SESSION.required, 'etag'],
} as const satisfies Schema;

const SESSION_LIST = {
  type: 'object',
  properties: {
    sessions: { type: 'array', items: ROW, description: 'With their current state, and without events.' },
    page: { ...COUNT, description: 'The number of the page, from 1.' },
    limit: { ...COUNT, description: 'The `pageSize`.' },
    totalItems: { ...COUNT, description: 'The number of sessions in all.' },
    totalPages: { ...COUNT, description: 'The number of pages in all.' },
    nextPageToken: NEXT_PAGE_TOKEN,
    corrupt: { type: 'array', items: SESSION_KEY, description: 'Sessions that the store cannot read.' },
  },
  required: ['sessions', 'page', 'limit', 'totalItems', 'totalPages'],
} as const satisfies Schema;

const listAppSessions = route(
  {
    operation: 'listAppSessions',
    method: 'GET',
    path: PATHS.appSessions,
    group: 'sessions',
    summary: 'Lists the sessions of an app that the client may see.',
    access: 'sessions',
    query: LIST_QUERY,
    answers: { 200: { description: 'A page of sessions.', schema: SESSION_LIST } },
    errors: [],
  },
  async (asked) => await listed(asked, asked.ids, asked.query),
);

const listSessions = route(
  {
    operation: 'listSessions',
    method: 'GET',
    path: PATHS.sessions,
    group: 'sessions',
    summary: 'Lists the sessions of a user that the client may see.',
    access: 'sessions',
    query: LIST_QUERY,
    answers: { 200: { description: 'A page of sessions.', schema: SESSION_LIST } },
    errors: [],
  },
  async (asked) => await listed(asked, asked.ids, asked.query),
);

async function listed(
  { context, rights, request: { signal } }: Pick<Asked<Declaration>, 'context' | 'rights' | 'request'>,
  target: ListTarget,
  { pageSize, ...query }: ValueOf<typeof LIST_QUERY>,
): Promise<Answer> {
  const { pageToken, offset, page } = query;
  if (page !== undefined && pageSize === undefined) {
    invalid('page', 'needs a pageSize');
  }
  if (pageToken !== undefined && (page !== undefined || offset !== undefined)) {
    invalid('pageToken', 'cannot go together with page or offset');
  }
  const { sessions, ...rest } = await visibleSessions({ context, rights, signal }, target, {
    pageSize: pageSize ?? DEFAULT_PAGE,
    ...query,
  });
  const access = await context.access();
  const rows = sessions.map((session) => ({
    ...visibleSession(rights, session),
    etag: writeEtag(access.createdOf(session)),
  }));
  return { body: { sessions: rows, ...rest } };
}

const NAMES_QUERY = {
  type: 'object',
  properties: { pageSize: PAGE_SIZE, pageToken: PAGE_TOKEN },
} as const satisfies Schema;

const listApps = route(
  {
    operation: 'listApps',
    method: 'GET',
    path: PATHS.apps,
    group: 'names',
    summary: 'Lists the apps in which the client may see something, in the order of UTF-8 bytes.',
    access: 'client',
    query: NAMES_QUERY,
    answers: {
      200: {
        description: 'A page of names.',
        schema: {
          type: 'object',
          properties: { apps: NAMES, nextPageToken: NEXT_PAGE_TOKEN },
          required: ['apps'],
        },
      },
    },
    errors: [],
  },
  async ({ context, rights, query: { pageSize = DEFAULT_PAGE, pageToken }, request: { signal } }) => {
    const { names: apps, ...rest } = await visibleApps({ context, rights, signal }, { pageSize, pageToken });
    return { body: { apps, ...rest } };
  },
);

const listUsers = route(
  {
    operation: 'listUsers',
    method: 'GET',
    path: PATHS.users,
    group: 'names',
    summary: 'Lists the users in an app of whom the client may see something, in the order of UTF-8 bytes.',
    access: 'app',
    query: NAMES_QUERY,
    answers: {
      200: {
        description: 'A page of names.',
        schema: {
          type: 'object',
          properties: { users: NAMES, nextPageToken: NEXT_PAGE_TOKEN },
          required: ['users'],
        },
      },
    },
    errors: [],
  },
  async ({ context, ids, rights, query: { pageSize = DEFAULT_PAGE, pageToken }, request: { signal } }) => {
    const { names: users, ...rest } = await visibleUsers({ context, rights, signal }, ids.appName, {
      pageSize,
      pageToken,
    });
    return { body: { users, ...rest } };
  },
);

/** The routes of lists. */
export const LIST_ROUTES = [listApps, listUsers, listAppSessions, listSessions];
