// A web server on this machine whose requests a handler of the Fetch API answers.

import { createServer } from 'node:http';
import { nodeListener } from 'statepad/sse';

/**
 * Serves what `handler` answers. Answers the origin, `cut()`, which destroys every connection, and `stop()`.
 */
export async function serveFetch(handler, options) {
  const sockets = new Set();
  const server = createServer(nodeListener(handler, options));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
