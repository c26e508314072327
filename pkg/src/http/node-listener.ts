// Node's own HTTP servers: their requests as `Request`, and a `Response` as they send it. Nothing is imported from
// Node.

import { ErrorLog, type OnError } from './answers.js';
import { directOf } from './incoming.js';
import { JsonReply, type Reply } from './reply.js';
import { NodeClient, type NodeRequest, type NodeResponse } from './node-http.js';
import { NodeIncoming } from './node-incoming.js';
import { checkFunction, checkOptions } from '../checks/arguments.js';

/** A handler of the Fetch API. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

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
  handler: FetchHandler,
  options: NodeListenerOptions = {},
): (request: NodeRequest, response: NodeResponse) => void {
  checkFunction(handler, 'handler');
  checkOptions(options, ['onError']);
  const { onError } = options;
  if (onError !== undefined) {
    checkFunction(onError, 'onError');
  }
  const errors = new ErrorLog(onError);
  const answerTo = directOf(handler) ?? byRequest(handler);
  return (nodeRequest, response) => {
    const ignore = (): void => undefined;
    // Without a listener an error of the connection would end the process.
    nodeRequest.on('error', ignore);
    response.on('error', ignore);
    void answer(answerTo, errors, nodeRequest, response);
  };
}

function byRequest(handler: FetchHandler): (incoming: NodeIncoming) => Promise<Reply> {
  return async (incoming) => {
    const request = incoming.toRequest();
    return request === undefined ? badRequest() : await handler(request);
  };
}

async function answer(
  handler: (incoming: NodeIncoming) => Promise<Reply>,
  errors: ErrorLog,
  nodeRequest: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const client = new NodeClient(response);
  const incoming = NodeIncoming.of(nodeRequest, client);
  try {
    const answered = incoming === undefined ? badRequest() : await handler(incoming);
    await send(answered, nodeRequest.method === 'HEAD', response, client);
  } catch (error) {
    if (response.headersSent) {
      // The end of the connection shows the client that the answer is incomplete.
      if (!client.hasGone) {
        errors.log(error, incoming);
      }
      response.destroy();
    } else {
      await send(errors.answer(error, incoming), false, response, client).catch(() => response.destroy());
    }
  }
}

function badRequest(): Reply {
  const error = { code: 'INVALID_ARGUMENT', message: 'the request is malformed' };
  return new JsonReply({ error }, 400);
}

/** Sends an answer, and resolves when all of it is written or the client has disconnected. */
async function send(reply: Reply, isHead: boolean, response: NodeResponse, client: NodeClient): Promise<void> {
  response.statusCode = reply.status;
  if (reply instanceof JsonReply) {
    reply.headers.forEach((value, name) => response.setHeader(name, value));
    response.end(isHead ? undefined : reply.text);
    return;
  }
  const { headers, body } = reply;
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
  await sendPieces(body, response, client.signal);
}

async function sendPieces(
  body: ReadableStream<Uint8Array>,
  response: NodeResponse,
  signal: AbortSignal,
): Promise<void> {
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
