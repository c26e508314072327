// The way of a request through a server, from its arrival to its answer.

import { JsonReply, responseOf, type Reply } from '../http/reply.js';
import { setDirect, type Incoming } from '../http/incoming.js';
import { readAnyBody, readBody } from './body.js';
import { isWelcome } from './origin.js';
import { refused } from '../http/answers.js';
import { authorized } from '../http/principal.js';
import { StatepadError } from '../model/errors.js';
import type { Api, Call } from './api.js';
import type { ServeHandler } from './handler.js';
import type { CheckedOptions } from './options.js';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'];
/** The headers that pages of other origins may read. */
const EXPOSED = 'etag, idempotency-replayed, statepad-values, retry-after';

/** The parts of a server: its APIs, in the order in which they are asked for a path, and the end of its streams. */
export interface ServerParts {
  readonly apis: readonly Api[];
  readonly endStreams: () => void;
}

/** The handler of a server. */
export function handlerOf(options: CheckedOptions, parts: ServerParts): ServeHandler {
  const server = new Server(options, parts);
  const direct = async (request: Incoming): Promise<Reply> => await server.answer(request);
  const handler = async (request: Request): Promise<Response> => responseOf(await direct(request));
  setDirect(handler, direct);
  return Object.assign(handler, { close: async () => await server.close() });
}

class Server {
  readonly #options: CheckedOptions;
  readonly #parts: ServerParts;
  /** The requests that have begun and are not answered. */
  readonly #begun = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: CheckedOptions, parts: ServerParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async answer(request: Incoming): Promise<Reply> {
    const begin = performance.now();
    const [operation, answering] = this.#begin(request);
    this.#begun.add(answering);
    const response = await answering;
    this.#begun.delete(answering);
    const { method } = request;
    this.#options.onRequest?.({ operation, method, status: response.status, duration: performance.now() - begin });
    return response;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#parts.endStreams();
    await Promise.all(this.#begun);
  }

  /** The name of the operation, and its answer. */
  #begin(request: Incoming): readonly [string | undefined, Promise<Reply>] {
    const { cors, basePath, errors } = this.#options;
    const url = request.parsedUrl ?? new URL(request.url);
    if (!isWelcome(request, url, this.#options.rules)) {
      return [undefined, Promise.resolve(errors.answer(forbiddenOrigin(), request))];
    }
    if (cors !== undefined && request.method === 'OPTIONS') {
      return ['preflight', Promise.resolve(cors.preflight(request, METHODS))];
    }
    const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : '';
    for (const api of this.#parts.apis) {
      const found = api.find(request.method, path);
      if (found !== undefined) {
        return isMethods(found)
          ? [undefined, Promise.resolve(this.#readable(request, wrongMethod(found)))]
          : [found.operation, this.#orRefused(api, found, request, url)];
      }
    }
    const missing = errors.answer(refused(404, `there is nothing at ${url.pathname.slice(0, 200)}`), request);
    return [undefined, Promise.resolve(this.#readable(request, missing))];
  }

  /** Answers a call; its errors in the form of its API. */
  async #orRefused(api: Api, call: Call, request: Incoming, url: URL): Promise<Reply> {
    let reply: Reply;
    try {
      reply = await this.#call(call, request, url);
    } catch (error) {
      reply = api.refusal(error, request);
    }
    return this.#readable(request, reply);
  }

  async #call(call: Call, request: Incoming, url: URL): Promise<Reply> {
    const { authorize, limits } = this.#options;
    if (this.#isClosed) {
      throw new StatepadError('CLOSED', 'the server is closing');
    }
    if (call.answerAnyone !== undefined) {
      return await call.answerAnyone(request);
    }
    const rights = await authorized(authorize, request);
    if (rights instanceof Response) {
      return rights;
    }
    return await call.answer({
      request,
      url,
      rights,
      body: async () => await readBody(request, limits),
      anyBody: async () => await readAnyBody(request, limits),
    });
  }

  /** Lets pages of the named origins read an answer. */
  #readable(request: Incoming, reply: Reply): Reply {
    const { cors } = this.#options;
    if (cors === undefined) {
      return reply;
    }
    const allowed = cors.allow(request, responseOf(reply));
    allowed.headers.set('access-control-expose-headers', EXPOSED);
    return allowed;
  }
}

function isMethods(found: Call | readonly string[]): found is readonly string[] {
  return Array.isArray(found);
}

function wrongMethod(allowed: readonly string[]): Reply {
  const error = { code: 'INVALID_ARGUMENT', message: `the path has the methods ${allowed.join(', ')}` };
  return new JsonReply({ error }, 405, { allow: allowed.join(', ') });
}

function forbiddenOrigin(): StatepadError {
  return new StatepadError('FORBIDDEN', 'the host or the origin of the request is not one that this server answers');
}
