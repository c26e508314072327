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
import { timeText } from './moments.js';
import { isStatepadError } from '../../model/errors.js';
import { newId } from '../../model/ids.js';
import { sameJson } from '../../model/json.js';
import { withoutTemp } from '../../model/scope.js';
import type { EngineCall } from './call.js';
import type { Json, Session, SessionKey } from '../../model/types.js';

/** A session to be created. */
interface Creation {
  readonly key: SessionKey;
  readonly state: Readonly<Record<string, Json>>;
  readonly described: Described;
}

/** Creates a session. */
export async function createSession(call: EngineCall): Promise<object> {
  const { target, query, rights, access } = call;
  const message = readMessage('Session', call.body, 'session', target.version);
  checkRequired(message, 'session', { userId: 'user_id' });
  checkSession(message);
  const given = query['sessionId'] ?? '';
  checkId(given);
  const key = {
    appName: target.appName,
    userId: message['userId'] as string,
    sessionId: given === '' ? newId() : given,
  };
  const state = (plainOf(message['sessionState']) ?? {}) as Record<string, Json>;
  rights.checkWrite(key);
  rights.checkKeys(Object.keys(state));
  const creation = { key, state: withoutTemp(state), described: describedIn(message) };
  if (given !== '' && (await visibleOwners(call, key.appName, key.sessionId)).length > 0) {
    return await again(call, creation);
  }
  try {
    const session = await access.create({ ...key, state });
    return await finished(call, creation, session);
  } catch (error) {
    if (given !== '' && isStatepadError(error) && error.code === 'SESSION_EXISTS') {
      return await again(call, creation);
    }
    throw error;
  }
}

/** Checks the rules of a session beyond its protocol buffer. */
export function checkSession(message: Message): void {
  checkLabels(message['labels']);
  for (const [name, field] of [
    ['ttl', 'session.ttl'],
    ['expireTime', 'session.expire_time'],
  ] as const) {
    if (message[name] !== undefined) {
      throw invalidFields([field, 'The sessions of this server do not expire. Leave the field out.']);
    }
  }
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
  const session = await readSession(call, creation.key);
  if (session !== undefined && (await isSame(call, creation, session))) {
    return await finished(call, creation, session);
  }
  const name = sessionName(call.target, creation.key.sessionId);
  throw new ApiError(CHOICES[call.target.version].taken, `Session with user-provided ID '${name}' already exists.`);
}

async function isSame(call: EngineCall, { state, described }: Creation, session: Session): Promise<boolean> {
  const { displayName, labels } = await call.details.of(call.access, session);
  const found = { ...(displayName !== undefined && { displayName }), ...(labels !== undefined && { labels }) };
  const isNew = session.revision === (Object.keys(described).length === 0 ? 0 : 1);
  const isUnchanged = session.revision === 0 || (isNew && sameJson(found, described));
  return isUnchanged && sameJson(state, session.state);
}

async function finished(call: EngineCall, creation: Creation, session: Session): Promise<object> {
  const { access, service, target } = call;
  const { key, state, described } = creation;
  const createTime =
    session.revision === 0 ? session.lastUpdateTime : (await call.details.of(access, session)).createTime;
  const created = access.createdOf(session);
  if (session.revision === 0 && Object.keys(described).length > 0) {
    await service.appendEvent({
      session,
      event: { ...describingEvent(described), id: `statepad-session-${created}` },
    });
  }
  const time = timeText(createTime);
  const answer = sessionAnswer(
    target,
    { id: key.sessionId, userId: key.userId, state, lastUpdateTime: createTime },
    { createTime, ...described },
  );
  return createdAnswer(target, { ...key, created }, time, answer);
}
