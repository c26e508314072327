// The service of adk-python for Agent Engine, with its own client, over fakes behind a server on this machine.

import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startVertex } from './python.mjs';

/** A server whose requests go to the fake that `use` was told last. */
async function startServer() {
  let vertex;
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = method === 'GET' || method === 'HEAD' ? undefined : await buffer(request);
    const told = Object.entries(headers).filter(([name]) => name !== 'host' && name !== 'connection');
    const answer = await vertex.fetch(`http://localhost${url}`, { method, headers: Object.fromEntries(told), body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    use: (other) => (vertex = other),
    stop: () => new Promise((resolve) => server.close(() => resolve(undefined))),
  };
}

const seconds = (ms) => (ms === undefined ? undefined : ms / 1000);
const idsOf = ({ appName, userId, sessionId }) => ({ app_name: appName, user_id: userId, session_id: sessionId });

/** A session service of adk-python, under the names that adk-js has for its methods. */
function serviceOf(ask) {
  const call = (name, request) => ask(JSON.parse(JSON.stringify({ call: name, ...request })));
  return {
    createSession: ({ state, ...key }) => call('create', { ...idsOf(key), state }),
    getSession: ({ config = {}, ...key }) => {
      const { numRecentEvents, afterTimestamp } = config;
      const window = { num_recent_events: numRecentEvents, after_timestamp: seconds(afterTimestamp) };
      return call('get', { ...idsOf(key), config: window });
    },
    listSessions: (key) => call('list', idsOf(key)),
    appendEvent: ({ event }) => call('append', { event: { ...event, timestamp: seconds(event.timestamp) } }),
    deleteSession: (key) => call('delete', idsOf(key)),
  };
}

/** Starts adk-python. `over` makes its service over a fake; there is one at a time. */
export async function startPeer(place) {
  const server = await startServer();
  const { ask, stop } = await startVertex(server.address, place);
  return {
    over: (vertex) => {
      server.use(vertex);
      return serviceOf(ask);
    },
    stop: async () => {
      await stop();
      await server.stop();
    },
  };
}

/** Members whose values are the user's own: their names are no fields of the API. */
const OWN = ['sessionState', 'stateDelta', 'artifactDelta', 'rawEvent', 'customMetadata', 'args', 'response'];
const camel = (name) => name.replace(/(?<=[a-z])_([a-z])/g, (_, letter) => letter.toUpperCase());

/** A body with the fields of the API in camelCase: the API takes both spellings for one. */
function inCamelCase(body) {
  if (typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) return body.map(inCamelCase);
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const field = camel(name);
      return [field, OWN.includes(field) ? value : inCamelCase(value)];
    }),
  );
}

/** A recording with all bodies in one spelling. */
export function spelledAlike(recorded) {
  return Object.fromEntries(
    Object.entries(recorded).map(([step, requests]) => [
      step,
      requests.map((request) => ({ ...request, body: inCamelCase(request.body) })),
    ]),
  );
}
