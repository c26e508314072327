// Routes of single sessions: creating, reading and deleting them.

import { PATHS } from '../../http/paths.js';
import { visibleSession } from '../../http/visible.js';
import { isStatepadError } from '../../model/errors.js';
import { isBlank } from '../../model/ids.js';
import { EXPIRY_INPUT, JSON_VALUE, NAMES, REVISION, SESSION, TIME } from './components.js';
import { markedDelta } from './delta.js';
import { expiryOf, notFound } from './shared.js';
import { ANSWER_ONCE, route, type Answer, type Asked, type Declaration } from './route.js';
import type { Schema, ValueOf } from './schema.js';
import type { Rights } from '../../http/principal.js';
import type { ServingAccess } from '../../service/serving-access.js';
import type { CreateSessionRequest, Session } from '../../model/types.js';
import type { Once } from '../../model/once.js';

const CREATION = {
  type: 'object',
  properties: {
    sessionId: { type: 'string', description: 'Generated (a UUID) when it is absent or blank.' },
    state: {
      type: 'object',
      additionalProperties: JSON_VALUE,
      description: 'Values under their full keys. `app:` and `user:` keys are shared; `temp:` keys are dropped.',
    },
    deleted: { ...NAMES, description: 'The `app:` and `user:` keys to delete.' },
    ...EXPIRY_INPUT,
  },
  additionalProperties: false,
} as const satisfies Schema;

const CREATED = { description: 'The session.', schema: SESSION, headers: ['creation', ...ANSWER_ONCE] } as const;

const createSession = route(
  {
    operation: 'createSession',
    method: 'POST',
    path: PATHS.sessions,
    group: 'sessions',
    summary: 'Creates a session.',
    access: 'creation',
    headers: ['key'],
    body: CREATION,
    answers: { 200: CREATED },
    errors: ['SESSION_EXISTS', 'STATE_CONFLICT', 'VALUE_NOT_JSON', 'LIMIT_EXCEEDED', 'KEY_REUSED', 'COMMIT_UNKNOWN'],
  },
  async (asked) => {
    const access = await asked.context.access();
    return shown(asked, access, await access.create(creationOf(asked), asked.once));
  },
);

const getOrCreateSession = route(
  {
    operation: 'getOrCreateSession',
    method: 'POST',
    path: PATHS.getOrCreateSession,
    group: 'sessions',
    summary: 'Returns a session, and creates it when it is missing.',
    description: 'The state of the request counts only for a session that is created.',
    access: 'creation',
    headers: ['key'],
    body: CREATION,
    answers: { 200: CREATED },
    errors: ['STATE_CONFLICT', 'VALUE_NOT_JSON', 'LIMIT_EXCEEDED', 'KEY_REUSED', 'COMMIT_UNKNOWN'],
  },
  async (asked) => {
    const { context, once } = asked;
    const access = await context.access();
    const creation = creationOf(asked);
    const session =
      once === undefined
        ? await context.service.getOrCreateSession(creation)
        : await createdOrFound(asked, access, creation, once);
    return shown(asked, access, session);
  },
);

const getSession = route(
  {
    operation: 'getSession',
    method: 'GET',
    path: PATHS.session,
    group: 'sessions',
    summary: 'Returns a session with its events, or with the last of them.',
    access: { reads: 'session' },
    query: {
      type: 'object',
      properties: {
        numRecentEvents: { ...REVISION, description: 'The last events, at most this many; 0 means none.' },
        afterTimestamp: { ...TIME, description: 'The events of this time or a later one, in milliseconds.' },
      },
    },
    answers: { 200: { description: 'The session.', schema: SESSION, headers: ['creation'] } },
    errors: ['SESSION_NOT_FOUND'],
  },
  async (asked) => {
    const { context, ids, query, request } = asked;
    const session = await context.service.getSession({ ...ids, config: query, signal: request.signal });
    return shown(asked, await context.access(), session ?? notFound(ids.sessionId));
  },
);

const deleteSession = route(
  {
    operation: 'deleteSession',
    method: 'DELETE',
    path: PATHS.session,
    group: 'sessions',
    summary: 'Deletes a session with its events and its own state.',
    description: 'It may be missing. The state of the app and of the user stays.',
    access: { writes: 'session' },
    headers: ['creation', 'lease'],
    answers: { 204: { description: 'It is deleted.' } },
    errors: ['LEASE_LOST', 'COMMIT_UNKNOWN'],
  },
  async ({ context, ids, creation, proof }) => {
    await (await context.access()).remove(ids, { created: creation, proof });
    return {};
  },
);

/** The routes of single sessions. */
export const SESSION_ROUTES = [createSession, getOrCreateSession, getSession, deleteSession];

interface AskedCreation {
  readonly rights: Rights;
  readonly ids: { readonly appName: string; readonly userId: string };
  readonly body: ValueOf<typeof CREATION>;
}

/** A creation whose id, if it has one, is not blank. */
type NamedCreation = CreateSessionRequest & { readonly sessionId: string | undefined };

/** The creation that a request asks for. Throws `FORBIDDEN`. */
function creationOf({ ids, body, rights }: AskedCreation): NamedCreation {
  const { sessionId, state = {}, deleted } = body;
  const named = sessionId === undefined || isBlank(sessionId) ? undefined : sessionId;
  rights.checkCreation({ ...ids, sessionId: named });
  const marked = markedDelta({ delta: state, deleted });
  rights.checkKeys(Object.keys(marked));
  return { ...ids, sessionId: named, state: marked, ...expiryOf(body) };
}

/**
 * Creates a session, or finds the one that is there. The creation comes first, so that another request under the key
 * of this one is noticed.
 */
async function createdOrFound(
  { context }: Pick<Asked<Declaration>, 'context'>,
  access: ServingAccess,
  creation: NamedCreation,
  once: Once,
): Promise<Session> {
  try {
    return await access.create(creation, once);
  } catch (error) {
    const { appName, userId, sessionId } = creation;
    const isTaken = isStatepadError(error) && (error.code === 'SESSION_EXISTS' || error.code === 'STATE_CONFLICT');
    const found =
      isTaken && sessionId !== undefined
        ? await context.service.getSession({ appName, userId, sessionId })
        : undefined;
    if (found === undefined) {
      throw error;
    }
    return found;
  }
}

function shown({ rights }: Pick<Asked<Declaration>, 'rights'>, access: ServingAccess, session: Session): Answer {
  return { body: visibleSession(rights, session), creation: access.createdOf(session) };
}
