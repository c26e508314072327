// What programs write to and read from: a service over a store (`{ place }`), or a client at doors (`{ url }`).

import { openService } from '../sharing/places.mjs';

/** Opens a source. `end` closes it. */
export async function openSource({ place }) {
  const { service, end } = await openService(place);
  return { source: service, end };
}
