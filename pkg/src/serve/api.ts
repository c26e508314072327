// The interface between a server and its APIs.

import type { Incoming } from '../http/incoming.js';
import type { ErrorLog } from '../http/answers.js';
import type { Reply } from '../http/reply.js';
import type { Rights } from '../http/principal.js';
import type { ServingAccess } from '../service/serving-access.js';
import type { SessionService } from '../service/session-service.js';
import type { WatchStreams } from './watch/streams.js';

/** The parts of a server that its APIs share. */
export interface ServerContext {
  readonly service: SessionService;
  /** The operations of the service that are not public. */
  readonly access: () => Promise<ServingAccess>;
  readonly errors: ErrorLog;
  readonly streams: WatchStreams;
  /** The path below which the server is mounted; empty where it is none. */
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

/** One request to an API, before its sender is known. */
export interface Call {
  /** The name of the operation: `createSession`. */
  readonly operation: string;
  /** Answers a request that needs no principal; `answer` is not called then. */
  readonly answerAnyone?: (request: Incoming) => Promise<Reply>;
  /** Answers the request. Its errors are answered by `refusal` of the API. */
  answer(received: Received): Promise<Reply>;
}

/** An API of a server: its paths, and the form of its errors. */
export interface Api {
  /**
   * The call that a request makes; `undefined` where the path is none of this API's; the list of allowed methods
   * where the path has no such method. `path` is the raw path below the base of the server, and begins with a slash.
   */
  find(method: string, path: string): Call | readonly string[] | undefined;
  /** The answer to an error, in the form that the clients of this API read. */
  refusal(error: unknown, request: Incoming): Reply;
}
