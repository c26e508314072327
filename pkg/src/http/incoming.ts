// A request as the servers of this package read it. On Node, making a `Request` takes longer than all that answers it:
// the listener hands over the members that are read, and makes each when it is read.

/** Reads a body piece by piece, as a reader of a `ReadableStream` does. */
export interface PieceReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The members of a request that servers read. A `Request` has them. */
export interface Incoming extends Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body'> {
  /** A reader of the body, where that is faster than by `body`. One of both may be used. */
  readonly bodyReader?: (() => PieceReader) | undefined;
}

/** A handler that reads no more of a request than an {@link Incoming} has. */
type IncomingHandler = (request: Incoming) => Promise<Response>;

const handlers = new WeakSet<object>();

/** Marks a handler as one that needs no more than an {@link Incoming}. */
export function readsIncoming<Handler extends IncomingHandler>(handler: Handler): Handler {
  handlers.add(handler);
  return handler;
}

/** The handler, if it was marked by {@link readsIncoming}. */
export function incomingHandler(handler: object): IncomingHandler | undefined {
  return handlers.has(handler) ? (handler as IncomingHandler) : undefined;
}

/** The `Request` for functions of the user, which do not read its body: where there is none yet, it has none. */
export function requestOf(incoming: Incoming): Request {
  if (incoming instanceof Request) {
    return incoming;
  }
  const { method, url, headers } = incoming;
  return new Request(url, { method, headers });
}
