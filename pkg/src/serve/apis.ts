// The APIs of a server, in the order in which they are asked for a path.

import { AgentEngineApi } from './agent-engine/api.js';
import { RoutesApi } from './routes/api.js';
import type { Api, ServerContext } from './api.js';

/** All APIs of a server. */
export function apisOf(context: ServerContext): readonly Api[] {
  return [new AgentEngineApi(context), new RoutesApi(context)];
}
