// The sessions API of Agent Engine over a session service.

import { JsonReply, type Reply } from '../../http/reply.js';
import { checkApp, checkOwners, isWrite, type EngineCall } from './call.js';
import { appendEvent } from './append.js';
import { createSession } from './create.js';
import { deleteSession, getSession, updateSession } from './sessions.js';
import { listEvents } from './events.js';
import { listSessions } from './list.js';
import { getOperation } from './operation.js';
import { orMissing } from './owner.js';
import { refusalOf } from './refusal.js';
import { SessionDetails } from './details.js';
import { engineTarget } from './target.js';
import { readJson, readText } from './wire/json.js';
import { findPath, methodsAt, type FoundPath, type VertexCall } from './wire/paths.js';
import { readQuery } from './wire/query.js';
import { refused } from '../../http/answers.js';
import { isStatepadError } from '../../model/errors.js';
import { lostNumber, lostTitle } from '../../model/json-numbers.js';
import type { Incoming } from '../../http/incoming.js';
import type { Api, Call, Received, ServerContext } from '../api.js';

const CALLS: Readonly<Record<VertexCall, (call: EngineCall) => Promise<object>>> = {
  createSession,
  getSession,
  listSessions,
  updateSession,
  deleteSession,
  listEvents,
  appendEvent,
  getOperation,
};

/** The sessions API of Agent Engine: `/v1` and `/v1beta1`, in both with and without `projects/…/locations/…`. */
export class AgentEngineApi implements Api {
  readonly #context: ServerContext;
  readonly #details = new SessionDetails();

  constructor(context: ServerContext) {
    this.#context = context;
  }

  find(method: string, path: string): Call | readonly string[] | undefined {
    const found = findPath(method, path);
    if (found === undefined) {
      const methods = methodsAt(path);
      return methods.length > 0 ? methods : undefined;
    }
    return { operation: found.call, answer: async (received) => await this.#answer(found, received) };
  }

  refusal(error: unknown, request: Incoming): Reply {
    return refusalOf(error, request, this.#context.errors);
  }

  async #answer(found: FoundPath, { request, url, rights, body }: Received): Promise<Reply> {
    const target = engineTarget(found);
    if (target.call !== 'getOperation') {
      checkApp(target, rights);
    }
    const query = readQuery(target.call, url.searchParams);
    const access = await this.#context.access();
    if (target.call !== 'getOperation') {
      checkOwners(access);
    }
    const { service } = this.#context;
    const signal = isWrite(target.call) ? undefined : request.signal;
    const given = bodyIn(await body());
    const call = { target, query, body: given, rights, service, access, details: this.#details, signal };
    return json(await this.#carryOut(call));
  }

  async #carryOut(call: EngineCall): Promise<object> {
    try {
      return await CALLS[call.target.call](call);
    } catch (error) {
      // A session that is deleted meanwhile is missing in the same words as one that never was.
      if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
        orMissing(call);
      }
      throw error;
    }
  }
}

/**
 * The body as JSON; `undefined` for an empty one. Throws for a number that JavaScript cannot hold, which would be
 * stored as another one.
 */
function bodyIn(bytes: Uint8Array): unknown {
  if (bytes.length === 0) {
    return undefined;
  }
  const text = readText(bytes);
  const body = readJson(text);
  const number = lostNumber(text);
  if (number !== undefined) {
    throw refused(400, `the body has ${lostTitle(number)}: write it as a text`);
  }
  return body;
}

function json(body: object): Reply {
  const headers = { 'content-type': 'application/json; charset=UTF-8', 'cache-control': 'no-store' };
  return new JsonReply(body, 200, headers);
}
