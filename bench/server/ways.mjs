// The ways to commit an event: what each makes of a place, for one client. An event has a text of 500 characters and
// three keys, one of each scope.

import { randomUUID } from 'node:crypto';
import { openService } from '../../tests/sharing/places.mjs';
import { makeEvent } from '../workload.mjs';
import { openConnection } from './connection.mjs';

const USER = { appName: 'bench', userId: 'u' };

/** An event of its own id: ids are not to be met twice in a session. */
const eventOf = (number) => ({ ...makeEvent(number + 1), id: randomUUID() });

/** The body that google-adk sends for an event: under the names of the API, and whole. */
function asGoogleAdk({ content, author, invocationId, timestamp, actions, ...event }) {
  const [state_delta, artifact_delta] = [actions.stateDelta, actions.artifactDelta];
  return {
    ...{ author, invocationId, content, timestamp: new Date(timestamp).toISOString() },
    actions: { skip_summarization: null, state_delta, artifact_delta, transfer_agent: null, escalate: null },
    eventMetadata: { partial: null, turn_complete: null, interrupted: null, branch: null },
    rawEvent: { ...event, content, author, invocationId, timestamp: timestamp / 1_000, actions },
  };
}

/** A way over HTTP: `create` and `commit` name a request each, as its method, path and body. */
const overHttp =
  ({ create, commit }) =>
  async ({ url }) => {
    const asked = async (connection, request) => {
      const { status, text } = await connection.send(...request);
      if (status >= 300) throw new Error(`${request.slice(0, 2).join(' ')}: ${status} ${text.slice(0, 300)}`);
    };
    const connections = [];
    return {
      create: async (sessionId) => {
        const connection = openConnection(url);
        await asked(connection, create(sessionId));
        connection.close();
      },
      client: async (sessionId) => {
        const connection = openConnection(url);
        connections.push(connection);
        return (number) => asked(connection, commit(sessionId, number));
      },
      disconnect: () => connections.splice(0).forEach((connection) => connection.close()),
    };
  };

/** By its name, what opens a way: `create(sessionId)`, `client(sessionId)`, which answers `commit(number)`. */
export const WAYS = {
  'in process': async ({ place }) => {
    const { service } = await openService(place);
    return {
      create: (sessionId) => service.createSession({ ...USER, sessionId }),
      client: async (sessionId) => {
        const session = await service.getSession({ ...USER, sessionId });
        return (number) => service.appendEvent({ session, event: eventOf(number) });
      },
      disconnect: () => undefined,
    };
  },
  'own routes': overHttp({
    create: (sessionId) => ['POST', '/v1/apps/bench/users/u/sessions', { sessionId }],
    commit: (sessionId, number) => [
      'POST',
      `/v1/apps/bench/users/u/sessions/${sessionId}/events`,
      { event: eventOf(number) },
    ],
  }),
  'Agent Engine': overHttp({
    create: (sessionId) => [
      'POST',
      `/v1beta1/reasoningEngines/bench/sessions?sessionId=${sessionId}`,
      { userId: 'u' },
    ],
    commit: (sessionId, number) => [
      'POST',
      `/v1beta1/reasoningEngines/bench/sessions/${sessionId}:appendEvent`,
      asGoogleAdk(eventOf(number)),
    ],
  }),
  // It has no route that appends an event; this one appends an event with a delta, and no content.
  'adk api_server': overHttp({
    create: (sessionId) => ['POST', '/apps/bench/users/u/sessions', { sessionId }],
    commit: (sessionId, number) => [
      'PATCH',
      `/apps/bench/users/u/sessions/${sessionId}`,
      { stateDelta: eventOf(number).actions.stateDelta },
    ],
  }),
};
