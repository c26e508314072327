// Reading over HTTP: sessions, lists, values and their past.

import { handleOf, continueView, replaceView, type RemoteView } from './handle.js';
import { pathTo, PATHS } from '../http/paths.js';
import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError } from '../model/errors.js';
import type { Calls } from './calls.js';
import type { ServerAnswer } from './transport.js';
import type { Signal } from '../async/abort.js';
import type { GetSessionConfig, Json, Session, SessionKey, UpdateStateTarget } from '../model/types.js';

/** A session of an answer, as a handle. */
export function sessionOf(calls: Calls, { json, headers }: ServerAnswer<Session>): Session {
  return handleOf(calls, json, headers.get('etag') ?? undefined);
}

/** Reads a session; `undefined` when it is missing. */
export async function getSession(
  calls: Calls,
  key: SessionKey,
  config: GetSessionConfig | undefined,
  signal: Signal | undefined,
): Promise<Session | undefined> {
  const answer = await read(calls, key, config, signal);
  return answer && sessionOf(calls, answer);
}

async function read(
  calls: Calls,
  key: SessionKey,
  { numRecentEvents, afterTimestamp }: GetSessionConfig = {},
  signal: Signal | undefined,
): Promise<ServerAnswer<Session> | undefined> {
  const window = defined({ numRecentEvents, afterTimestamp: finite(afterTimestamp) });
  try {
    return await calls.read<Session>(pathTo(PATHS.session, key), window, signal);
  } catch (error) {
    if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/** A time that a parameter can have: the infinite ones are later, or earlier, than all events. */
export function finite(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, time));
}

/** The etag of a session, which names its creation; `undefined` when the session is missing. */
export async function etagOf(calls: Calls, key: SessionKey, signal: Signal | undefined): Promise<string | undefined> {
  const answer = await read(calls, key, { numRecentEvents: 0 }, signal);
  return answer?.headers.get('etag') ?? undefined;
}

/** Reads a session without its events. Throws `SESSION_NOT_FOUND`. */
export async function readWithoutEvents(
  calls: Calls,
  key: SessionKey,
  signal: Signal | undefined,
): Promise<ServerAnswer<Session>> {
  const answer = await read(calls, key, { numRecentEvents: 0 }, signal);
  if (answer === undefined) {
    throw sessionNotFound(key.sessionId);
  }
  return answer;
}

/** The error for a missing session. */
export function sessionNotFound(id: string): StatepadError {
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found`, { id });
}

/** The events that a refreshed handle is expected to lack: a guess that saves a second request. */
const EXPECTED_EVENTS = 10;

/**
 * Brings a handle up to date. The server is asked for the last events until these continue those of the handle.
 * Throws `SESSION_NOT_FOUND`, also for a session that was created anew.
 */
export async function refresh(calls: Calls, view: RemoteView, signal: Signal | undefined): Promise<void> {
  for (let numRecentEvents = EXPECTED_EVENTS; ;) {
    const answer = await read(calls, view.key, { numRecentEvents }, signal);
    const etag = answer?.headers.get('etag') ?? undefined;
    if (answer === undefined || (view.created !== undefined && etag !== undefined && etag !== view.created)) {
      throw sessionNotFound(view.key.sessionId);
    }
    const { events, revision } = answer.json;
    const lacked = revision - view.revision;
    if (lacked < 0) {
      // The store has gone back: nothing of what the handle shows is certain.
      const whole = (await read(calls, view.key, {}, signal)) ?? answer;
      replaceView(view, whole.json);
      return;
    }
    if (continueView(view, { ...answer.json, since: revision - events.length })) {
      return;
    }
    numRecentEvents = lacked + EXPECTED_EVENTS;
  }
}

/** The values of an app, or of a user in it, without prefix, in a record of the caller's own. */
export async function readScope(
  calls: Calls,
  { appName, userId }: Omit<UpdateStateTarget, 'sessionId'>,
  signal: Signal | undefined,
): Promise<Record<string, Json>> {
  const path =
    userId === undefined ? pathTo(PATHS.appState, { appName }) : pathTo(PATHS.userState, { appName, userId });
  return (await calls.read<{ state: Record<string, Json> }>(path, undefined, signal)).json.state;
}
