// A session service over HTTP.

import { apisOf } from './apis.js';
import { InspectorApi } from './inspector.js';
import { checkServeOptions, type CheckedOptions, type ServeOptions } from './options.js';
import { handlerOf, type ServeHandler, type ServerParts } from './server.js';
import { WatchStreams } from './watch/streams.js';
import { checkMethods } from '../checks/arguments.js';
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

/** Checks a service that is to be served: one of another copy of the package has another class. */
export function checkService(service: SessionService): void {
  checkMethods(service, 'service', ['getSession', 'watch', 'serving']);
}

/** The parts of a server over a service. */
export function partsOf(
  service: SessionService,
  { errors, basePath, streams: pace, inspector }: CheckedOptions,
): ServerParts {
  const streams = new WatchStreams(service, errors, pace);
  const context = { service, access: async () => await service.serving({}), errors, streams, basePath };
  const apis = [...(inspector === undefined ? [] : [new InspectorApi(inspector, errors)]), ...apisOf(context)];
  return { apis, endStreams: () => streams.close() };
}
