// One call of the API.

import { ApiError } from './wire/errors.js';
import type { SessionDetails } from './details.js';
import type { EngineTarget } from './target.js';
import type { Query } from './wire/query.js';
import type { VertexCall } from './wire/paths.js';
import type { Rights } from '../../http/principal.js';
import type { ServingAccess } from '../../service/serving-access.js';
import type { SessionService } from '../../service/session-service.js';

/** One call of the API, and what answers it. */
export interface EngineCall {
  readonly target: EngineTarget;
  readonly query: Query;
  /** The body as JSON; `undefined` when there is none. */
  readonly body: unknown;
  readonly rights: Rights;
  readonly service: SessionService;
  readonly access: ServingAccess;
  readonly details: SessionDetails;
  /** Of a call that reads: aborted when the client has gone. A call that writes is carried out to its end. */
  readonly signal: AbortSignal | undefined;
}

const WRITES: readonly VertexCall[] = ['createSession', 'updateSession', 'deleteSession', 'appendEvent'];

/** True for a call that writes. */
export function isWrite(call: VertexCall): boolean {
  return WRITES.includes(call);
}

/**
 * Throws `FORBIDDEN` when the client may not see the app of a target, or not do what it calls: before the target is
 * looked for, so that the answer does not tell whether it exists.
 */
export function checkApp(target: EngineTarget, rights: Rights): void {
  rights.checkApp(target.appName);
  if (isWrite(target.call)) {
    rights.checkWritesTo('session');
  }
}

/** Throws where the store cannot find sessions by their ids alone. */
export function checkOwners({ hasOwners }: ServingAccess): void {
  if (!hasOwners) {
    const way = "its sessions have to be named with their users, by this server's own routes: /v1/apps/APP/users/USER";
    throw new ApiError('UNIMPLEMENTED', `The store of this server keeps no index of session ids: ${way}.`);
  }
}
