// Short words for the tests of the store in Agent Engine.

import { SessionService } from 'statepad';
import { vertexAiStore } from 'statepad/stores/vertex-ai';
import * as changes from '../../support/changes.js';
import { fakeVertexAi } from '../../support/vertex.mjs';

export const context = { signal: new AbortController().signal };
export const PROJECT = { project: 'my-project', location: 'us-central1' };
export const ENGINE = 'projects/my-project/locations/us-central1/reasoningEngines/1234';
export const APP = '1234';

/** A store over a fake. Pauses are short. */
export function storeOver(vertex, options = {}) {
  return vertexAiStore({ ...PROJECT, token: () => 'token', fetch: vertex.fetch, pause: 1, ...options });
}

/** A fake, a store over it, and a service over that. */
export function opened(options = {}, { service: serviceOptions = {}, ...fakeOptions } = {}) {
  const vertex = fakeVertexAi(fakeOptions);
  const store = storeOver(vertex, options);
  return { vertex, store, service: new SessionService({ store, ...serviceOptions }) };
}

export const keyOf = (sessionId, userId = 'ana', appName = APP) => changes.keyOf(sessionId, userId, appName);

export const create = (id, key, delta, time = 1_000) => changes.create(id, key, delta, { time });
export { append } from '../../support/changes.js';

/** The requests during a run, as `getSession` and the like. */
export async function requestsOf(vertex, run) {
  const before = vertex.requests.length;
  const answer = await run();
  return [vertex.requests.slice(before).map(({ call }) => call), answer];
}

/** The API itself, for what another writer does. */
export async function call(vertex, method, path, body) {
  const url = `https://us-central1-aiplatform.googleapis.com/v1beta1/${path}`;
  const headers = { authorization: 'Bearer other', 'content-type': 'application/json', 'x-writer': 'other' };
  const response = await vertex.fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** An event of another writer, who knows no `rawEvent`. */
export async function appendForeign(vertex, sessionId, stateDelta = {}, more = {}) {
  const event = { author: 'agent', invocationId: 'inv', timestamp: new Date().toISOString(), ...more };
  return await call(vertex, 'POST', `${ENGINE}/sessions/${sessionId}:appendEvent`, {
    ...event,
    actions: { stateDelta },
  });
}
