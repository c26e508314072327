// A web server on this machine whose requests a handler of the Fetch API answers.

import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Serves what `handler` answers. Answers the origin, `cut()`, which destroys every connection, and `stop()`.
 */
export async function serveFetch(handler) {
  const sockets = new Set();
  const server = createServer(async (request, response) => {
    const { method, headers: given } = request;
    const answer = await handler(new Request(`http://localhost${request.url}`, { method, headers: given }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    await pipeline(answer.body ? Readable.fromWeb(answer.body) : [], response).catch(() => {});
  });
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
