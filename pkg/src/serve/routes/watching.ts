// The route of watches: changes as server-sent events.

import { PATHS } from '../../http/paths.js';
import { REVISION, SESSION, TEXT, TIME } from './components.js';
import { route } from './route.js';
import type { Schema } from './schema.js';

const FLAG = { type: 'boolean' } as const satisfies Schema;

const STREAM = {
  200: {
    description:
      'Changes as server-sent events: `session`, `event`, `values`, `reload`, `deleted` and `error`. Without ' +
      '`text/event-stream` in `Accept`, the session.',
    schema: SESSION,
    isStream: true,
  },
  406: { description: 'Values of a user or an app can only be watched.' },
} as const;

const watch = route(
  {
    operation: 'watch',
    method: 'GET',
    path: PATHS.watch,
    group: 'watches',
    summary: 'Streams the changes of a session, a user or an app, or of several of them.',
    description: 'A stream that was cut continues after the id in `Last-Event-ID`, or in `since`.',
    access: 'client',
    query: {
      type: 'object',
      properties: {
        appName: TEXT,
        userId: TEXT,
        sessionId: TEXT,
        whole: { ...FLAG, description: 'True for a whole session: its events, and the values of its user and app.' },
        since: { ...TEXT, description: 'The id after which it begins.' },
        targets: { ...TEXT, description: 'Several targets, as the JSON that is the body of a POST.' },
        numRecentEvents: { ...REVISION, description: 'Without a stream: the last events, at most this many.' },
        afterTimestamp: { ...TIME, description: 'Without a stream: the events of this time or a later one.' },
      },
    },
    answers: STREAM,
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_REQUESTS'],
  },
  async ({ context, request, rights }) => await context.streams.answer(request, rights),
);

const watchSeveral = route(
  {
    operation: 'watchSeveral',
    method: 'POST',
    path: PATHS.watch,
    group: 'watches',
    summary: 'Streams the changes of several sessions, users and apps in one stream.',
    description:
      'The body is a JSON list of `{ appName, userId?, sessionId?, whole?, since?, initial? }`, of any content type. ' +
      'The id of each change begins with the number of its target in the list and a slash.',
    access: 'client',
    answers: { 200: { description: 'Changes as server-sent events.', isStream: true } },
    errors: ['TOO_LARGE', 'TOO_MANY_REQUESTS'],
  },
  async ({ context, request, rights, anyBody }) =>
    await context.streams.answer(request, rights, async () => new TextDecoder().decode(await anyBody())),
);

/** The routes of watches. */
export const WATCH_ROUTES = [watch, watchSeveral];
