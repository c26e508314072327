// The faces of a door, in the order in which they are asked for a path.

import type { Door, Face } from './face.js';

/** All faces of a door. */
export function facesOf(_door: Door): readonly Face[] {
  return [];
}
