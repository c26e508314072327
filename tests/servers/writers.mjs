// Programs that write to one session, each in a process of its own, which may be killed and started again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { root } from '../packaging/project.mjs';
import { adkPython } from '../hosts/adk-python/python.mjs';

const ours = fileURLToPath(new URL('writer.mjs', import.meta.url));
const theirs = join(root, 'tests', 'hosts', 'adk-python', 'writer.py');

/** The command of a kind of writer. */
const COMMANDS = {
  service: async () => [process.execPath, [ours]],
  client: async () => [process.execPath, [ours]],
  'google-adk': async () => [await adkPython(), ['-W', 'ignore', theirs]],
};

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
    this.#settle.reject(new Error(`${this.name} was stopped`));
    this.#child.kill('SIGKILL');
  }

  async #spawn() {
    const [program, args] = this.#command;
    const task = { ...this.#task, from: this.acknowledged.length + 1 };
    const child = spawn(program, [...args, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] });
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
    if (this.isDone) {
      this.#settle.resolve(undefined);
    } else if (signal === 'SIGKILL') {
      await this.#spawn();
      this.#go();
    } else {
      this.#settle.reject(new Error(`${this.name} has ended with ${code ?? signal}`));
    }
  }
}
