// The parts of a server over a service.

import { apisOf } from './apis.js';
import { InspectorApi } from './inspector/api.js';
import { WatchStreams } from './watch/streams.js';
import { checkMethods } from '../checks/arguments.js';
import type { CheckedOptions } from './options.js';
import type { ServerParts } from './server.js';
import type { SessionService } from '../service/session-service.js';

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
