// Records what a session service asks of Agent Engine for the steps of steps.json: one step after the other, each over
// a fake of its own with the same session in it, and by a service that has seen nothing of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { SessionService } from 'statepad';
import { vertexAiStore } from 'statepad/stores/vertex-ai';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { adkService } from '../../stores/vertex-ai/adk.mjs';

export const { steps, ...setting } = JSON.parse(readFileSync(new URL('steps.json', import.meta.url), 'utf8'));

const HOUR = 3_600_000;
const { engine: appName, project, location, user, session: sessionId, before } = setting;
/** The location of the engine. */
export const place = { project, location };

/** statepad's service over the store. */
export function statepad(vertex) {
  const store = vertexAiStore({ project, location, token: () => 'token', fetch: vertex.fetch });
  return new SessionService({ store });
}

/** The service of adk-js, with its own client. */
export const adkJs = adkService;

/**
 * The requests of each step, by its name: `{ call, path, query, headers, body }`, as JSON. `by` names who asks: a step
 * that fails for it has to.
 */
export async function record(serviceOver, by = undefined) {
  const recorded = {};
  for (const step of steps) {
    const vertex = fakeVertexAi({ now: () => Date.now() - HOUR });
    await prepare(vertex);
    const service = serviceOver(vertex);
    const play = await played(service, step);
    const start = vertex.requests.length;
    await (step.failsFor?.includes(by) ? assert.rejects(play()) : play());
    recorded[step.name] = vertex.requests.slice(start).map(({ call, path, query, headers, body }) => {
      return JSON.parse(JSON.stringify({ call, path, query, headers, body }));
    });
  }
  return recorded;
}

/** Makes the session that the steps find. */
async function prepare(vertex) {
  const url = `https://${location}-aiplatform.googleapis.com/v1beta1/projects/${project}/locations/${location}`;
  const sessions = `${url}/reasoningEngines/${appName}/sessions`;
  const post = (to, body) =>
    vertex.fetch(to, { method: 'POST', headers: { authorization: 'Bearer setup' }, body: JSON.stringify(body) });
  await post(`${sessions}?sessionId=${sessionId}`, { userId: user, sessionState: before.state });
  for (let number = 0; number < before.events; number++) {
    const timestamp = new Date(Date.parse(before.from) + number * 1_000).toISOString();
    await post(`${sessions}/${sessionId}:appendEvent`, { author: 'agent', invocationId: 'inv', timestamp });
  }
}

/** The call of a step. Requests that the step needs before are made at once, and not recorded. */
async function played(service, step) {
  const key = { appName, userId: user, sessionId: step.session ?? sessionId };
  if ('create' in step) {
    return () => service.createSession({ appName, userId: user, ...step.create });
  }
  if ('get' in step) {
    const { afterTimestamp, ...config } = step.get;
    const from = afterTimestamp === undefined ? {} : { afterTimestamp: Date.parse(afterTimestamp) };
    return () => service.getSession({ ...key, config: { ...config, ...from } });
  }
  if ('list' in step) {
    return () => service.listSessions({ appName, ...step.list });
  }
  if ('append' in step) {
    const session = await service.getSession(key);
    const event = { ...step.append, timestamp: Date.parse(step.append.timestamp) };
    return () => service.appendEvent({ session, event });
  }
  return () => service.deleteSession(key);
}
