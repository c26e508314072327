// Programs that write to one session, each in a process of its own, which may be killed and started again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { root } from '../packaging/project.mjs';
import { adkPython } from '../hosts/adk-python/python.mjs';
import { pythonEnv, pythonOf } from '../../scripts/python.mjs';

const ours = fileURLToPath(new URL('writer.mjs', import.meta.url));
const inPython = fileURLToPath(new URL('python/writer.py', import.meta.url));
const theirs = join(root, 'tests', 'hosts', 'adk-python', 'writer.py');

/** The command of a kind of writer. */
const COMMANDS = {
  service: async () => [process.execPath, [ours]],
  client: async () => [process.execPath, [ours]],
  python: async () => [await pythonOf('newest'), ['-W', 'ignore', inPython]],
  'google-adk': async () => [await adkPython(), ['-W', 'ignore', theirs]],
};

/**
 * Has a process of the Python package watch a session until it has `count` events. `finish()` has it read the session
 * when all is there, and answers what it has seen.
 */
export async function watchByPython(told) {
  const script = fileURLToPath(new URL('python/reader.py', import.meta.url));
  const args = ['-W', 'ignore', script, JSON.stringify(told)];
  const child = spawn(await pythonOf('newest'), args, { env: pythonEnv, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  const printed = text(child.stdout);
  return {
    finish: async () => {
      child.stdin.end('go\n');
      return JSON.parse(await printed);
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/**
 * A writer: `kind` is that of its program, `name` the one of its events, `count` how many there are, `told` what else
 * its program is told. `begin()` lets it write, `onAcknowledged` is called for each event that it is told is there.
 * `kill()` ends its process, and another one goes on after the last acknowledged event.
 */
export class Writer {
  /** The numbers that were acknowledged, in order. */
  acknowledged = [];
  kills = 0;
  #command;
  #task;
  #child;
  #onAcknowledged;
  #settle;
  #isStopped = false;
  #done = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));

  static async start({ kind, name, count, ...told }, onAcknowledged) {
    const writer = new Writer();
    writer.name = name;
    writer.kind = kind;
    writer.#command = await COMMANDS[kind]();
    writer.#task = { ...told, name, count };
    writer.#onAcknowledged = onAcknowledged;
    await writer.#spawn();
    return writer;
  }

  /** Lets it write. Resolves when all events are acknowledged. */
  async finish() {
    this.#go();
    await this.#done;
  }

  get isDone() {
    return this.acknowledged.length === this.#task.count;
  }

  /** Kills its process. Another one takes over. */
  kill() {
    this.kills += 1;
    this.#child.kill('SIGKILL');
  }

  /** Ends its process for good. */
  stop() {
    this.#isStopped = true;
    this.#settle.reject(new Error(`${this.name} was stopped`));
    this.#child.kill('SIGKILL');
  }

  async #spawn() {
    const [program, args] = this.#command;
    const task = { ...this.#task, from: this.acknowledged.length + 1 };
    const child = spawn(program, [...args, JSON.stringify(task)], {
      env: this.kind === 'python' ? pythonEnv : process.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    child.stdin.on('error', () => undefined);
    const lines = createInterface({ input: child.stdout });
    const ready = once(lines, 'line');
    const ended = Promise.all([once(child, 'close'), once(lines, 'close')]);
    void ended.then(([[code, signal]]) => this.#ended(code, signal));
    await Promise.race([ready, ended]);
    lines.on('line', (line) => {
      this.acknowledged.push(Number(line));
      this.#onAcknowledged(this);
    });
  }

  #go() {
    this.#child.stdin.write('go\n');
  }

  async #ended(code, signal) {
    if (this.isDone && (code === 0 || signal === 'SIGKILL')) {
      this.#settle.resolve(undefined);
    } else if (signal === 'SIGKILL' && !this.#isStopped) {
      await this.#spawn();
      this.#go();
    } else {
      this.#settle.reject(new Error(`${this.name} has ended with ${code ?? signal}`));
    }
  }
}
