// Reading, changing and deleting a session.

import { checkLabels, readEmpty, readMask } from './wire/bodies.js';
import { invalidFields } from './wire/errors.js';
import { readMessage, type Message } from './wire/message.js';
import { describedIn } from './create.js';
import { describingEvent, type Described } from './details.js';
import { findKey, findSession, orMissing, readSession } from './owner.js';
import { deletedAnswer } from './operation.js';
import { describeSession } from './session-answer.js';
import { plainOf } from './plain.js';
import { timeText } from './moments.js';
import { conflictPause } from '../../async/conflict-pause.js';
import { DELETED } from '../../model/deletion.js';
import { isStatepadError } from '../../model/errors.js';
import { put } from '../../model/json.js';
import { isTemp, nameOf, withoutTemp } from '../../model/scope.js';
import type { EngineCall } from './call.js';
import type { Json, Session, SessionKey } from '../../model/types.js';

/** The number of attempts while others keep writing. */
const ATTEMPTS = 100;

/** Reads a session. */
export async function getSession(call: EngineCall): Promise<object> {
  readEmpty(call.body);
  return await describeSession(call, await findSession(call));
}

/** Deletes a session. */
export async function deleteSession(call: EngineCall): Promise<object> {
  readEmpty(call.body);
  const { access, rights, target } = call;
  const session = await findSession(call);
  const key = keyOf(session);
  rights.checkWrite(key);
  const created = access.createdOf(session);
  await access.remove(key, { created });
  return deletedAnswer(target, { appName: key.appName, sessionId: key.sessionId, created }, timeText(Date.now()));
}

/** Changes a session: its display name, its labels, and its own state, which is replaced as a whole. */
export async function updateSession(call: EngineCall): Promise<object> {
  const { target, query, rights } = call;
  const message = readMessage('Session', call.body, 'session', target.version);
  checkLabels(message['labels']);
  const names = readMask(query['updateMask'], message);
  checkMask(names);
  const state = names.includes('sessionState') ? stateIn(message) : undefined;
  rights.checkKeys(Object.keys(state ?? {}));
  const key = await findKey(call);
  rights.checkWrite(key);
  for (let attempt = 1; ; attempt++) {
    const session = (await readSession(call, key)) ?? orMissing(call);
    if (names.length === 0) {
      return await describeSession(call, session);
    }
    const described = changed(await call.details.of(call.access, session), describedIn(message), names);
    const stateDelta = state === undefined ? {} : replacing(session, state);
    try {
      await append(call, session, { ...describingEvent(described), actions: { stateDelta } });
      return await describeSession(call, session);
    } catch (error) {
      if (!isStatepadError(error) || error.code !== 'SESSION_STALE' || attempt === ATTEMPTS) {
        throw error;
      }
    }
    await conflictPause(attempt);
  }
}

/** Appends to the session as it was read. A store that compares no revisions takes the event as it comes. */
async function append({ service }: EngineCall, session: Session, event: object): Promise<void> {
  try {
    await service.appendEvent({ session, event, expectedRevision: session.revision });
  } catch (error) {
    if (!isStatepadError(error) || error.path !== 'expectedRevision') {
      throw error;
    }
    await service.appendEvent({ session, event });
  }
}

function checkMask(names: readonly string[]): void {
  for (const name of ['ttl', 'expireTime']) {
    if (names.includes(name)) {
      throw invalidFields(['update_mask', `The end of a session is set when it is created. Leave ${name} out.`]);
    }
  }
}

/** The state of a message, without `temp:` keys. */
function stateIn({ sessionState }: Message): Readonly<Record<string, Json>> {
  return withoutTemp((plainOf(sessionState) ?? {}) as Readonly<Record<string, Json>>);
}

/** The details with those that the mask names in the place of the old ones. */
function changed(before: Described, after: Described, names: readonly string[]): Described {
  const pick = (name: 'displayName' | 'labels'): Described => {
    const from = names.includes(name) ? after : before;
    return from[name] === undefined ? {} : { [name]: from[name] };
  };
  return { ...pick('displayName'), ...pick('labels') };
}

/** The delta that replaces the own keys of a session. Keys of the user and the app are written beside the others. */
function replacing(session: Session, state: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const delta: Record<string, unknown> = {};
  for (const key of Object.keys(session.state)) {
    if (nameOf(key)[0] === 'session' && !isTemp(key) && !Object.hasOwn(state, key)) {
      put(delta, key, DELETED);
    }
  }
  for (const key of Object.keys(state)) {
    put(delta, key, state[key]);
  }
  return delta;
}

/** The key of a session. */
export function keyOf({ appName, userId, id }: Session): SessionKey {
  return { appName, userId, sessionId: id };
}
