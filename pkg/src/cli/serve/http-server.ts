// Node's own server around a handler: its limits, and its end.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CommandError } from '../errors.js';
import { nodeListener, type OnError, type ServeHandler } from '../../serve.js';

/** The limits of connections. */
const LIMITS = {
  /** Of the headers of a request, in bytes: longer ones are answered with 431. */
  maxHeaderSize: 16_384,
  /** The time for the headers, and for the whole request, in milliseconds: 408. Bodies have a limit of their own. */
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  /** Longer than that of proxies, which is a minute: a proxy must not send a request into a connection that closes. */
  keepAliveTimeout: 75_000,
} as const;
/** The time for the last bytes of answers to leave, in milliseconds. */
const LAST_BYTES_MS = 500;

/** A server that listens. */
export interface HttpServer {
  readonly port: number;
  /**
   * Takes no new connection, ends the streams, and resolves when all requests that have begun are answered; after
   * `grace` milliseconds it cuts the others off. Resolves with their number.
   */
  stop(grace: number): Promise<number>;
  /** Cuts all connections off. */
  cut(): void;
}

/** The address to listen on. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Receives errors of connections. */
  readonly onError: OnError;
}

/** Serves a handler. Throws `CommandError` where it cannot listen. */
export async function listen(handler: ServeHandler, { host, port, onError }: ListenOptions): Promise<HttpServer> {
  const listener = nodeListener(handler, { onError });
  const open = new Set<ServerResponse>();
  const ending = { isBegun: false };
  const server = createServer(LIMITS, (request: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    if (ending.isBegun) {
      response.shouldKeepAlive = false;
    }
    response.once('close', () => {
      open.delete(response);
      server.emit('answered');
    });
    listener(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(problemOfListening(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    stop: async (grace) => {
      ending.isBegun = true;
      return await end(server, handler, open, grace);
    },
    cut: () => server.closeAllConnections(),
  };
}

async function end(
  server: Server,
  handler: ServeHandler,
  open: ReadonlySet<ServerResponse>,
  grace: number,
): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const response of open) {
    // So that its connection ends with it.
    response.shouldKeepAlive = false;
  }
  const isInTime = await within(grace, Promise.all([handler.close(), allAnswered(server, open)]));
  const rest = isInTime ? 0 : open.size;
  if (isInTime) {
    // Those of clients that have sent nothing are left.
    server.closeIdleConnections();
    await within(LAST_BYTES_MS, closed);
  }
  server.closeAllConnections();
  await closed;
  return rest;
}

async function allAnswered(server: Server, open: ReadonlySet<ServerResponse>): Promise<void> {
  while (open.size > 0) {
    await new Promise<void>((resolve) => server.once('answered', resolve));
  }
}

/** True when it resolves in time. */
async function within(time: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), time);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

const LISTENING_FAULTS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `port ${port} of ${host} is taken: choose another one by --port, or --port 0 for any`,
  EACCES: (_, port) => `this user may not listen on port ${port}: choose one from 1024`,
  EADDRNOTAVAIL: (host) => `${host} is not an address of this machine`,
  ENOTFOUND: (host) => `there is no host ${host}`,
};

function problemOfListening(error: Error, host: string, port: number): CommandError {
  const { code = '' } = error as { readonly code?: string };
  const text = LISTENING_FAULTS[code]?.(host, port) ?? `cannot listen on port ${port} of ${host}: ${error.message}`;
  return new CommandError(text, { cause: error });
}
