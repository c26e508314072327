// A wire that can be cut.

import { connect, createServer } from 'node:net';

/**
 * Passes everything on to a port of this machine. After `cutNextAnswer()` the next thing that the server says does not
 * get through: the connection is cut instead.
 */
export async function startProxy(port) {
  let isArmed = false;
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const end = () => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (isArmed) {
        isArmed = false;
        end();
      } else {
        client.write(bytes);
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    cutNextAnswer: () => (isArmed = true),
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        sockets.forEach((socket) => socket.destroy());
      }),
  };
}
