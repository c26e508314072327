// Operations. All of them are done when they are answered; their ids say what they were, so that any server of the
// store can be asked for them.

import { fromBase64Url, toBase64Url } from '../../http/base64url.js';
import { ApiError, notFound } from './wire/errors.js';
import { typeOf } from './wire/bodies.js';
import { CHOICES } from './leniencies.js';
import { checkApp, checkOwners, type EngineCall } from './call.js';
import { readSession, visibleOwners } from './owner.js';
import { describeSession } from './session-answer.js';
import { sessionName, type EngineTarget } from './target.js';
import type { Session } from '../../model/types.js';

/** The work that an operation has done to a session. */
export type Work = 'create' | 'delete';

/** An operation, as its id tells it. */
interface Operation {
  readonly work: Work;
  readonly appName: string;
  readonly sessionId: string;
  /** The id of the change that created the session. */
  readonly created: string;
}

const METADATA = { create: 'CreateSessionOperationMetadata', delete: 'DeleteOperationMetadata' } as const;
const EMPTY = { '@type': 'type.googleapis.com/google.protobuf.Empty' };

/** The answer that a session was created. */
export function createdAnswer(
  target: EngineTarget,
  operation: Omit<Operation, 'work'>,
  time: string,
  session: object,
) {
  const response = { '@type': typeOf(target.version, 'Session'), ...session };
  return done(target, { ...operation, work: 'create' }, time, response);
}

/** The answer that a session was deleted. */
export function deletedAnswer(target: EngineTarget, operation: Omit<Operation, 'work'>, time: string): object {
  return done(target, { ...operation, work: 'delete' }, time, EMPTY);
}

function done(target: EngineTarget, operation: Operation, time: string, response: object): object {
  return {
    name: `${parentOf(target, operation)}/operations/${idOf(operation)}`,
    metadata: {
      '@type': typeOf(target.version, METADATA[operation.work]),
      genericMetadata: { createTime: time, updateTime: time },
    },
    done: true,
    response,
  };
}

/** A deletion belongs to the location, as in the API; all belong to their session where the path has no location. */
function parentOf(target: EngineTarget, { work, sessionId }: Operation): string {
  const isOfLocation = work === 'delete' || CHOICES[target.version].operationParent === 'location';
  return isOfLocation && target.location !== '' ? target.location : sessionName(target, sessionId);
}

/** Answers for an operation whether it is done, by the session: another one under its id is another session. */
export async function getOperation(call: EngineCall): Promise<object> {
  const { target } = call;
  const operation = operationIn(target.operation);
  const { appName, sessionId } = target;
  if (operation === undefined || (appName !== '' && operation.appName !== appName)) {
    throw missing(target);
  }
  if (sessionId !== '' && operation.sessionId !== sessionId) {
    throw missing(target);
  }
  checkApp({ ...target, appName: operation.appName }, call.rights);
  checkOwners(call.access);
  const engine = target.engine === target.location ? engineOf(target, operation) : target.engine;
  return await answerOf({ ...call, target: { ...target, engine } }, operation);
}

async function answerOf(call: EngineCall, operation: Operation): Promise<object> {
  const { target, access } = call;
  const session = await sessionOf(call, operation);
  if ((session === undefined) !== (operation.work === 'delete')) {
    throw missing(target);
  }
  if (session === undefined) {
    return { ...deletedAnswer(target, operation, NEVER), ...nameOf(target) };
  }
  const answer = (await describeSession(call, session)) as { readonly createTime: string };
  const created = access.createdOf(session);
  return { ...createdAnswer(target, { ...operation, created }, answer.createTime, answer), ...nameOf(target) };
}

/** The session that the operation was about, if the client may see it, and it is still there. */
async function sessionOf(call: EngineCall, operation: Operation): Promise<Session | undefined> {
  const { appName, sessionId, created } = operation;
  for (const userId of await visibleOwners(call, appName, sessionId)) {
    const session = await readSession(call, { appName, userId, sessionId });
    if (session !== undefined && call.access.createdOf(session) === created) {
      return session;
    }
  }
  return undefined;
}

/** The time of a deletion, which nobody keeps. */
const NEVER = '1970-01-01T00:00:00Z';

/** The name by which the operation was asked for. */
function nameOf({ name, operation }: EngineTarget): { readonly name: string } {
  return { name: `${name === '' ? '' : `${name}/`}operations/${operation}` };
}

function engineOf({ location }: EngineTarget, { appName }: Operation): string {
  return `${location}/reasoningEngines/${encodeURIComponent(appName)}`;
}

function idOf({ work, appName, sessionId, created }: Operation): string {
  return toBase64Url(JSON.stringify([work, appName, sessionId, created]));
}

function operationIn(id: string): Operation | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(fromBase64Url(id) ?? '');
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 4 || !parts.every((part) => typeof part === 'string')) {
    return undefined;
  }
  const [work, appName, sessionId, created] = parts as [string, string, string, string];
  return work === 'create' || work === 'delete' ? { work, appName, sessionId, created } : undefined;
}

function missing(target: EngineTarget): ApiError {
  return notFound('Operation', nameOf(target).name);
}
