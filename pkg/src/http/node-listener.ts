// Node's own HTTP servers: their requests as `Request`, and a `Response` as they send it. Nothing is imported from
// Node: the members of its types that are used are declared here.

import { ErrorLog, type OnError } from './answers.js';
import { checkFunction, checkOptions } from '../checks/arguments.js';

/** The members of `http.IncomingMessage` that are used. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket?: object | null;
  readonly readableEnded?: boolean;
  on(event: string, listener: (...args: never[]) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The members of `http.ServerResponse` that are used. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  appendHeader?(name: string, value: string): unknown;
  setHeader(name: string, value: string | readonly string[]): unknown;
  flushHeaders?(): void;
  write(piece: Uint8Array): boolean;
  end(): unknown;
  destroy(error?: Error): unknown;
  on(event: string, listener: (...args: never[]) => void): unknown;
  once(event: string, listener: (...args: never[]) => void): unknown;
  removeListener(event: string, listener: (...args: never[]) => void): unknown;
}

/** Options of {@link nodeListener}. */
export interface NodeListenerOptions {
  /** Receives errors that a handler throws, and broken bodies; the console by default. */
  readonly onError?: OnError | undefined;
}

/**
 * A listener for `http.createServer`, `https.createServer` and `http2.createSecureServer` that answers by a handler
 * of the Fetch API. The body of an answer is written as fast as the client reads it; when the client disconnects, the
 * `signal` of its request is aborted. A request that the Fetch API cannot hold is answered with status 400; a handler
 * that throws, with 500. The listener never throws, and leaves no rejection unhandled.
 *
 * @example
 * createServer(nodeListener(serve(service, { authorize }))).listen(8080);
 */
export function nodeListener(
  handler: (request: Request) => Response | Promise<Response>,
  options: NodeListenerOptions = {},
): (request: NodeRequest, response: NodeResponse) => void {
  checkFunction(handler, 'handler');
  checkOptions(options, ['onError']);
  const { onError } = options;
  if (onError !== undefined) {
    checkFunction(onError, 'onError');
  }
  const errors = new ErrorLog(onError);
  return (nodeRequest, response) => {
    const disconnected = new AbortController();
    const ignore = (): void => undefined;
    // Without a listener an error of the connection would end the process.
    nodeRequest.on('error', ignore);
    response.on('error', ignore);
    response.once('close', () => disconnected.abort());
    void answer(handler, errors, nodeRequest, response, disconnected.signal);
  };
}

async function answer(
  handler: (request: Request) => Response | Promise<Response>,
  errors: ErrorLog,
  nodeRequest: NodeRequest,
  response: NodeResponse,
  signal: AbortSignal,
): Promise<void> {
  let request: Request | undefined;
  try {
    request = requestOf(nodeRequest, signal);
    const answered = request === undefined ? badRequest() : await handler(request);
    await send(answered, nodeRequest.method === 'HEAD', response, signal);
  } catch (error) {
    if (response.headersSent) {
      // The end of the connection shows the client that the answer is incomplete.
      if (!signal.aborted) {
        errors.log(error, request);
      }
      response.destroy();
    } else {
      await send(errors.answer(error, request), false, response, signal).catch(() => response.destroy());
    }
  }
}

function badRequest(): Response {
  const error = { code: 'INVALID_ARGUMENT', message: 'the request is malformed' };
  return Response.json({ error }, { status: 400 });
}

/** The request; `undefined` for one that the Fetch API cannot hold. */
function requestOf(nodeRequest: NodeRequest, signal: AbortSignal): Request | undefined {
  const { method = 'GET' } = nodeRequest;
  const headers = new Headers();
  try {
    for (let at = 0; at < nodeRequest.rawHeaders.length; at += 2) {
      const name = nodeRequest.rawHeaders[at] as string;
      // HTTP/2 has the parts of the request line among the headers.
      if (!name.startsWith(':')) {
        headers.append(name, nodeRequest.rawHeaders[at + 1] as string);
      }
    }
    const url = urlOf(nodeRequest);
    if (url === undefined) {
      return undefined;
    }
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const init = { method, headers, signal, ...(hasBody && { body: bodyOf(nodeRequest, signal), duplex: 'half' }) };
    return new Request(url, init);
  } catch {
    return undefined;
  }
}

/** The URL; `undefined` when it is invalid: `*`, `*:99999`, a host with a path in it. */
function urlOf({ url = '', method, headers, socket }: NodeRequest): string | undefined {
  const isEncrypted = (socket as { readonly encrypted?: boolean } | null | undefined)?.encrypted === true;
  const scheme = isEncrypted ? 'https' : 'http';
  const authority = headers[':authority'] ?? headers.host;
  const host = typeof authority === 'string' && authority !== '' ? authority : 'localhost';
  if (/[\s/\\?#@]/.test(host)) {
    return undefined;
  }
  if (url === '*' && method === 'OPTIONS') {
    return new URL(`${scheme}://${host}/`).href;
  }
  if (/^https?:\/\//i.test(url)) {
    return new URL(url).href;
  }
  return url.startsWith('/') ? new URL(`${scheme}://${host}${url}`).href : undefined;
}

/** The body of a request, read from the connection on demand. */
function bodyOf(nodeRequest: NodeRequest, signal: AbortSignal): ReadableStream<Uint8Array> {
  let isOver = nodeRequest.readableEnded === true;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (finish: () => void): void => {
        if (!isOver) {
          isOver = true;
          finish();
        }
      };
      if (isOver) {
        controller.close();
        return;
      }
      nodeRequest.on('data', (piece: Uint8Array) => {
        if (!isOver) {
          // A view of its own: Node's are of a pool.
          controller.enqueue(new Uint8Array(piece));
          if ((controller.desiredSize ?? 0) <= 0) {
            nodeRequest.pause();
          }
        }
      });
      nodeRequest.on('end', () => end(() => controller.close()));
      nodeRequest.on('error', (error: Error) => end(() => controller.error(error)));
      signal.addEventListener('abort', () => end(() => controller.error(signal.reason)), { once: true });
      nodeRequest.pause();
    },
    pull() {
      nodeRequest.resume();
    },
    cancel() {
      // The rest is read and passed over.
      isOver = true;
      nodeRequest.resume();
    },
  });
}

/** Sends an answer, and resolves when all of it is written or the client has disconnected. */
async function send(answered: Response, isHead: boolean, response: NodeResponse, signal: AbortSignal): Promise<void> {
  const { status, headers, body } = answered;
  response.statusCode = status;
  const cookies = headers.getSetCookie();
  headers.forEach((value, name) => {
    if (name !== 'set-cookie') {
      response.setHeader(name, value);
    }
  });
  if (cookies.length > 0) {
    response.setHeader('set-cookie', cookies);
  }
  if (body === null || isHead) {
    await body?.cancel();
    response.end();
    return;
  }
  const reader = body.getReader();
  // Before the first piece: a stream may be silent for long.
  response.flushHeaders?.();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) {
    stop();
  }
  try {
    for (let piece = await reader.read(); !piece.done && !signal.aborted; piece = await reader.read()) {
      if (!response.write(piece.value)) {
        await drained(response, signal);
      }
    }
    response.end();
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** Resolves when there is room to write, or the client has disconnected. */
async function drained(response: NodeResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    return;
  }
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.removeListener('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
