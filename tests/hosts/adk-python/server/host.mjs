// A server over a file of SQLite, and processes of google-adk on it.

import { openService } from '../../../sharing/places.mjs';
import { sqliteFiles } from '../../../sharing/databases.mjs';
import { startBalancer } from '../../../support/balancer.mjs';
import { startServer } from '../../../support/servers.mjs';
import { startAtServer } from '../python.mjs';

/** The principals of the server's tokens. */
const EVERYTHING = { apps: 'all', users: 'all', writes: ['app', 'user', 'session'] };
const PRINCIPALS = {
  all: { id: 'all', ...EVERYTHING },
  ana: { id: 'ana', apps: ['shop'], users: ['ana'] },
};

/**
 * Starts a server, with a balancer before it that cuts as `cutting.by` says. `service` is one of this process over the
 * same file.
 */
export async function startPlace() {
  const files = sqliteFiles();
  const place = files.newPlace();
  const server = await startServer(place, { principals: PRINCIPALS });
  const cutting = { by: () => undefined };
  const balancer = await startBalancer([server.port], (asked) => cutting.by(asked));
  const { service, end } = await openService(place);
  return {
    url: balancer.url,
    cutting,
    log: balancer.log,
    service,
    /** Starts a process of google-adk, in the environment of a host, whose requests go through the balancer. */
    start: (host, options = {}) => startAtServer(host, balancer.url, { appName: 'shop', token: 'all', ...options }),
    stop: async () => {
      await end();
      await balancer.stop();
      await server.stop();
      await files.stop();
    },
  };
}
