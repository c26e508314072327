// Servers in processes of their own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('server-process.mjs', import.meta.url));

/**
 * @typedef {object} ServerOptions
 * @property {number} [port] any free one when it is left out
 * @property {Record<string, object>} [principals] by their tokens; everyone may do everything without them
 * @property {number} [poll] how often watches ask the store, in milliseconds
 */

/**
 * Starts a server over a place of tests/sharing. Answers its address, its port, `stop()`, which lets it end what it
 * has begun, `kill()`, and `cpuTime()`, which is in microseconds.
 *
 * @param {object} place @param {ServerOptions} [options]
 */
export async function startServer(place, options = {}) {
  const told = JSON.stringify({ place, ...options });
  const child = spawn(process.execPath, [script, told], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  // One that was killed does not read any more.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: port, done } = await lines.next();
  if (done) {
    const [code, signal] = await closed;
    throw new Error(`the server has ended with ${signal ?? code}`);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port: Number(port),
    cpuTime: async () => {
      child.stdin.write('\n');
      return Number((await lines.next()).value);
    },
    stop: async () => {
      child.stdin.end();
      await closed;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
