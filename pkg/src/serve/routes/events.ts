// Routes of the events of a session.

import { PATHS } from '../../http/paths.js';
import { visibleEvent, visibleState } from '../../http/visible.js';
import { invalid } from '../../checks/arguments.js';
import { createEvent } from '../../input/event.js';
import { appendOrRewind } from '../markers.js';
import { checkDelta } from './delta.js';
import { DEFAULT_PAGE, EVENT, EVENT_INPUT, EXPIRE_TIME, REVISION, STATE, TIME } from './components.js';
import { readEvent } from './event-json.js';
import { readPageToken, writePageToken } from './page-token.js';
import { handleOf, nameOfSession, NEXT_PAGE_TOKEN, notFound, PAGE_SIZE, PAGE_TOKEN } from './shared.js';
import { route } from './route.js';
import type { ServerContext } from '../api.js';
import type { Event, Session, SessionKey } from '../../model/types.js';

const listEvents = route(
  {
    operation: 'listEvents',
    method: 'GET',
    path: PATHS.events,
    group: 'events',
    summary: 'Lists the events of a session, oldest first.',
    access: { reads: 'session' },
    query: {
      type: 'object',
      properties: {
        pageSize: PAGE_SIZE,
        pageToken: PAGE_TOKEN,
        after: { ...REVISION, description: 'Only the events after this revision; not together with `pageToken`.' },
      },
    },
    answers: {
      200: {
        description: 'A page of events, and the revision of the session.',
        schema: {
          type: 'object',
          properties: {
            events: { type: 'array', items: EVENT },
            revision: REVISION,
            nextPageToken: NEXT_PAGE_TOKEN,
          },
          required: ['events', 'revision'],
        },
      },
    },
    errors: ['SESSION_NOT_FOUND'],
  },
  async ({ context, ids, query, rights, request }) => {
    const { pageSize = DEFAULT_PAGE, pageToken, after = 0 } = query;
    if (pageToken !== undefined && query.after !== undefined) {
      invalid('after', 'cannot go together with pageToken');
    }
    const list = ['events', ids.appName, ids.userId, ids.sessionId];
    const begin = pageToken === undefined ? after : readPageToken(list, pageToken, isRevision);
    const access = await context.access();
    const page = await access.events(ids, { from: begin + 1, limit: pageSize, signal: request.signal });
    const { events, revision } = page ?? notFound(ids.sessionId);
    const end = begin + events.length;
    const hasMore = events.length > 0 && end < revision;
    return {
      body: {
        events: events.map((event) => visibleEvent(rights, event)),
        revision,
        ...(hasMore && { nextPageToken: writePageToken(list, end) }),
      },
    };
  },
);

const appendEvent = route(
  {
    operation: 'appendEvent',
    method: 'POST',
    path: PATHS.events,
    group: 'events',
    summary: 'Appends an event, and writes its delta.',
    description:
      'An event whose `id` the session has already is answered as it is stored, if it is the same event. An event ' +
      'with `actions.rewindBeforeInvocationId` rewinds the session: it gets the delta that does that.',
    access: { writes: 'session' },
    headers: ['lease', 'creation'],
    body: {
      type: 'object',
      properties: {
        event: EVENT_INPUT,
        expectedRevision: { ...REVISION, description: 'Append only if the session is at this revision.' },
        since: {
          ...REVISION,
          description: 'The revision that the client has: the answer has what it lacks, and the state.',
        },
      },
      required: ['event'],
      additionalProperties: false,
    },
    answers: {
      200: {
        description: 'The stored event, and the session after it.',
        schema: {
          type: 'object',
          properties: {
            event: EVENT,
            revision: REVISION,
            lastUpdateTime: TIME,
            expireTime: EXPIRE_TIME,
            state: STATE,
            events: { type: 'array', items: EVENT, description: 'The events after `since`, the new one included.' },
          },
          required: ['event', 'revision', 'lastUpdateTime'],
        },
      },
    },
    errors: [
      ...(['SESSION_NOT_FOUND', 'SESSION_STALE', 'STATE_CONFLICT', 'EVENT_ID_CONFLICT', 'VALUE_NOT_JSON'] as const),
      ...(['LEASE_LOST', 'LIMIT_EXCEEDED', 'COMMIT_UNKNOWN'] as const),
    ],
  },
  async (asked) => {
    const { context, ids, body, rights, proof, creation } = asked;
    const { event: json, expectedRevision, since } = body;
    const { event: given, writes } = readEvent(json);
    checkDelta(rights, writes);
    const handle = async (): Promise<Session> => await handleOf(asked);
    const session = proof === undefined ? nameOfSession(ids) : await handle();
    const request = { session, event: given, expectedRevision, created: creation };
    const { event, session: shown } = given.partial
      ? { event: createEvent(given), session: await handle() }
      : await appendOrRewind(await context.access(), handle, request);
    const { revision, lastUpdateTime, expireTime, state } = shown;
    const added = since === undefined ? undefined : await eventsAfter(context, ids, since, shown);
    return {
      body: {
        event: visibleEvent(rights, event),
        revision,
        lastUpdateTime,
        ...(expireTime !== undefined && { expireTime }),
        ...(added !== undefined && {
          state: visibleState(rights, state),
          events: added.map((each) => visibleEvent(rights, each)),
        }),
      },
    };
  },
);

/** The routes of events. */
export const EVENT_ROUTES = [listEvents, appendEvent];

function isRevision(place: unknown): place is number {
  return Number.isSafeInteger(place) && (place as number) >= 0;
}

/** The events of a session after a revision. Nothing has to be read where it is the last one that the handle shows. */
async function eventsAfter(
  context: ServerContext,
  key: SessionKey,
  since: number,
  shown: Session,
): Promise<readonly Event[]> {
  const { revision } = shown;
  const last = shown.events.slice(-1);
  if (since >= revision || (since === revision - 1 && last.length === 1)) {
    return since >= revision ? [] : last;
  }
  const access = await context.access();
  // Later ones are not in the state of the answer either.
  const page = await access.events(key, { from: since + 1, limit: revision - since });
  return page?.events ?? [];
}
