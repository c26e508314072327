// A web server on this machine whose requests a handler of the Fetch API answers.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { nodeListener } from 'statepad/serve';
import { portOf } from './ports.mjs';

/**
 * Serves what `handler` answers. Answers the origin, `cut()`, which destroys every connection, and `stop()`.
 *
 * @param {(request: Request) => Promise<Response>} handler @param {Parameters<typeof nodeListener>[1]} [options]
 */
export async function serveFetch(handler, options) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  const server = createServer(nodeListener(handler, options));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
