/**
 * A fake of the sessions API of Vertex AI Agent Engine, for tests without a network: in memory, and as strict as the
 * service. It runs in Node, browsers and workers.
 *
 * @packageDocumentation
 */

import { Clock } from './clock.ts';
import { ApiError } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import { readJson, readText } from '../../../pkg/src/serve/agent-engine/wire/json.ts';
import { withProject } from './express.ts';
import { targetOf } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';
import { readQuery } from '../../../pkg/src/serve/agent-engine/wire/query.ts';
import { connectionLost, errorResponse, jsonResponse, notThere } from './responses.ts';
import { Service } from './service.ts';
import { checkSettings, checkTrouble } from './settings.ts';
import { Tokens } from './tokens.ts';
import { refusalOf, Troubles } from './troubles.ts';
import { sleep } from '../../../pkg/src/async/sleep.ts';
import type { FakeVertexAi, FakeVertexAiOptions, VertexRequest } from './types.ts';

export type { VertexCall } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';
export type { FakeVertexAi, FakeVertexAiOptions, VertexRequest, VertexTrouble, VertexTroubleKind } from './types.ts';

/** Headers that are kept out of the list of requests. */
const SECRET = ['authorization', 'x-goog-api-key'];

/** A request, read to its end. */
interface Received {
  readonly request: Request;
  readonly url: URL;
  readonly bytes: Uint8Array;
  readonly record: VertexRequest;
}

/**
 * Makes a fake of the sessions API of Agent Engine (`v1` and `v1beta1`), whose `fetch` takes the place of the global
 * one: sessions, events and operations at `/{version}/projects/{project}/locations/{location}/reasoningEngines/...`,
 * at any host. Each fake has a memory of its own.
 *
 * Throws `INVALID_ARGUMENT` for an option, and later for a trouble, that it does not know.
 *
 * @example
 * ```js
 * const vertex = fakeVertexAi();
 * const engine = 'https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/reasoningEngines/1';
 * const headers = { authorization: 'Bearer any' };
 * await vertex.fetch(`${engine}/sessions?sessionId=s1`, { method: 'POST', headers, body: '{"userId":"ann"}' });
 * const session = await (await vertex.fetch(`${engine}/sessions/s1`, { headers })).json();
 * ```
 */
export function fakeVertexAi(options: FakeVertexAiOptions = {}): FakeVertexAi {
  checkSettings(options);
  const { now = Date.now, random = Math.random, projects = {}, engines, creationDelay = 0, token } = options;
  const service = new Service(new Clock({ now, random }), { projects, engines, creationDelay });
  const troubles = new Troubles();
  const tokens = new Tokens(token);
  const requests: VertexRequest[] = [];

  const answer = ({ request, url, bytes, record }: Received, polls: number): Response => {
    const target = targetOf(record.method, url.pathname);
    if (target === undefined) {
      return notThere();
    }
    const key = tokens.check(request.headers, url.searchParams, target);
    const query = readQuery(target.call, url.searchParams);
    const body = bytes.length === 0 ? undefined : readJson(readText(bytes));
    const call = { target: withProject(target, key), query, body, polls };
    return jsonResponse(200, service.answer(call));
  };

  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const received = await receive(new Request(input, init));
    requests.push(received.record);
    const trouble = troubles.take(received.record);
    if (trouble?.kind === 'request-lost') {
      throw connectionLost();
    }
    const response =
      trouble?.kind === 'error'
        ? refusalOf(trouble)
        : orRefused(() => answer(received, trouble?.kind === 'pending' ? trouble.polls : 0));
    if (trouble?.kind === 'slow') {
      await sleep(trouble.delay, received.request.signal);
    }
    if (trouble?.kind === 'answer-lost') {
      throw connectionLost();
    }
    return response;
  };

  return {
    fetch,
    requests,
    disturb: (trouble) => {
      checkTrouble(trouble);
      troubles.add(trouble);
    },
    expireTokens: () => tokens.expire(),
  };
}

/** Reads a request, unless it was aborted: then its reason is thrown. */
async function receive(request: Request): Promise<Received> {
  request.signal.throwIfAborted();
  const url = new URL(request.url);
  const bytes = new Uint8Array(await request.arrayBuffer());
  request.signal.throwIfAborted();
  const headers = [...request.headers].filter(([name]) => !SECRET.includes(name));
  const record = {
    call: targetOf(request.method, url.pathname)?.call,
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(headers),
    body: bodyOf(bytes),
  };
  return { request, url, bytes, record };
}

/** A body for the list of requests, which also has those that are refused. */
function bodyOf(bytes: Uint8Array): unknown {
  try {
    return bytes.length === 0 ? undefined : (JSON.parse(new TextDecoder().decode(bytes)) as unknown);
  } catch {
    return undefined;
  }
}

/** The answer of a call, or that of the error that it throws. */
function orRefused(call: () => Response): Response {
  try {
    return call();
  } catch (error) {
    if (error instanceof ApiError) {
      return errorResponse(error);
    }
    throw error;
  }
}
