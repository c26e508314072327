/**
 * Measures the command line on large stores: `node bench/cli.mjs [--quick] [--json]`, once the package is built. Each
 * figure is that of a process of its own: the time until its first line is there, that until all are, and the most
 * memory that it held (on Linux).
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SessionService } from 'statepad';
import { sqliteStore } from 'statepad/stores/sqlite';

const PROGRAM = fileURLToPath(new URL('../pkg/dist/cli.js', import.meta.url));
/** The pause between two looks at the memory of a process, in milliseconds. */
const LOOK_MS = 10;
/** The writes that are under way at a time. */
const AT_ONCE = 500;

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const [sessions, events] = options.quick ? [5_000, 2_500] : [100_000, 50_000];

/** Does something so many times, some of them at once. */
async function times(count, task) {
  for (let done = 0; done < count; done += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - done);
    await Promise.all(Array.from({ length: size }, (_, index) => task(done + index)));
  }
}

/** An SQLite file with many sessions of a thousand users, and one session with many events. */
async function fill(path) {
  const service = new SessionService({ store: sqliteStore(path, { synchronous: 'normal' }) });
  await times(sessions, (index) =>
    service.createSession({
      appName: 'shop',
      userId: `user-${index % 1_000}`,
      sessionId: `session-${index}`,
      state: { topic: `topic ${index}`, cart: [1, 2, 3], note: 'a text of some forty characters in a state' },
    }),
  );
  const session = await service.createSession({ appName: 'long', userId: 'ana', sessionId: 'monday' });
  await times(events, (index) => {
    const text = `Answer ${index}, which has about a hundred characters, as the answers of a model often have.`;
    const stateDelta = { step: index, [`key ${index % 200}`]: index };
    const content = { role: 'model', parts: [{ text }] };
    return service.appendEvent({ session, event: { author: 'agent', content, actions: { stateDelta } } });
  });
  await service.close();
}

/** Runs the program, and reads what it prints. */
async function measured(args) {
  const start = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let [first, lines, peak] = [0, 0, 0];
  child.stdout.on('data', (bytes) => {
    first ||= performance.now() - start;
    for (const byte of bytes) lines += byte === 10 ? 1 : 0;
  });
  const looks = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid));
  }, LOOK_MS);
  const [code] = await once(child, 'close');
  clearInterval(looks);
  if (code !== 0) throw new Error(`statepad ${args.join(' ')} ended with ${code}`);
  return { args: args.slice(2).join(' '), first, all: performance.now() - start, lines, peak };
}

/** The most memory that a process has held, in MiB; 0 where that cannot be known. */
function memoryOf(pid) {
  try {
    const [, kilobytes = 0] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'statepad-bench-'));
try {
  const path = join(folder, 'sessions.db');
  await fill(path);
  const calls = [
    [],
    ['shop'],
    ['shop', '*', '*'],
    ['shop', '*', '*', '--json'],
    ['shop', '*', '*', '--limit', '100'],
    ['--session', 'session-0'],
    ['long', 'ana', 'monday'],
    ['long', 'ana', 'monday', '--json'],
    ['long', 'ana', 'monday', '--limit', '10'],
    ['long', 'ana', 'monday', '--at', String(events / 2)],
    ['long', 'ana', 'monday', '--key', 'step'],
  ];
  const rows = [];
  for (const args of calls) rows.push(await measured(['show', path, ...args]));
  if (options.json) {
    console.log(JSON.stringify(rows));
  } else {
    console.log(`${'show sessions.db'.padEnd(36)}  first line   all    lines   memory`);
    for (const { args, first, all, lines, peak } of rows) {
      const figures = [`${Math.round(first)} ms`.padStart(10), `${(all / 1_000).toFixed(1)} s`.padStart(6)];
      const size = [String(lines).padStart(8), `${Math.round(peak)} MiB`.padStart(8)];
      console.log([args.padEnd(36), ...figures, ...size].join(' '));
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
