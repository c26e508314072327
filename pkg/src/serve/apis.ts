// The faces of a door, in the order in which they are asked for a path.

import { AgentEngineFace } from './agent-engine/face.js';
import { RoutesFace } from './routes/face.js';
import type { Door, Face } from './face.js';

/** All faces of a door. */
export function facesOf(door: Door): readonly Face[] {
  return [new AgentEngineFace(door), new RoutesFace(door)];
}
