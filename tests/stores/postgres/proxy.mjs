// A proxy before a server, which cuts connections when it is told.

import { connect, createServer } from 'node:net';

/**
 * Passes everything on, until it is told to cut the next `query`, or its `answer`. With `isHalf` the server does not
 * notice.
 */
export async function startProxy(url) {
  const { port, hostname } = new URL(url);
  const proxy = { cut: undefined, isHalf: false };
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const pass = (from, to, what) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (proxy.cut === what) {
          proxy.cut = undefined;
          client.destroy();
        } else {
          to.write(bytes);
        }
      });
      from.on('error', () => {});
      from.on('close', () => (proxy.isHalf && from === client ? undefined : to.destroy()));
    };
    pass(client, upstream, 'query');
    pass(upstream, client, 'answer');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = new URL(url);
  target.host = `127.0.0.1:${server.address().port}`;
  proxy.url = target.href;
  proxy.stop = async () => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.close(resolve));
  };
  return proxy;
}
