// A request as the servers of this package read it. On Node, making a `Request` takes longer than all that answers it:
// the listener hands over the members that are read, and makes each when it is read.

import type { Reply } from './reply.js';

/** Reads a body piece by piece, as a reader of a `ReadableStream` does. */
export interface PieceReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The members of a request that servers read. A `Request` has them. */
export interface Incoming extends Pick<Request, 'method' | 'url' | 'signal' | 'body'> {
  readonly headers: Pick<Headers, 'get'>;
  /** The URL, where it was parsed already. */
  readonly parsedUrl?: URL | undefined;
  /** A reader of the body, where that is faster than by `body`. One of both may be used. */
  readonly bodyReader?: (() => PieceReader) | undefined;
  /** The `Request` for functions of the user, without its body, where it is none itself. */
  readonly toBodiless?: (() => Request) | undefined;
}

/** The work of a handler, which needs no whole `Request`, and answers with no whole `Response`. */
type Direct = (request: Incoming) => Promise<Reply>;

const directs = new WeakMap<object, Direct>();

/** Notes what a handler does, for callers without a `Request`. */
export function setDirect(handler: object, direct: Direct): void {
  directs.set(handler, direct);
}

/** The direct form of a handler, if {@link setDirect} has noted one. */
export function directOf(handler: object): Direct | undefined {
  return directs.get(handler);
}

/** The `Request` for functions of the user, which do not read its body. */
export function requestOf(incoming: Incoming): Request {
  return incoming.toBodiless === undefined ? (incoming as Request) : incoming.toBodiless();
}
