// The API of statepad's own routes: the way of a request through a declaration to its answer.

import { JsonReply, type Reply } from '../../http/reply.js';
import { checkAccess } from './access.js';
import { parseBody } from './body.js';
import { check, checkParameterNames, readParameters } from './check.js';
import { OpenRequests, checkedKey, type Repeated } from './once.js';
import { ANSWER_HEADERS, REQUEST_HEADERS, type Answer, type Asked, type Declaration, type Route } from './route.js';
import { Router, type Reached } from './router.js';
import { ROUTES } from './routes.js';
import { readProof, writeEtag } from './shared.js';
import { invalid } from '../../checks/arguments.js';
import { isStatepadError } from '../../model/errors.js';
import type { Incoming } from '../../http/incoming.js';
import type { Once } from '../../model/once.js';
import type { Api, Call, Received, ServerContext } from '../api.js';

/** The routes of statepad's own: `/v1/apps/…`, `/v1/watch`, `/openapi.json`, `/healthz` and `/readyz`. */
export class RoutesApi implements Api {
  readonly #context: ServerContext;
  readonly #router = new Router(ROUTES);
  readonly #open = new OpenRequests();

  constructor(context: ServerContext) {
    this.#context = context;
  }

  find(method: string, path: string): Call | readonly string[] | undefined {
    const found = this.#router.find(method, path);
    if (found === undefined || !('route' in found)) {
      return found;
    }
    const { operation, access } = found.route.declaration;
    const answer = async (received: Received): Promise<Reply> => await this.#answer(found, received);
    return access === 'anyone'
      ? { operation, answer, answerAnyone: async () => await this.#answerAnyone(found.route) }
      : { operation, answer };
  }

  refusal(error: unknown, request: Incoming): Reply {
    const reply = this.#context.errors.answer(error, request);
    if (isStatepadError(error) && error.code === 'STATE_CONFLICT' && error.path === REQUEST_HEADERS.key.name) {
      reply.headers.set('retry-after', '1');
    }
    return reply;
  }

  async #answerAnyone({ answer }: Route): Promise<Reply> {
    return replyOf(await answer({ context: this.#context } as Asked<Declaration>), undefined);
  }

  async #answer({ route, ids: readIds }: Reached, received: Received): Promise<Reply> {
    const { declaration } = route;
    const { rights, request, url, anyBody } = received;
    const ids = readIds();
    checkAccess(rights, declaration.access, ids);
    const query = readQuery(declaration, url);
    const { proof, key, creation } = readHeaders(declaration, request.headers);
    const body = declaration.body && parseBody(await received.body());
    if (declaration.body !== undefined) {
      check(declaration.body, body, '');
    }
    const asked = (once: Once | undefined): Asked<Declaration> =>
      ({
        context: this.#context,
        rights,
        request,
        ids,
        query,
        body,
        anyBody,
        proof,
        creation,
        once,
      }) as unknown as Asked<Declaration>;
    if (key === undefined) {
      return replyOf(await route.answer(asked(undefined)), undefined);
    }
    const identity = { principal: rights.id, operation: declaration.operation, ids, key };
    return await this.#open.run(identity, body, async (once, repeated) =>
      replyOf(await route.answer(asked(once)), repeated()),
    );
  }
}

function readQuery({ query = { type: 'object' } }: Declaration, url: URL): Record<string, unknown> {
  const parameters = url.search === '' ? NO_PARAMETERS : url.searchParams;
  checkParameterNames(parameters.keys(), Object.keys(query.properties ?? {}));
  return readParameters(query, (name) => {
    const [text, ...others] = parameters.getAll(name);
    return others.length > 0 ? invalid(name, 'is given more than once') : text;
  });
}

const NO_PARAMETERS = new URLSearchParams();

/** The headers that a route declares. Others are none of its business. */
function readHeaders(
  { headers = [], needs = [] }: Declaration,
  values: Incoming['headers'],
): Pick<Asked<Declaration>, 'proof' | 'creation'> & { readonly key: string | undefined } {
  const read = <T>(header: keyof typeof REQUEST_HEADERS, parse: (text: string) => T): T | undefined => {
    const text = headers.includes(header) ? values.get(REQUEST_HEADERS[header].name) : null;
    if (text === null && needs.includes(header)) {
      invalid(REQUEST_HEADERS[header].name, 'is missing');
    }
    return text === null ? undefined : parse(text);
  };
  return { proof: read('lease', readProof), key: read('key', checkedKey), creation: read('creation', readEtag) };
}

/** The creation id in the ETag of a session; `undefined` for any session. Throws `INVALID_ARGUMENT`. */
function readEtag(text: string): string | undefined {
  const [, tag] = /^"([!#-~]*)"$/.exec(text) ?? [];
  if (text === '*') {
    return undefined;
  }
  try {
    return decodeURIComponent(tag ?? '%');
  } catch {
    return invalid(REQUEST_HEADERS.creation.name, 'is not the ETag of a session');
  }
}

function replyOf(answer: Answer | Reply, repeated: Repeated): Reply {
  if (answer instanceof Response || answer instanceof JsonReply) {
    return answer;
  }
  const { body, creation } = answer;
  const headers = {
    'cache-control': 'no-store',
    ...(creation !== undefined && { [ANSWER_HEADERS.creation.name]: writeEtag(creation) }),
    ...(repeated !== undefined && { [ANSWER_HEADERS.replayed.name]: 'true' }),
    ...(repeated?.isKnown === false && { [ANSWER_HEADERS.values.name]: 'unknown' }),
  };
  return body === undefined ? new Response(null, { status: 204, headers }) : new JsonReply(body, 200, headers);
}
