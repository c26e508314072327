// Several processes that do what they are asked at the same time.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('process.mjs', import.meta.url));

/** Starts a process. `ask(what, ...args)` has it do what process.mjs calls so, and answers with what came of it. */
function start() {
  const child = fork(script, [], { execPath: process.execPath, execArgv: [] });
  const waiting = new Map();
  let count = 0;
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      waiting.forEach(({ reject }) => reject(new Error(`the process ended with ${signal ?? code}`)));
      resolve();
    });
  });
  child.on('message', ({ number, answer, error }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) {
      resolve(answer);
    } else {
      reject(new Error(error));
    }
  });
  const ask = (what, ...args) =>
    new Promise((resolve, reject) => {
      waiting.set((count += 1), { resolve, reject });
      child.send({ number: count, what, args });
    });
  const stop = async () => {
    if (child.connected) {
      child.disconnect();
    }
    await ended;
  };
  return { ask, stop };
}

/**
 * Starts so many processes. `all(what, ...)` asks all of them at once; functions among the arguments get the number of
 * each.
 */
export function startProcesses(count) {
  const processes = Array.from({ length: count }, start);
  const all = async (what, ...args) =>
    await Promise.all(
      processes.map(
        async ({ ask }, index) =>
          await ask(what, ...args.map((each) => (typeof each === 'function' ? each(index) : each))),
      ),
    );
  const stop = async () => {
    await Promise.all(processes.map((each) => each.stop()));
  };
  return { first: processes[0].ask, all, stop };
}
