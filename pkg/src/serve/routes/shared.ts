// Parts of the answers of several routes.

import { fromBase64Url, toBase64Url } from '../../http/base64url.js';
import { invalid } from '../../checks/arguments.js';
import { StatepadError } from '../../model/errors.js';
import { check } from './check.js';
import { DEFAULT_PAGE, MAX_PAGE } from './components.js';
import { REQUEST_HEADERS, type Asked, type Declaration } from './route.js';
import type { Schema } from './schema.js';
import type { LeaseProof } from '../../service/serving-access.js';
import type { Session, SessionKey, SessionName } from '../../model/types.js';

/** The parameters of lists. */
export const PAGE_SIZE = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_PAGE,
  description: `The largest number of items; ${DEFAULT_PAGE} by default.`,
} as const satisfies Schema;

export const PAGE_TOKEN = {
  type: 'string',
  description: 'The `nextPageToken` of the page before. The other parameters must be the same.',
} as const satisfies Schema;

export const NEXT_PAGE_TOKEN = {
  type: 'string',
  description: 'The `pageToken` of the next page; absent on the last one.',
} as const satisfies Schema;

/** A request to a route of one session. */
export type AskedOfSession = Pick<Asked<Declaration>, 'context' | 'request' | 'proof' | 'creation'> & {
  readonly ids: SessionKey;
};

/**
 * A handle of the current session with its last event, whose writes carry the lease of the request, if it has one.
 * Throws `SESSION_NOT_FOUND`, also for another session than the one that the request names by its ETag.
 */
export async function handleOf(asked: AskedOfSession): Promise<Session> {
  const { context, proof, creation, ids } = asked;
  const session = await currentSession(asked);
  const access = await context.access();
  if (creation !== undefined && creation !== access.createdOf(session)) {
    return notFound(ids.sessionId);
  }
  return proof === undefined ? session : access.underLease(session, proof);
}

/** The session of a request by its name; as {@link handleOf} where the request has a lease or an ETag. */
export async function namedSession(asked: AskedOfSession): Promise<SessionName> {
  const { proof, creation, ids } = asked;
  return proof === undefined && creation === undefined ? nameOfSession(ids) : await handleOf(asked);
}

/** A handle of the current session with its last event. Throws `SESSION_NOT_FOUND`. */
export async function currentSession({ context, ids }: Pick<AskedOfSession, 'context' | 'ids'>): Promise<Session> {
  const { appName, userId, sessionId } = ids;
  const config = { numRecentEvents: 1 };
  return (await context.service.getSession({ appName, userId, sessionId, config })) ?? notFound(sessionId);
}

/** The expiry that a body asks for: in JSON, `null` stands for no end. */
export function expiryOf({
  ttl,
  expireTime,
}: {
  readonly ttl?: number | null | undefined;
  readonly expireTime?: number | undefined;
}): { readonly ttl?: number; readonly expireTime?: number } {
  return {
    ...(ttl !== undefined && { ttl: ttl ?? Infinity }),
    ...(expireTime !== undefined && { expireTime }),
  };
}

/** The name of the session of a request. */
export function nameOfSession({ appName, userId, sessionId }: SessionKey): Pick<Session, 'appName' | 'userId' | 'id'> {
  return { appName, userId, id: sessionId };
}

/** Throws `SESSION_NOT_FOUND`. */
export function notFound(id: string): never {
  throw new StatepadError('SESSION_NOT_FOUND', `session ${JSON.stringify(id)} not found`, { id });
}

/** The ETag of a session that a change created. */
export function writeEtag(created: string): string {
  return `"${encodeURIComponent(created)}"`;
}

const PROOF = {
  type: 'object',
  properties: { token: { type: 'integer', minimum: 1 }, holder: { type: 'string' }, created: { type: 'string' } },
  required: ['token', 'holder', 'created'],
  additionalProperties: false,
} as const satisfies Schema;

/** The value of the header of a lease. */
export function writeProof({ token, holder, created }: LeaseProof): string {
  return toBase64Url(JSON.stringify({ token, holder, created }));
}

/** The lease in a header. Throws `INVALID_ARGUMENT`. */
export function readProof(text: string): LeaseProof {
  try {
    const proof = JSON.parse(fromBase64Url(text) ?? '') as unknown;
    check(PROOF, proof, '');
    return proof as LeaseProof;
  } catch {
    return invalid(REQUEST_HEADERS.lease.name, 'is not the `lease` of an answer of this server');
  }
}
