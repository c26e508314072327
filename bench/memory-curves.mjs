/**
 * The memory of the service before, at the top, and after everything was deleted: `node bench/memory-curves.mjs
 * [--quick] [--json] [--only keys]`, once it is built. `--quick` takes a tenth. Each curve has a process of its own.
 * The memory of a WebAssembly instance never shrinks: the last column shows whether it is used again, after all is
 * done a second time.
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { usedBytes, watchWasm } from './memory.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    curve: { type: 'string' },
  },
});
const scale = options.quick ? 0.1 : 1;
const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };
const event = (number, stateDelta) => ({
  id: `event-${number}`,
  author: 'agent',
  timestamp: 1_700_000_000_000 + number,
  content: { role: 'model', parts: [{ text: `answer number ${number}` }] },
  actions: { stateDelta },
});

/** Each makes so many, and answers with what deletes them again. */
const CURVES = {
  appends: {
    what: 'appends to one session, three keys each',
    count: 1e6 * scale,
    async make(service, count) {
      const session = await service.createSession(KEY);
      for (let number = 0; number < count; number += 1) {
        const stateDelta = { topic: `part ${number}`, 'user:level': number % 10, 'app:served': number };
        await service.appendEvent({ session, event: event(number, stateDelta) });
      }
      return () => service.deleteSession(KEY);
    },
  },
  sessions: {
    what: 'sessions of one user, created and deleted',
    count: 1e5 * scale,
    async make(service, count) {
      const keyOf = (number) => ({ ...KEY, sessionId: `session-${number}` });
      for (let number = 0; number < count; number += 1) {
        await service.createSession({ ...keyOf(number), state: { topic: `part ${number}`, visits: number } });
      }
      return async () => {
        for (let number = 0; number < count; number += 1) await service.deleteSession(keyOf(number));
      };
    },
  },
  users: {
    what: 'users with a session and a key each',
    count: 1e5 * scale,
    async make(service, count) {
      const keyOf = (number) => ({ ...KEY, userId: `user-${number}` });
      for (let number = 0; number < count; number += 1) {
        await service.createSession({ ...keyOf(number), state: { 'user:name': `Ana the ${number}th` } });
      }
      return async () => {
        for (let number = 0; number < count; number += 1) {
          const session = await service.getSession(keyOf(number));
          await service.appendEvent({ session, event: event(0, { 'user:name': options.deleted }) });
          await service.deleteSession(keyOf(number));
        }
      };
    },
  },
  keys: {
    what: 'invented keys, one an event, deleted by the next',
    count: 1e6 * scale,
    async make(service, count) {
      let session = await service.createSession(KEY);
      for (let number = 0; number < count; number += 1) {
        const stateDelta = { [`app:key ${number}`]: number, [`app:key ${number - 1}`]: options.deleted };
        await service.appendEvent({ session, event: event(number, stateDelta) });
        // The events are not what is looked at here.
        if (number % 1_000 === 999) {
          await service.deleteSession(KEY);
          session = await service.createSession(KEY);
        }
      }
      return async () => {
        await service.appendEvent({ session, event: event(count, { [`app:key ${count - 1}`]: options.deleted }) });
        await service.deleteSession(KEY);
      };
    },
  },
  keysKept: {
    what: 'keys of an app, all there at once, then deleted',
    count: 1e5 * scale,
    async make(service, count) {
      const each = async (value) => {
        for (let first = 0; first < count; first += 1_000) {
          const names = Array.from({ length: 1_000 }, (_, index) => `app:key ${first + index}`);
          const session = await service.createSession(KEY);
          const stateDelta = Object.fromEntries(names.map((name) => [name, value]));
          await service.appendEvent({ session, event: event(first, stateDelta) });
          await service.deleteSession(KEY);
        }
      };
      await each(1);
      return () => each(options.deleted);
    },
  },
};

/** Bytes at each point of a curve. */
async function draw({ make, count }) {
  const wasmBytes = watchWasm();
  const { SessionService, DELETED } = await import('statepad');
  options.deleted = DELETED;
  const service = new SessionService();
  await service.createSession({ ...KEY, appName: 'another app' });
  const before = await usedBytes(wasmBytes);
  const once = async () => {
    const remove = await make(service, count);
    const top = await usedBytes(wasmBytes);
    await remove();
    return top;
  };
  const top = await once();
  const after = await usedBytes(wasmBytes);
  await once();
  return { before, top, after, again: await usedBytes(wasmBytes) };
}

if (options.curve !== undefined) {
  console.log(JSON.stringify(await draw(CURVES[options.curve])));
} else {
  const chosen = Object.keys(CURVES).filter((name) => options.only?.split(',').includes(name) ?? true);
  const drawn = Object.fromEntries(chosen.map((name) => [name, inChild(name)]));
  console.log(options.json ? JSON.stringify(drawn, undefined, 2) : report(drawn));
}

function inChild(name) {
  const flags = ['--expose-gc', '--max-old-space-size=8192', fileURLToPath(import.meta.url), '--curve', name];
  return JSON.parse(execFileSync(process.execPath, [...flags, ...(options.quick ? ['--quick'] : [])]).toString());
}

/** Kilobytes above what was there before, heap and WebAssembly. */
function report(drawn) {
  const lines = [
    'kB above the beginning, heap + wasm                              at the top       deleted         again',
  ];
  for (const [name, { before, ...points }] of Object.entries(drawn)) {
    const { what, count } = CURVES[name];
    const cells = Object.values(points).map(({ heap, wasm }) =>
      `${kilobytes(heap - before.heap)} + ${kilobytes(wasm - before.wasm)}`.padStart(16),
    );
    lines.push(`${`${count.toLocaleString('en')} ${what}`.padEnd(62)}${cells.join('')}`);
  }
  return lines.join('\n');
}

function kilobytes(bytes) {
  return Math.round(bytes / 1024).toLocaleString('en');
}
