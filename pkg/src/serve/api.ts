// The interface between a door and its faces: the sets of paths that it answers.

import type { Incoming } from '../http/incoming.js';
import type { ErrorLog } from '../http/answers.js';
import type { Reply } from '../http/reply.js';
import type { Rights } from '../http/principal.js';
import type { ServingAccess } from '../service/serving-access.js';
import type { SessionService } from '../service/session-service.js';
import type { WatchStreams } from './watch/streams.js';

/** The service behind a door, and what all faces share. */
export interface Door {
  readonly service: SessionService;
  /** The operations of the service that are not public. */
  readonly access: () => Promise<ServingAccess>;
  readonly errors: ErrorLog;
  readonly streams: WatchStreams;
  /** The path below which the door is mounted; empty where it is none. */
  readonly basePath: string;
}

/** A request whose sender is known. */
export interface Received {
  readonly request: Incoming;
  readonly url: URL;
  readonly rights: Rights;
  /** Reads the body, once. Throws `TOO_LARGE`, and `INVALID_ARGUMENT` with status 408 or 415. */
  readonly body: () => Promise<Uint8Array>;
  /** The same, whatever its type: for requests that change nothing. */
  readonly anyBody: () => Promise<Uint8Array>;
}

/** One request to a face, before its sender is known. */
export interface Call {
  /** The name of the operation: `createSession`. */
  readonly operation: string;
  /** Answers a request that needs no principal; `answer` is not called then. */
  readonly answerAnyone?: () => Promise<Reply>;
  /** Answers the request. Its errors are answered by `refusal` of the face. */
  answer(received: Received): Promise<Reply>;
}

/** A set of paths. */
export interface Face {
  /**
   * The call that a request makes; `undefined` where the path is none of this face's; the list of allowed methods
   * where the path has no such method. `path` is the raw path below the base of the door, and begins with a slash.
   */
  find(method: string, path: string): Call | readonly string[] | undefined;
  /** The answer to an error, in the form that the clients of this face read. */
  refusal(error: unknown, request: Incoming): Reply;
}
