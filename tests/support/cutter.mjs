// A proxy of TCP that cuts connections after random numbers of bytes.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { portOf } from './ports.mjs';
import { randomFrom } from './random.js';

/**
 * Starts a proxy before a port of this machine. Of each `block` of bytes that pass a connection, in either direction,
 * one in `1 / rate` ends it: at a byte of chance, the same for the same `seed`. What came before that byte is passed
 * on. Answers the proxy's address, `cuts`, the number of connections that were cut, `calm()`, after which none is, and
 * `stop()`.
 *
 * @param {number} port @param {{ seed: number, block: number, rate: number }} options
 */
export async function startCutter(port, { seed, block, rate }) {
  const random = randomFrom(seed);
  let cuts = 0;
  let isCutting = true;
  /** The number of bytes after which a connection is cut, or goes on with the next block. */
  const next = () => {
    const cut = isCutting && random() < rate;
    return { cut, left: cut ? Math.floor(random() * block) : block };
  };
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let fate = next();
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    /** @param {Buffer} data @param {import('node:net').Socket} from @param {import('node:net').Socket} to */
    const pass = (data, from, to) => {
      let length = 0;
      while (length < data.length) {
        const taken = Math.min(fate.left, data.length - length);
        length += taken;
        fate.left -= taken;
        if (fate.left > 0) continue;
        if (fate.cut && isCutting) {
          cuts += 1;
          to.write(data.subarray(0, length), end);
          return;
        }
        fate = next();
      }
      if (!to.write(data)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    };
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (data) => pass(/** @type {Buffer} */ (data), from, to));
      from.on('error', end);
      // What it has sent before its end is still on its way.
      from.on('close', () => {
        sockets.delete(from);
        to.end();
      });
    }
  });

  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    cuts: () => cuts,
    calm: () => void (isCutting = false),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
