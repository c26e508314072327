// The sources that programs write to and read from: a service over a store (`{ place }`), or a client at a server
// (`{ url }`).

import { connect } from 'statepad/client';
import { openService } from '../sharing/places.mjs';

/** Opens a source. `end` closes it. */
export async function openSource({ place, url }) {
  if (url !== undefined) {
    const client = connect({ url });
    return { source: client, end: async () => await client.close() };
  }
  const { service, end } = await openService(place);
  return { source: service, end };
}
