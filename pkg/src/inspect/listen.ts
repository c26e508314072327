// A server of this machine alone.

import { createServer } from 'node:http';
import { nodeListener } from '../http/node-listener.js';
import { StatepadError } from '../model/errors.js';
import type { OnError } from '../http/answers.js';
import type { ServeHandler } from '../serve/handler.js';

const HOST = '127.0.0.1';
/** The time for the last bytes of answers to leave, in milliseconds. */
const LAST_BYTES_MS = 500;

/** The place of a server, and what it keeps alive. */
export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** True when the process does not end by itself while it listens. */
  readonly keepAlive: boolean;
  readonly onError: OnError | undefined;
}

/** A server that listens. */
export interface Listening {
  /** Its address, without a slash at its end. */
  readonly origin: string;
  /** Ends the streams, answers the requests that have begun, and closes all connections. */
  close(): Promise<void>;
}

/** Serves a handler. Throws `INVALID_ARGUMENT` for a port that cannot be used. */
export async function listen(handler: ServeHandler, { port, keepAlive, onError }: ListenOptions): Promise<Listening> {
  const server = createServer(nodeListener(handler, { onError }));
  if (!keepAlive) {
    server.unref();
    server.on('connection', (socket) => socket.unref());
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `port ${port} of ${HOST} cannot be used: choose another one, or 0 for a free one`;
      reject(new StatepadError('INVALID_ARGUMENT', message, { path: 'port', cause }));
    });
    server.listen({ host: HOST, port }, resolve);
  });
  const bound = server.address() as { readonly port: number };
  return {
    origin: `http://${HOST}:${bound.port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await handler.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), LAST_BYTES_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
