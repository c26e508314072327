// The session service of @google/adk for Agent Engine, with its own client, against a server of `statepad/serve`.

import { Client } from '@google-cloud/vertexai/build/src/genai/client.js';
import { VertexAiSessionService } from '@google/adk';

/** Makes the service for a server. Its client takes the address; the token takes the place of Google's credentials. */
export function adkAtServer(url, { token, appName }) {
  const place = { project: 'p', location: 'l' };
  const client = new Client({ ...place, apiEndpoint: url });
  client.apiClient.clientOptions.auth = {
    addAuthHeaders: async (headers) => headers.set('Authorization', `Bearer ${token}`),
  };
  const warn = console.warn;
  // It says at each start that it is experimental.
  console.warn = () => undefined;
  try {
    const { sessions } = client.agentEnginesInternal;
    return new VertexAiSessionService({ ...place, projectId: place.project, agentEngineId: appName, sessions });
  } finally {
    console.warn = warn;
  }
}
