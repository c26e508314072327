// A balancer before servers: any request goes to any of them, and connections to clients can be cut.

import { Agent, createServer, request as send } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { portOf } from './ports.mjs';

/**
 * The moment at which a connection is cut: `before` the request is passed on, `after` a server has answered, of which
 * the client hears nothing, or in the `middle` of the answer.
 *
 * @typedef {'before' | 'after' | 'middle'} Cut
 * @typedef {{ method: string, path: string }} Asked
 * @typedef {{ method: string, path: string, status: number, cut: Cut | undefined }} Passed
 */

/**
 * Starts a balancer over the ports of servers, which take turns; a server that refuses a connection is passed over, as
 * nothing has reached it. `cutOf` says where the connection of a request is cut, if it is. Answers its address, `use`,
 * which names other servers, `log`, the requests that were passed on, and `stop`.
 *
 * @param {readonly number[]} servers @param {(asked: Asked) => Cut | undefined} [cutOf]
 */
export async function startBalancer(servers, cutOf = () => undefined) {
  const agent = new Agent({ keepAlive: true });
  /** @type {Passed[]} */
  const log = [];
  let ports = servers;
  let turn = 0;

  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    const cut = cutOf({ method, path });
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined || cut === 'before') {
      request.socket.destroy();
      return;
    }
    try {
      const answer = await passedOn(request, body);
      log.push({ method, path, status: answer.statusCode ?? 0, cut });
      await answered(answer, response, cut);
    } catch {
      // The server has gone while it worked: nobody knows what came of it.
      request.socket.destroy();
    }
  });

  /** @param {import('node:http').IncomingMessage} request @param {Buffer} body */
  async function passedOn(request, body) {
    for (let tries = 1; ; tries += 1) {
      const port = ports[(turn += 1) % ports.length];
      const { method, url: path, rawHeaders } = request;
      const passing = send({ agent, host: '127.0.0.1', port, method, path, headers: rawHeaders });
      passing.end(body);
      request.once('close', () => request.destroyed && request.socket.destroyed && passing.destroy());
      try {
        const [answer] = await once(passing, 'response');
        return /** @type {import('node:http').IncomingMessage} */ (answer);
      } catch (error) {
        const isRefused = /** @type {NodeJS.ErrnoException} */ (error).code === 'ECONNREFUSED';
        if (!isRefused || tries >= 2 * ports.length) throw error;
      }
    }
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    log,
    /** @param {readonly number[]} others */
    use: (others) => void (ports = others),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

/**
 * @param {import('node:http').IncomingMessage} answer @param {import('node:http').ServerResponse} response
 * @param {Cut | undefined} cut
 */
async function answered(answer, response, cut) {
  const { statusCode = 0, rawHeaders } = answer;
  if (cut === undefined) {
    response.writeHead(statusCode, rawHeaders);
    response.flushHeaders();
    pipeline(answer, response, () => undefined);
    return;
  }
  const body = await buffer(answer);
  if (cut === 'middle') {
    response.writeHead(statusCode, rawHeaders);
    await new Promise((resolve) => response.write(body.subarray(0, body.length >> 1), resolve));
  }
  response.destroy();
}
