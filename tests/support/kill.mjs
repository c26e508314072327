// Kills processes at random moments, again and again: what they have acknowledged must be there afterwards.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomFrom } from './random.js';

/**
 * @typedef {object} Loop
 * @property {string} childScript
 * @property {(round: number) => string[]} args
 * @property {number} rounds
 * @property {(ended: { round: number, lines: string[] }) => unknown} verify
 * @property {number} seed
 * @property {number} [life]
 */

/**
 * Starts `childScript` with `args(round)` so many times. Each child gets ready, prints the line `ready`, waits for a
 * line on its standard input, and then works until it is killed by SIGKILL; each line that it prints meanwhile is an
 * acknowledgement. It is killed up to `life` milliseconds after it was told to begin, or, three times out of four,
 * after its first acknowledgement. Then `verify({ round, lines })` looks at what is there. The next two children get
 * ready meanwhile.
 *
 * @param {Loop} loop
 */
export async function killLoop({ childScript, args, rounds, verify, seed, life = 40 }) {
  const random = randomFrom(seed);
  /** @param {number} round */
  const start = (round) => {
    const child = spawn(process.execPath, [childScript, ...args(round)], { stdio: ['pipe', 'pipe', 'inherit'] });
    /** @type {{ text: string, onFirst?: () => void }} */
    const heard = { text: '' };
    child.stdout.setEncoding('utf8');
    /** @type {Promise<void>} */
    const ready = new Promise((resolve, reject) => {
      child.stdout.on('data', (text) => {
        heard.text += text;
        if (heard.text.startsWith('ready\n')) {
          resolve();
        }
        if (heard.text.length > 'ready\n'.length) {
          heard.onFirst?.();
        }
      });
      child.once('close', (code, signal) =>
        reject(new Error(`the child ended before it was ready: ${code ?? signal}`)),
      );
    });
    ready.catch(() => undefined);
    return { child, heard, ready };
  };
  /** @type {ReturnType<typeof start>[]} */
  const children = [];
  try {
    for (let round = 0; round < rounds; round++) {
      while (children.length < Math.min(round + 3, rounds)) children.push(start(children.length));
      const { child, heard, ready } = children[round];
      await ready;
      const closed = once(child, 'close');
      child.stdin.on('error', () => undefined);
      child.stdin.write('go\n');
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const die = () => (timer ??= setTimeout(() => child.kill('SIGKILL'), random() * life));
      if (random() < 0.25) {
        die();
      } else {
        heard.onFirst = die;
      }
      const [code, signal] = await closed;
      clearTimeout(timer);
      if (signal !== 'SIGKILL') {
        throw new Error(`the child ended by itself in round ${round}: ${code ?? signal}\n${heard.text}`);
      }
      await verify({ round, lines: heard.text.split('\n').slice(1, -1) });
    }
  } finally {
    children.forEach(({ child }) => child.kill('SIGKILL'));
  }
}

/** For the child: says that it is ready and resolves when it may begin. */
export async function readyToGo() {
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
}
