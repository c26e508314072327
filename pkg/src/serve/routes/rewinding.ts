// Routes that continue a session from an earlier moment.

import { PATHS } from '../../http/paths.js';
import { visibleEvent, visibleSession } from '../../http/visible.js';
import { isBlank } from '../../model/ids.js';
import { nameOf } from '../../model/scope.js';
import { ARTIFACT_DELTA, EXPIRY_INPUT, REVISION, REWOUND, SESSION, TEXT } from './components.js';
import { expiryOf, namedSession } from './shared.js';
import { ANSWER_ONCE, route, type Answer } from './route.js';
import type { Rights } from '../../http/principal.js';
import type { Rewound } from '../../model/rewind.js';

const MARKED = { description: 'The marker that was appended.', schema: REWOUND, headers: ANSWER_ONCE } as const;
const ERRORS = [
  'SESSION_NOT_FOUND',
  'STATE_CONFLICT',
  'LEASE_LOST',
  'LIMIT_EXCEEDED',
  'KEY_REUSED',
  'COMMIT_UNKNOWN',
] as const;

const rewindSession = route(
  {
    operation: 'rewindSession',
    method: 'POST',
    path: PATHS.rewind,
    group: 'sessions',
    summary: 'Goes back to before the first event of an invocation.',
    description: "The session's own keys get their values of that moment; `app:` and `user:` keys stay as they are.",
    access: { writes: 'session' },
    headers: ['key', 'lease', 'creation'],
    body: {
      type: 'object',
      properties: { before: { ...TEXT, description: 'The invocation.' }, artifactDelta: ARTIFACT_DELTA },
      required: ['before'],
      additionalProperties: false,
    },
    answers: { 200: MARKED },
    errors: ERRORS,
  },
  async (asked) => {
    const { context, rights, body, once } = asked;
    const access = await context.access();
    return rewound(rights, await access.rewind(await namedSession(asked), body, once));
  },
);

const redoSession = route(
  {
    operation: 'redoSession',
    method: 'POST',
    path: PATHS.redo,
    group: 'sessions',
    summary: 'Undoes the last rewind, if no other event was appended since.',
    access: { writes: 'session' },
    headers: ['key', 'lease', 'creation'],
    answers: { 200: MARKED },
    errors: ERRORS,
  },
  async (asked) => {
    const { context, rights, once } = asked;
    const access = await context.access();
    return rewound(rights, await access.redo(await namedSession(asked), {}, once));
  },
);

const forkSession = route(
  {
    operation: 'forkSession',
    method: 'POST',
    path: PATHS.fork,
    group: 'sessions',
    summary: 'Creates a session of the same user that continues from a moment of this one.',
    access: { reads: 'session' },
    headers: ['key', 'creation'],
    body: {
      type: 'object',
      properties: {
        at: { ...REVISION, description: 'The revision; by default the current one.' },
        sessionId: { ...TEXT, description: 'Of the new session: generated when it is absent or blank.' },
        ...EXPIRY_INPUT,
      },
      additionalProperties: false,
    },
    answers: { 200: { description: 'The new session.', schema: SESSION, headers: ['creation', ...ANSWER_ONCE] } },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_EXISTS',
      'STATE_CONFLICT',
      'LIMIT_EXCEEDED',
      'KEY_REUSED',
      'COMMIT_UNKNOWN',
    ],
  },
  async (asked) => {
    const { context, ids, rights, once } = asked;
    const { at, sessionId } = asked.body;
    const named = sessionId === undefined || isBlank(sessionId) ? undefined : sessionId;
    rights.checkCreation({ ...ids, sessionId: named });
    const access = await context.access();
    const options = { at, sessionId: named, ...expiryOf(asked.body) };
    const session = await access.fork(await namedSession(asked), options, once);
    return { body: visibleSession(rights, session), creation: access.createdOf(session) };
  },
);

/** The routes that rewind and fork. */
export const REWIND_ROUTES = [rewindSession, redoSession, forkSession];

function rewound(rights: Rights, { event, revision, shared }: Rewound): Answer {
  const visible = shared.filter((key) => rights.reads(nameOf(key)[0]));
  return { body: { event: visibleEvent(rights, event), revision, shared: visible } };
}
