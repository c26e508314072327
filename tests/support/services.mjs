// Services that tests begin with, and what is counted of them.

import { afterEach } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

/** A function that makes services, each of which is closed after its test. */
export function closedAfterEach() {
  /** @type {SessionService[]} */
  const opened = [];
  afterEach(() => Promise.all(opened.splice(0).map((service) => service.close())));
  return (/** @type {import('statepad').SessionServiceOptions | undefined} */ options) => {
    const service = new SessionService(options);
    opened.push(service);
    return service;
  };
}

/** A service, and another one that shares its sessions where that is possible. */
export const sharingPlaces = {
  memory: () => {
    const service = new SessionService();
    return { service, other: service };
  },
  'memory store': () => {
    const store = memoryStore();
    return { service: new SessionService({ store }), other: new SessionService({ store }) };
  },
};

/**
 * Counts the watches of a service: `source` passes the questions on, `open()` is the number of those that are not
 * over.
 *
 * @param {SessionService} service
 */
export function countingWatches(service) {
  let count = 0;
  const source = {
    getSession: (/** @type {import('statepad').GetSessionRequest} */ request) => service.getSession(request),
    serving: () => /** @type {any} */ (service).serving({}),
    /** @param {import('statepad').WatchTarget} target @param {import('statepad').WatchOptions} options */
    async *watch(target, options) {
      count += 1;
      try {
        yield* service.watch(target, options);
      } finally {
        count -= 1;
      }
    },
  };
  return { source, open: () => count };
}
