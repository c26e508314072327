// Routes of state: reading it, and writing it under conditions.

import { PATHS } from '../../http/paths.js';
import { visibleState } from '../../http/visible.js';
import { JSON_VALUE, NAMES, OPERATOR, REVISION, STATE, TEXT } from './components.js';
import { checkComparison, checkDelta, markedDelta } from './delta.js';
import { ANSWER_ONCE, route, type Answer, type Asked, type Declaration } from './route.js';
import { handleOf, namedSession } from './shared.js';
import { STORED_SCOPES } from '../../model/scope.js';
import type { Schema, ValueOf } from './schema.js';
import type { Json, Session, UpdateStateTarget } from '../../model/types.js';

const NAMED_STATE = {
  type: 'object',
  properties: {
    state: {
      type: 'object',
      additionalProperties: JSON_VALUE,
      description: 'Values under their names, without prefix.',
    },
  },
  required: ['state'],
} as const satisfies Schema;

const getAppState = route(
  {
    operation: 'getAppState',
    method: 'GET',
    path: PATHS.appState,
    group: 'state',
    summary: 'Returns the state of an app.',
    access: { reads: 'app' },
    answers: { 200: { description: 'The state.', schema: NAMED_STATE } },
    errors: [],
  },
  async ({ context, ids, request: { signal } }) => ({
    body: { state: await context.service.getAppState({ ...ids, signal }) },
  }),
);

const getUserState = route(
  {
    operation: 'getUserState',
    method: 'GET',
    path: PATHS.userState,
    group: 'state',
    summary: 'Returns the state of a user in an app.',
    access: { reads: 'user' },
    answers: { 200: { description: 'The state.', schema: NAMED_STATE } },
    errors: [],
  },
  async ({ context, ids, request: { signal } }) => ({
    body: { state: await context.service.getUserState({ ...ids, signal }) },
  }),
);

const getSessionState = route(
  {
    operation: 'getSessionState',
    method: 'GET',
    path: PATHS.sessionState,
    group: 'state',
    summary: 'Returns the state of a session, now or at a revision.',
    access: { reads: 'session' },
    headers: ['creation'],
    query: {
      type: 'object',
      properties: { revision: { ...REVISION, description: 'From 0, the creation; by default the current one.' } },
    },
    answers: {
      200: {
        description: 'The state.',
        schema: {
          type: 'object',
          properties: {
            state: STATE,
            exact: {
              type: 'boolean',
              description: "False where `app:` and `user:` keys are known from the session's own log alone.",
            },
            revision: REVISION,
          },
          required: ['state', 'exact', 'revision'],
        },
      },
    },
    errors: ['SESSION_NOT_FOUND'],
  },
  async (asked) => {
    const { context, rights, query, request } = asked;
    if (query.revision === undefined) {
      const { state, revision } = await handleOf(asked);
      return { body: { state: visibleState(rights, state), exact: true, revision } };
    }
    const options = { detailed: true, signal: request.signal } as const;
    const { state, exact } = await context.service.stateAt(await namedSession(asked), query.revision, options);
    return { body: { state: visibleState(rights, state), exact, revision: query.revision } };
  },
);

const UPDATE = {
  type: 'object',
  properties: {
    delta: { ...STATE, description: 'The keys to set, with their prefix.' },
    deleted: { ...NAMES, description: 'The keys to delete.' },
    operators: { type: 'object', additionalProperties: OPERATOR, description: 'Operators under their keys.' },
    expected: {
      type: 'object',
      description: 'Nothing is written unless all of this holds: STATE_CONFLICT otherwise.',
      properties: {
        set: { ...STATE, description: 'Keys that must have these values.' },
        unset: { ...NAMES, description: 'Keys that must be absent.' },
        whole: { type: 'boolean', description: 'True when there must be no other keys than those of `set`.' },
      },
      additionalProperties: false,
    },
    author: { ...TEXT, description: 'Of the event, where the target is a session; `system` by default.' },
    invocationId: { ...TEXT, description: 'Of that event.' },
  },
  additionalProperties: false,
} as const satisfies Schema;

/** The common part of the routes of updates. */
const UPDATED = {
  method: 'POST',
  group: 'state',
  body: UPDATE,
  answers: {
    200: {
      description: 'The values right after the update.',
      schema: { type: 'object', properties: { state: STATE }, required: ['state'] },
      headers: ANSWER_ONCE,
    },
  },
} as const;
const UPDATE_ERRORS = ['STATE_CONFLICT', 'VALUE_NOT_JSON', 'LIMIT_EXCEEDED', 'KEY_REUSED', 'COMMIT_UNKNOWN'] as const;

const updateAppState = route(
  {
    ...UPDATED,
    operation: 'updateAppState',
    path: PATHS.updateAppState,
    summary: 'Writes `app:` keys.',
    access: { writes: 'app' },
    headers: ['key'],
    errors: UPDATE_ERRORS,
  },
  async (asked) => await updated(asked, asked.ids, asked.body),
);

const updateUserState = route(
  {
    ...UPDATED,
    operation: 'updateUserState',
    path: PATHS.updateUserState,
    summary: 'Writes `user:` and `app:` keys.',
    access: { writes: 'user' },
    headers: ['key'],
    errors: UPDATE_ERRORS,
  },
  async (asked) => await updated(asked, asked.ids, asked.body),
);

const updateSessionState = route(
  {
    ...UPDATED,
    operation: 'updateSessionState',
    path: PATHS.updateSessionState,
    summary: 'Writes keys of a session, of its user and of its app, as an event of the session.',
    access: { writes: 'session' },
    headers: ['key', 'lease', 'creation'],
    errors: [...UPDATE_ERRORS, 'SESSION_NOT_FOUND', 'LEASE_LOST'],
  },
  async (asked) => {
    const isNamed = asked.proof !== undefined || asked.creation !== undefined;
    return await updated(asked, isNamed ? await handleOf(asked) : asked.ids, asked.body);
  },
);

async function updated(
  { context, rights, once }: Pick<Asked<Declaration>, 'context' | 'rights' | 'once'>,
  target: UpdateStateTarget | Session,
  body: ValueOf<typeof UPDATE>,
): Promise<Answer> {
  const { expected, author, invocationId } = body;
  const delta = markedDelta(body);
  checkDelta(rights, delta);
  const { set, unset, whole } = expected ?? {};
  for (const key of [...Object.keys(set ?? {}), ...(unset ?? [])]) {
    checkComparison(rights, key);
  }
  const conditions = {
    set: set as Readonly<Record<string, Json>> | undefined,
    unset,
    // The client knows the keys that it may read.
    whole: whole ? STORED_SCOPES.filter((scope) => rights.reads(scope)) : undefined,
  };
  const access = await context.access();
  const state = await access.write(target, { delta, expected: conditions, author, invocationId }, once);
  return { body: { state: visibleState(rights, state) } };
}

/** The routes of state. */
export const STATE_ROUTES = [
  ...[getAppState, getUserState, getSessionState],
  ...[updateAppState, updateUserState, updateSessionState],
];
