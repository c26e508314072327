// The session service of adk-js for Agent Engine, with its own client, over a fake.

import { Client } from '@google-cloud/vertexai/build/src/genai/client.js';
import { VertexAiSessionService } from '@google/adk';
import { PROJECT } from './words.mjs';

const HOST = /^https:\/\/[a-z0-9-]*aiplatform\.googleapis\.com\//;
const realFetch = globalThis.fetch;

/** Makes the service. Its client takes the `fetch` of the host: all that goes to the API goes to this fake. */
export function adkService(vertex) {
  globalThis.fetch = (input, init) => {
    const url = typeof input === 'string' ? input : (input.url ?? String(input));
    return HOST.test(url) ? vertex.fetch(input, init) : realFetch(input, init);
  };
  const client = new Client(PROJECT);
  client.apiClient.clientOptions.auth = {
    addAuthHeaders: async (headers) => headers.set('Authorization', 'Bearer adk'),
  };
  const warn = console.warn;
  console.warn = () => undefined;
  try {
    return new VertexAiSessionService({
      projectId: PROJECT.project,
      location: PROJECT.location,
      sessions: client.agentEnginesInternal.sessions,
    });
  } finally {
    console.warn = warn;
  }
}
