// Sessions by their ids alone: looked for among the users that the client may see.

import { ApiError, notFound } from './wire/errors.js';
import type { EngineCall } from './call.js';
import type { Session, SessionKey } from '../../model/types.js';

/** The users that have a session of this id, of those that the client may see. */
export async function visibleOwners(call: EngineCall, appName: string, sessionId: string): Promise<readonly string[]> {
  const { access, rights, signal } = call;
  const owners = await access.owners(appName, sessionId, { signal });
  return owners.filter((userId) => rights.seesSession({ userId, sessionId }));
}

/** The key of the session that a call names. Throws `NOT_FOUND`; `ALREADY_EXISTS` where several users have one. */
export async function findKey(call: EngineCall): Promise<SessionKey> {
  const { appName, sessionId, name } = call.target;
  const [userId, ...others] = await visibleOwners(call, appName, sessionId);
  if (userId === undefined) {
    throw notFound('Session', name);
  }
  if (others.length > 0) {
    const way = 'use a principal that sees one of them, or name it with its user: /v1/apps/APP/users/USER/sessions/ID';
    throw new ApiError('ALREADY_EXISTS', `${others.length + 1} users have a session ${name}: ${way}.`);
  }
  return { appName, userId, sessionId };
}

/** The session that a call names, without its events. Throws as {@link findKey}. */
export async function findSession(call: EngineCall): Promise<Session> {
  const key = await findKey(call);
  return (await readSession(call, key)) ?? orMissing(call);
}

/** A session without its events. */
export async function readSession({ service, signal }: EngineCall, key: SessionKey): Promise<Session | undefined> {
  return await service.getSession({ ...key, config: { numRecentEvents: 0 }, signal });
}

/** Throws that the session of a call is missing. */
export function orMissing({ target }: EngineCall): never {
  throw notFound('Session', target.name);
}
