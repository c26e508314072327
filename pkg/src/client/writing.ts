// Writing over HTTP: creations, deletions, rewinds and forks.

import { forget, shownEvent, type RemoteView } from './handle.js';
import { etagOf, finite, refresh, sessionOf } from './reading.js';
import { CREATION_HEADER, throughHandle } from './through-handle.js';
import { pathTo, PATHS } from '../http/paths.js';
import { showTemp } from '../input/temp-values.js';
import { defined } from '../model/defined.js';
import { isStatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { isTemp, withoutTemp } from '../model/scope.js';
import { keyOf, type Calls } from './calls.js';
import type { Signal } from '../async/abort.js';
import type { AdmittedCreation } from '../input/creation.js';
import type { TrimOptions } from '../model/past.js';
import type { ForkOptions, RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { Session, SessionEnd, SessionKey, SessionName } from '../model/types.js';

/**
 * Creates a session; with `getOrCreateSession` only when it is missing. JSON writes an infinite `ttl` as `null`, and
 * the server reads it so.
 */
export async function create(
  calls: Calls,
  path: 'sessions' | 'getOrCreateSession',
  { key, state: { delta, deleted } }: AdmittedCreation,
  { ttl, expireTime }: SessionEnd,
  signal: Signal | undefined,
): Promise<Session> {
  const state = withoutTemp(delta);
  const stored = deleted.filter((name) => !isTemp(name));
  stored.forEach((name) => delete state[name]);
  const { sessionId } = key;
  const answer = await calls.write<Session>({
    method: 'POST',
    path: pathTo(PATHS[path], key),
    body: { sessionId, state, ...(stored.length > 0 && { deleted: stored }), ...defined({ ttl, expireTime }) },
    repeats: 'by key',
    signal,
  });
  return sessionOf(calls, answer);
}

/**
 * Deletes a session: the one that is there at the call, so that a repeated request never deletes one that is created
 * meanwhile. Over a store that cannot tell them apart, the one under the key, as a service does.
 */
export async function remove(
  calls: Calls,
  request: SessionKey | SessionName,
  key: SessionKey,
  signal: Signal | undefined,
): Promise<void> {
  const throughIt = throughHandle(calls.view(request));
  const call = { method: 'DELETE', path: pathTo(PATHS.session, key), repeats: 'by content', signal } as const;
  const send = async (etag: string | undefined): Promise<unknown> =>
    await throughIt(async (own) => await calls.write({ ...call, headers: { ...own, [CREATION_HEADER]: etag } }));
  await calls.inTurn(key, signal, async () => {
    const etag = await etagOf(calls, key, signal);
    if (etag === undefined) {
      return;
    }
    try {
      await send(etag);
    } catch (error) {
      if (!isStatepadError(error) || error.code !== 'INVALID_ARGUMENT') {
        throw error;
      }
      await send(undefined);
    }
  });
}

/** Appends the marker of a rewind, or of its undoing, and brings the handle up to date. */
export async function mark(
  calls: Calls,
  path: 'rewind' | 'redo',
  session: SessionName,
  { before, signal }: Partial<RewindOptions> & RedoOptions,
): Promise<Rewound> {
  const view = calls.view(session);
  const key = keyOf(session);
  const throughIt = throughHandle(view);
  return await calls.inTurn(key, signal, async () => {
    const body = defined({ before });
    const call = { method: 'POST', path: pathTo(PATHS[path], key), body, repeats: 'by key', signal } as const;
    const { json } = await throughIt(async (headers) => await calls.write<Rewound>({ ...call, headers }));
    const rewound = deepFreeze(json);
    if (view === undefined) {
      return rewound;
    }
    await showMarker(calls, view, rewound);
    return Object.freeze({ ...rewound, event: shownEvent(view, rewound.event) });
  });
}

async function showMarker(calls: Calls, view: RemoteView, { event }: Rewound): Promise<void> {
  // The marker is stored, whatever becomes of this: the next append tries again.
  await refresh(calls, view, undefined).catch(() => undefined);
  showTemp(view, event, undefined);
  forget(view);
}

/**
 * Creates a session that continues from a moment of another one. An id that is taken may be that of the same fork,
 * given up by an earlier call: a request without a key continues it.
 */
export async function fork(
  calls: Calls,
  session: SessionName,
  { at, sessionId, ttl, expireTime, signal }: ForkOptions,
): Promise<Session> {
  const call = {
    method: 'POST',
    path: pathTo(PATHS.fork, keyOf(session)),
    body: defined({ at, sessionId, ttl, expireTime }),
    headers: { [CREATION_HEADER]: calls.view(session)?.created },
    signal,
  } as const;
  try {
    return sessionOf(calls, await calls.write<Session>({ ...call, repeats: 'by key' }));
  } catch (error) {
    if (sessionId === undefined || !isStatepadError(error) || error.code !== 'SESSION_EXISTS') {
      throw error;
    }
    return sessionOf(calls, await calls.write<Session>({ ...call, repeats: 'never' }));
  }
}

/** Deletes the oldest writes to an app's values, or to a user's, from the log. Returns their number. */
export async function trimHistory(
  calls: Calls,
  { appName, userId }: { readonly appName: string; readonly userId?: string | undefined },
  { before, upTo, signal }: TrimOptions,
): Promise<number> {
  const path =
    userId === undefined
      ? pathTo(PATHS.trimAppHistory, { appName })
      : pathTo(PATHS.trimUserHistory, { appName, userId });
  const body = defined({ before: finite(before), upTo });
  const call = { method: 'POST', path, body, repeats: 'by content', signal } as const;
  return (await calls.write<{ deleted: number }>(call)).json.deleted;
}
