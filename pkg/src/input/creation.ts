// Requests to create a session.

import { admitDelta, type AdmittedDelta } from './admit.js';
import { OF_SERVER, admitEnd, type Ending } from './expiry.js';
import { REQUESTS, checkRequest } from './requests.js';
import { admitString } from '../checks/arguments.js';
import { StatepadError } from '../model/errors.js';
import { isBlank, newId } from '../model/ids.js';
import type { CreateSessionRequest, SessionKey } from '../model/types.js';

/** A request to create a session, checked and copied. */
export interface AdmittedCreation {
  readonly key: SessionKey;
  readonly state: AdmittedDelta;
  /** Absent: the session does not expire. */
  readonly expires?: Ending | undefined;
}

/** Checks and copies a request to create a session. */
export function admitCreation(request: CreateSessionRequest, defaults = OF_SERVER): AdmittedCreation {
  checkRequest(request, REQUESTS.createSession);
  const { appName, userId, sessionId, state } = request;
  const key = {
    appName: admitString(appName, 'appName'),
    userId: admitString(userId, 'userId'),
    sessionId: sessionIdFrom(sessionId).id,
  };
  const admitted = admitDelta(state, 'state');
  const [operator] = Object.keys(admitted.operators ?? {});
  if (operator !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'state must have values, and no operators', { key: operator });
  }
  return { key, state: admitted, expires: admitEnd(request, defaults) };
}

/** The id of a session to be created: the caller's, or a new one. */
export function sessionIdFrom(requested: string | undefined): { readonly id: string; readonly isNew: boolean } {
  return requested !== undefined && !isBlank(admitString(requested, 'sessionId'))
    ? { id: requested, isNew: false }
    : { id: newId(), isNew: true };
}
