// Routes of the past: the writes of a key, and shortening it.

import { PATHS } from '../../http/paths.js';
import { visibleEvent } from '../../http/visible.js';
import { StatepadError } from '../../model/errors.js';
import { nameOf } from '../../model/scope.js';
import { EVENT, JSON_VALUE, REVISION, TEXT, TIME } from './components.js';
import { invalid } from '../../checks/arguments.js';
import { namedSession } from './shared.js';
import { route, type Answer, type Asked, type Declaration } from './route.js';
import type { Rights } from '../../http/principal.js';
import type { Schema, ValueOf } from './schema.js';
import type { HistoryStep } from '../../model/types.js';
import type { SharedStep } from '../../model/past.js';

const COUNT = { type: 'integer', minimum: 0 } as const satisfies Schema;
const LAST = { ...COUNT, description: 'Only the last writes, at most this many.' } as const;

const EXACT = {
  type: 'boolean',
  description: 'False where some of the writes, or of the values before, are unknown.',
} as const;
const FROM = { ...JSON_VALUE, description: 'The value before; absent when there was none.' } as const;
const TO = { ...JSON_VALUE, description: 'The value after; absent when the key was deleted.' } as const;

const getSessionHistory = route(
  {
    operation: 'getSessionHistory',
    method: 'GET',
    path: PATHS.sessionHistory,
    group: 'past',
    summary: 'Returns the writes of a key by a session, oldest first.',
    access: { reads: 'session' },
    headers: ['creation'],
    query: {
      type: 'object',
      properties: {
        key: { ...TEXT, description: 'The key, with its prefix.' },
        until: { ...REVISION, description: 'Only writes up to this revision.' },
        last: LAST,
      },
      required: ['key'],
    },
    answers: {
      200: {
        description: 'The writes.',
        schema: {
          type: 'object',
          properties: {
            steps: {
              type: 'array',
              items: {
                type: 'object',
                properties: { revision: REVISION, timestamp: TIME, event: EVENT, from: FROM, to: TO },
                required: ['revision', 'timestamp'],
              },
            },
            exact: EXACT,
          },
          required: ['steps', 'exact'],
        },
      },
    },
    errors: ['SESSION_NOT_FOUND'],
  },
  async (asked) => {
    const { context, rights } = asked;
    const { key, until, last } = asked.query;
    checkReading(rights, key);
    const options = { until, last, signal: asked.request.signal, detailed: true } as const;
    const { steps, exact } = await context.service.history(await namedSession(asked), key, options);
    return { body: { steps: steps.map((step) => visibleStep(rights, step)), exact } };
  },
);

const SHARED_QUERY = {
  type: 'object',
  properties: {
    key: { ...TEXT, description: 'The key, with its prefix.' },
    until: { ...COUNT, description: 'Only writes up to this position.' },
    last: LAST,
  },
  required: ['key'],
} as const satisfies Schema;

const SHARED_HISTORY = {
  description: 'The writes of all sessions.',
  schema: {
    type: 'object',
    properties: {
      steps: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            position: { ...COUNT, description: 'The number of changes of the scope, this one included.' },
            timestamp: TIME,
            by: {
              type: 'object',
              description: 'The session and the event that wrote it, where the client may see that session.',
              properties: { userId: TEXT, sessionId: TEXT, eventId: TEXT },
              required: ['userId', 'sessionId'],
            },
            from: FROM,
            to: TO,
          },
          required: ['position', 'timestamp'],
        },
      },
      exact: EXACT,
    },
    required: ['steps', 'exact'],
  },
} as const;

const getAppHistory = route(
  {
    operation: 'getAppHistory',
    method: 'GET',
    path: PATHS.appHistory,
    group: 'past',
    summary: 'Returns the writes of an `app:` key by all sessions, oldest first.',
    access: { reads: 'app' },
    query: SHARED_QUERY,
    answers: { 200: SHARED_HISTORY },
    errors: [],
  },
  async (asked) => await sharedHistory(asked, { ...asked.ids, userId: undefined }, asked.query),
);

const getUserHistory = route(
  {
    operation: 'getUserHistory',
    method: 'GET',
    path: PATHS.userHistory,
    group: 'past',
    summary: 'Returns the writes of a `user:` key by all sessions of the user, oldest first.',
    access: { reads: 'user' },
    query: SHARED_QUERY,
    answers: { 200: SHARED_HISTORY },
    errors: [],
  },
  async (asked) => await sharedHistory(asked, asked.ids, asked.query),
);

async function sharedHistory(
  { context, rights, request: { signal } }: Pick<Asked<Declaration>, 'context' | 'rights' | 'request'>,
  { appName, userId }: { readonly appName: string; readonly userId: string | undefined },
  { key, until, last }: ValueOf<typeof SHARED_QUERY>,
): Promise<Answer> {
  const scope = userId === undefined ? 'app' : 'user';
  if (nameOf(key)[0] !== scope) {
    invalid('key', `must begin with ${scope}:`);
  }
  const { steps, exact } = await context.service.history({ appName, userId, key }, { until, last, signal });
  return { body: { steps: steps.map((step) => visibleSharedStep(rights, step)), exact } };
}

const TRIM = {
  type: 'object',
  description: 'One of the two.',
  properties: {
    before: { ...TIME, description: 'The oldest changes, up to the first one that is not older than this time.' },
    upTo: { ...COUNT, description: 'All changes up to this position.' },
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const satisfies Schema;

const TRIMMED = {
  description: 'The number of deleted changes.',
  schema: { type: 'object', properties: { deleted: COUNT }, required: ['deleted'] },
} as const;

const trimAppHistory = route(
  {
    operation: 'trimAppHistory',
    method: 'POST',
    path: PATHS.trimAppHistory,
    group: 'past',
    summary: 'Deletes the oldest writes to the values of an app from the log. The values stay.',
    access: { writes: 'app' },
    body: TRIM,
    answers: { 200: TRIMMED },
    errors: ['COMMIT_UNKNOWN'],
  },
  async ({ context, ids, body }) => ({ body: { deleted: await context.service.trimHistory(ids, body) } }),
);

const trimUserHistory = route(
  {
    operation: 'trimUserHistory',
    method: 'POST',
    path: PATHS.trimUserHistory,
    group: 'past',
    summary: 'Deletes the oldest writes to the values of a user from the log. The values stay.',
    access: { writes: 'user' },
    body: TRIM,
    answers: { 200: TRIMMED },
    errors: ['COMMIT_UNKNOWN'],
  },
  async ({ context, ids, body }) => ({ body: { deleted: await context.service.trimHistory(ids, body) } }),
);

/** The routes of the past. */
export const PAST_ROUTES = [
  ...[getSessionHistory, getAppHistory, getUserHistory],
  ...[trimAppHistory, trimUserHistory],
];

/** Throws `FORBIDDEN` for a key that the client may not read. */
function checkReading(rights: Rights, key: string): void {
  if (!rights.reads(nameOf(key)[0])) {
    throw new StatepadError('FORBIDDEN', `the client may not read ${JSON.stringify(key)}`, { key });
  }
}

function visibleStep(rights: Rights, step: HistoryStep): HistoryStep {
  return step.event === undefined ? step : { ...step, event: visibleEvent(rights, step.event) };
}

function visibleSharedStep(rights: Rights, step: SharedStep): SharedStep {
  const { by, ...rest } = step;
  return by === undefined || rights.seesSession(by) ? step : rest;
}
