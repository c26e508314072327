// A session service over HTTP.

import { checkServeOptions, type ServeOptions } from './options.js';
import { checkService, partsOf } from './parts.js';
import { handlerOf } from './server.js';
import type { ServeHandler } from './handler.js';
import type { SessionService } from '../service/session-service.js';

/**
 * Serves a session service over HTTP: to clients of Agent Engine's sessions API, and to `statepad/client` and all
 * others by JSON routes of its own, which `GET /openapi.json` describes.
 *
 * `authorize` returns the principal of each request: a target that it may not see is answered with 403, present or
 * not. The handler never rejects. Errors are JSON, `{ error: { code, message, … } }`; internal ones reveal no more
 * than their code and the number under which `onError` received them.
 *
 * Throws `INVALID_ARGUMENT` for a service or an option that it cannot use, and without `authorize`.
 *
 * @example
 * const service = new SessionService({ store: sqliteStore('sessions.db') });
 * const handler = serve(service, {
 *   authorize: async (request) => {
 *     const userId = await userOf(request);
 *     return userId === undefined ? undefined : { id: userId, apps: ['tutor'], users: [userId] };
 *   },
 * });
 * createServer(nodeListener(handler)).listen(8080);
 */
export function serve(service: SessionService, options: ServeOptions): ServeHandler {
  checkService(service);
  const checked = checkServeOptions(options);
  return handlerOf(checked, partsOf(service, checked));
}
