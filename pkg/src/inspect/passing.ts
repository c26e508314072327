// Another server behind this one: its routes, with its token, for the page of this one.

import { refused, type ErrorLog } from '../http/answers.js';
import { PATHS } from '../http/paths.js';
import { StatepadError } from '../model/errors.js';
import { checkAccess } from '../serve/routes/access.js';
import { Router, type Reached } from '../serve/routes/router.js';
import { ROUTES } from '../serve/routes/routes.js';
import type { InspectedServer } from './options.js';
import type { Incoming } from '../http/incoming.js';
import type { Reply } from '../http/reply.js';
import type { Declaration } from '../serve/routes/route.js';
import type { Api, Call, Received } from '../serve/api.js';

/** The prefix of the routes that are passed on. */
const PREFIX = PATHS.apps.slice(0, PATHS.apps.indexOf('apps'));

/** The headers of requests that a server of statepad reads. Nothing else of the browser leaves this machine. */
const SENT = [
  'accept',
  'content-type',
  'last-event-id',
  'if-match',
  'if-none-match',
  'idempotency-key',
  'statepad-lease',
];
/** The headers of answers that its clients read. None is of one connection, and none sets a cookie. */
const ANSWERED = [
  'content-type',
  'cache-control',
  'etag',
  'idempotency-replayed',
  'statepad-values',
  'retry-after',
  'x-accel-buffering',
];

/** Passes the requests to statepad's own routes on to another server. */
export class PassingApi implements Api {
  readonly #router = new Router(ROUTES);
  readonly #base: string;
  readonly #token: string | undefined;
  readonly #errors: ErrorLog;
  /** Aborted when this server ends: streams of the other one have no end of their own. */
  readonly #ended = new AbortController();

  constructor({ url, token }: InspectedServer, errors: ErrorLog) {
    const { origin, pathname } = new URL(url);
    this.#base = origin + pathname.replace(/\/+$/, '');
    this.#token = token;
    this.#errors = errors;
  }

  /** Ends the requests that are under way. */
  close(): void {
    this.#ended.abort();
  }

  find(method: string, path: string): Call | readonly string[] | undefined {
    const found = path.startsWith(PREFIX) ? this.#router.find(method, path) : undefined;
    if (found === undefined || !('route' in found)) {
      return found;
    }
    const { operation } = found.route.declaration;
    return { operation, answer: async (received) => await this.#answer(found, received, path) };
  }

  refusal(error: unknown, request: Incoming): Reply {
    return this.#errors.answer(error, request);
  }

  async #answer({ route: { declaration }, ids }: Reached, received: Received, path: string): Promise<Reply> {
    const { rights, request, url } = received;
    checkAccess(rights, declaration.access, ids());
    if (!isReading(declaration)) {
      rights.checkWritesTo('session');
    }
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
    const response = await this.#send(`${path}${url.search}`, {
      method: request.method,
      headers: this.#headersFor(request),
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, this.#ended.signal]),
      // Any type, as the other server decides about it.
      ...(hasBody && { body: (await received.anyBody()) as Uint8Array<ArrayBuffer> }),
    });
    const { status, body } = response;
    if (status === 401) {
      await body?.cancel();
      // Not 401: the page would ask its user for another token of this server.
      throw new StatepadError('FORBIDDEN', `${this.#base} does not know the token that it was given`);
    }
    if (status < 200 || (status >= 300 && status < 400)) {
      await body?.cancel();
      throw refused(502, `${this.#base} redirects: name the address that it redirects to`);
    }
    return new Response(body, { status, headers: selected(response.headers, ANSWERED) });
  }

  async #send(target: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(this.#base + target, init);
    } catch (cause) {
      throw new StatepadError('STORE_UNAVAILABLE', `${this.#base} cannot be reached`, { cause });
    }
  }

  #headersFor({ headers }: Incoming): Headers {
    const sent = selected(headers, SENT);
    // Of a compressed stream a part may be held back until there is more of it.
    sent.set('accept-encoding', 'identity');
    if (this.#token !== undefined) {
      sent.set('authorization', `Bearer ${this.#token}`);
    }
    return sent;
  }
}

/** True for a route that writes nothing: each GET, and a POST whose body says only what to read. */
function isReading({ method, access }: Declaration): boolean {
  return method === 'GET' || access === 'client';
}

function selected(from: Pick<Headers, 'get'>, names: readonly string[]): Headers {
  const headers = new Headers();
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) {
      headers.set(name, value);
    }
  }
  return headers;
}
