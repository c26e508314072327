// A client and the server behind it in one process: requests are passed on without a network.

import { connect } from 'statepad/client';
import { serve } from 'statepad/serve';

/** @typedef {(address: string, init: RequestInit) => Promise<Response>} Fetch */

/**
 * A `fetch` that a handler answers.
 *
 * @param {(request: Request) => Promise<Response>} handler @returns {Fetch}
 */
export const fetchOf = (handler) => async (address, init) =>
  await handler(new Request(address, { ...init, ...(init.body && { duplex: 'half' }) }));

/**
 * The handler of a service that anybody may use, with a short pause between two streams.
 *
 * @param {import('statepad').SessionService} service
 * @param {Partial<import('statepad/serve').ServeOptions>} [options]
 */
export const handlerOf = (service, options) =>
  serve(service, { ...(options?.authorize === undefined && { insecure: true }), retry: 100, ...options });

/**
 * A client of a service. It has short pauses between attempts.
 *
 * @param {import('statepad').SessionService} service
 * @param {Partial<import('statepad/client').ConnectOptions>} [options]
 * @param {Partial<import('statepad/serve').ServeOptions>} [serving] the options of its server
 */
export const clientOf = (service, options, serving) =>
  connect({
    url: 'http://host',
    fetch: fetchOf(handlerOf(service, serving)),
    retry: { pause: 1, attempts: 100 },
    ...options,
  });
