// The sessions API of Agent Engine over a service of one's own.

import { SessionService } from 'statepad';
import { serve } from 'statepad/serve';
import { asker, ENGINE } from '../../vertex/ask.mjs';

/** The names in answers: this server repeats those that it was asked for. */
export const NAMES = {
  sessions: `${ENGINE}/sessions`,
  location: ENGINE.replace(/\/reasoningEngines.*/, ''),
  asked: ENGINE,
};

/** A handler as the function of the Fetch API, which rejects when its signal is aborted. */
export function fetchOf(handler) {
  return async (input, init) => {
    init?.signal?.throwIfAborted();
    return await handler(new Request(input, init));
  };
}

/** A server over a service: `{ service, fetch, ask, handler }`. */
export function openServer({ service = new SessionService(), version, ...options } = {}) {
  const rights = options.authorize === undefined ? { insecure: true } : {};
  const handler = serve(service, { onError: () => undefined, ...rights, ...options });
  const fetch = fetchOf(handler);
  return { service, handler, fetch, ask: asker({ fetch }, { version }) };
}
