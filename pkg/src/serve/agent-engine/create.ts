// The creation of a session.

import { checkLabels, checkRequired } from './wire/bodies.js';
import { ApiError, invalidFields } from './wire/errors.js';
import { readMessage, type Message } from './wire/message.js';
import { isSessionId } from './wire/paths.js';
import { CHOICES, SESSION_IDS } from './leniencies.js';
import { createdAnswer } from './operation.js';
import { describingEvent, type Described, type Labels } from './details.js';
import { plainOf } from './plain.js';
import { readSession, visibleOwners } from './owner.js';
import { sessionAnswer } from './session-answer.js';
import { sessionName } from './target.js';
import { millisecondsOf, momentOf, nanosecondsOf, timeText } from './moments.js';
import { later, parseSpan } from './wire/time.js';
import { isStatepadError, type ErrorCode } from '../../model/errors.js';
import { newId } from '../../model/ids.js';
import { put } from '../../model/json.js';
import { nameOf, withoutTemp, type StoredScope } from '../../model/scope.js';
import type { EngineCall } from './call.js';
import type { Json, Session, SessionKey } from '../../model/types.js';

/** A session to be created. */
interface Creation {
  readonly key: SessionKey;
  /** Without `temp:` keys. */
  readonly state: Readonly<Record<string, Json>>;
  readonly described: Described;
  /** The time when it expires, in milliseconds since the epoch. */
  readonly expireTime: number | undefined;
  /** A digest of the request and of who has sent it, which the creation id of the session has in it. */
  readonly digest: string;
}

/**
 * Creates a session. The same client may send the same request again while the session is as it was created: it is
 * answered as the first time. An id that somebody has whom the client may not see is free to it.
 */
export async function createSession(call: EngineCall): Promise<object> {
  const creation = await creationIn(call);
  await checkFree(call, creation);
  try {
    return await answerOf(call, creation, await create(call, creation));
  } catch (error) {
    if (isStatepadError(error) && TAKEN.includes(error.code)) {
      return await again(call, creation);
    }
    throw error;
  }
}

/** Throws where another user, whom the client may see, has the chosen id: named alone, it would be one of two. */
async function checkFree(call: EngineCall, { key }: Creation): Promise<void> {
  const { appName, userId, sessionId } = key;
  const owners = call.query['sessionId'] ? await visibleOwners(call, appName, sessionId) : [];
  if (owners.some((owner) => owner !== userId)) {
    throw taken(call, sessionId);
  }
}

/** Another request has the id, or has taken it over before this one was done. */
const TAKEN: readonly ErrorCode[] = ['SESSION_EXISTS', 'SESSION_NOT_FOUND'];

async function creationIn({ target, query, body, rights, access }: EngineCall): Promise<Creation> {
  const message = readMessage('Session', body, 'session', target.version);
  checkRequired(message, 'session', { userId: 'user_id' });
  checkLabels(message['labels']);
  const given = query['sessionId'] ?? '';
  checkId(given);
  const { appName } = target;
  const key = { appName, userId: message['userId'] as string, sessionId: given === '' ? newId() : given };
  const state = (plainOf(message['sessionState']) ?? {}) as Record<string, Json>;
  rights.checkCreation({ ...key, sessionId: given === '' ? undefined : given });
  rights.checkKeys(Object.keys(state));
  const expireTime = expireTimeIn(message, access.now());
  const digest = await digestOf([rights.id, appName, given, plainOf(message)]);
  return { key, state: withoutTemp(state), described: describedIn(message), expireTime, digest };
}

/** Creates it; with its display name and its labels, if it has any, in one step for all who look. */
async function create({ access }: EngineCall, creation: Creation): Promise<Session> {
  const { key, state, described, expireTime, digest } = creation;
  if (Object.keys(described).length === 0) {
    return await access.createAs({ ...key, state, expireTime }, { digest });
  }
  const own = keysOf(state, (scope) => scope === 'session');
  const shared = keysOf(state, (scope) => scope !== 'session');
  const first = { ...describingEvent(described), actions: { stateDelta: shared } };
  return await access.createAs({ ...key, state: own, expireTime }, { digest, first });
}

function keysOf(
  state: Readonly<Record<string, Json>>,
  isWanted: (scope: StoredScope) => boolean,
): Readonly<Record<string, Json>> {
  const kept: Record<string, Json> = {};
  for (const key of Object.keys(state)) {
    if (isWanted(nameOf(key)[0])) {
      put(kept, key, state[key] as Json);
    }
  }
  return kept;
}

/** 32 hexadecimal digits: creation ids have to fit into the labels and indexes of stores. */
async function digestOf(request: unknown): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', text)).slice(0, 16);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The time when the session of a message expires, in whole milliseconds; `undefined` where the message leaves that to
 * the service. As in the API, writes do not move the end of a `ttl`.
 */
function expireTimeIn({ ttl, expireTime }: Message, now: number): number | undefined {
  if (ttl !== undefined) {
    const span = parseSpan(ttl as string) as bigint;
    if (span <= 0n) {
      throw invalidFields(['session.ttl', 'TTL must be positive.']);
    }
    return Math.max(Math.round(millisecondsOf(later(nanosecondsOf(now), span))), Math.floor(now) + 1);
  }
  if (expireTime === undefined) {
    return undefined;
  }
  const end = Math.ceil(millisecondsOf(momentOf(expireTime as string)));
  if (end <= now) {
    throw invalidFields(['session.expire_time', 'Expire time must be in the future.']);
  }
  return end;
}

/** The display name and the labels of a message. */
export function describedIn({ displayName, labels }: Message): Described {
  return {
    ...(displayName !== undefined && { displayName: displayName as string }),
    ...(labels !== undefined && { labels: plainOf(labels) as Labels }),
  };
}

function checkId(given: string): void {
  const isAccepted = given === '' || isSessionId(given) || SESSION_IDS.some(({ pattern }) => pattern.test(given));
  if (!isAccepted) {
    throw invalidFields(['session_id', 'Invalid Session ID.']);
  }
}

/** Answers a creation whose id is taken: as the first time, if it is the same one, and nothing has happened since. */
async function again(call: EngineCall, creation: Creation): Promise<object> {
  const { key, described, digest } = creation;
  const session = await readSession(call, key);
  const revision = Object.keys(described).length === 0 ? 0 : 1;
  if (session?.revision === revision && call.access.createdOf(session).includes(digest)) {
    return await answerOf(call, creation, session);
  }
  throw taken(call, key.sessionId);
}

function taken({ target }: EngineCall, sessionId: string): ApiError {
  const name = sessionName(target, sessionId);
  return new ApiError(CHOICES[target.version].taken, `Session with user-provided ID '${name}' already exists.`);
}

/** The answer has the state that was asked for, as the API's has; not what the session shows besides. */
async function answerOf(call: EngineCall, creation: Creation, session: Session): Promise<object> {
  const { access, target } = call;
  const { key, state, described } = creation;
  const { createTime } = await call.details.of(access, session);
  const { id, userId, lastUpdateTime } = session;
  const answer = sessionAnswer(target, { id, userId, state, lastUpdateTime }, { createTime, ...described });
  return createdAnswer(target, { ...key, created: access.createdOf(session) }, timeText(createTime), answer);
}
