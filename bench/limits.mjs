// The largest value and the largest event that each store takes and gives back: `node bench/limits.mjs`, or with names
// of stores for some of them. Each is tried in a process of its own, which may run out of memory. Sizes are bytes of
// JSON.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SessionService } from 'statepad';

const MIB = 2 ** 20;
/** Half of the longest string of JavaScript, which needs room for what is around the value. */
const MOST = 480 * MIB;
/** The steps between the last size that was kept and the first one that was not. */
const STEPS = 3;
const KINDS = ['value', 'event'];
const KEY = { appName: 'limits', userId: 'ana' };

/** The stores: each opens itself in the process that tries it, and makes another store over the same data. */
const STORES = {
  memory: async () => {
    const { memoryStore } = await import('statepad/stores/memory');
    const store = memoryStore();
    return { open: () => store };
  },
  journal: async ({ folder }) => {
    const { fileJournal } = await import('statepad/stores/journal');
    return { open: () => fileJournal(join(folder, 'sessions.log')) };
  },
  sqlite: async ({ folder }) => {
    const { sqliteStore } = await import('statepad/stores/sqlite');
    return { open: () => sqliteStore(join(folder, 'sessions.db')) };
  },
  postgres: async ({ url }) => {
    const { default: pg } = await import('pg');
    const { postgresStore } = await import('statepad/stores/postgres');
    const pool = new pg.Pool({ connectionString: url });
    return { open: () => postgresStore(pool), close: async () => await pool.end() };
  },
  redis: async ({ url }) => {
    const { Redis } = await import('ioredis');
    const { redisStore } = await import('statepad/stores/redis');
    const client = new Redis(url, { maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    return { open: () => redisStore(client), close: async () => client.disconnect() };
  },
  d1: async () => {
    const { Miniflare } = await import('miniflare');
    const { d1Store } = await import('statepad/stores/cloudflare');
    const script = 'export default { fetch: () => new Response() }';
    const host = new Miniflare({ modules: true, script, d1Databases: ['DB'] });
    const database = await host.getD1Database('DB');
    return { open: () => d1Store(database), close: async () => await host.dispose() };
  },
};

/** Servers of some stores, by their names. */
const SERVERS = {
  postgres: async () => await (await import('../tests/support/postgres.mjs')).startPostgres(),
  redis: async () => await (await import('../tests/support/redis.mjs')).startRedisServer(),
};

const [first, ...names] = process.argv.slice(2);
if (first === '--try') {
  await tryOut(...names);
} else {
  await measure(first === undefined ? Object.keys(STORES) : [first, ...names]);
}

async function measure(stores) {
  console.log('store     kind   keeps       not         because');
  for (const store of stores) {
    const server = await SERVERS[store]?.();
    try {
      for (const kind of KINDS)
        console.log([store.padEnd(9), kind.padEnd(6), await found(store, kind, server)].join(' '));
    } finally {
      await server?.stop();
    }
  }
}

/** The line of a store: the largest size that it keeps, the smallest one that was refused, and the reason. */
async function found(store, kind, server) {
  const sizes = { kept: 0, refused: Infinity, reason: '' };
  const attempt = async (size) => {
    const reason = await attempted(store, kind, size, server);
    if (reason === undefined) sizes.kept = size;
    else Object.assign(sizes, { refused: size, reason });
  };
  for (let size = MIB / 4; size < MOST && sizes.refused === Infinity; size *= 2) await attempt(size);
  if (sizes.refused === Infinity) await attempt(MOST);
  for (let step = 0; step < STEPS && sizes.refused < Infinity; step++) {
    await attempt(Math.round((sizes.kept + sizes.refused) / 2));
  }
  const { kept, refused, reason } = sizes;
  return `${shown(kept)} ${refused === Infinity ? 'more is not tried' : `${shown(refused)} ${reason}`}`;
}

function shown(size) {
  return `${(size / MIB).toFixed(2)} MiB`.padEnd(11);
}

/** The reason why a size is refused; `undefined` when it is kept. */
async function attempted(store, kind, size, server) {
  const args = [fileURLToPath(import.meta.url), '--try', store, kind, String(size), server?.url ?? ''];
  const child = spawn(process.execPath, ['--max-old-space-size=8192', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  await once(child, 'close');
  return out === 'kept' ? undefined : out || 'the process has ended: there was no memory';
}

/** Writes a value or an event of a size, and reads it by another service. Prints `kept`, or the reason why not. */
async function tryOut(name, kind, bytes, url) {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-limits-'));
  let outcome;
  try {
    const { open, close } = await STORES[name]({ folder, url });
    outcome = await kept(open, kind, Number(bytes)).catch(reasonOf);
    await close?.();
  } catch (error) {
    outcome = reasonOf(error);
  }
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(outcome, () => process.exit());
}

async function kept(open, kind, bytes) {
  // Two of the bytes are the quotes around the text.
  const text = 'x'.repeat(bytes - 2);
  const limits = Object.fromEntries(['value', 'delta', 'event', 'state'].map((limit) => [limit, Infinity]));
  const options = () => ({ store: open(), timeout: 300_000, retry: { attempts: 1 }, limits });
  const service = new SessionService(options());
  const session = await service.createSession({ ...KEY, ...(kind === 'value' && { state: { text } }) });
  if (kind === 'event') {
    // An event has some bytes around its text.
    const content = { role: 'user', parts: [{ text: text.slice(1_000) }] };
    await service.appendEvent({ session, event: { author: 'user', content } });
  }
  await service.close();
  const other = new SessionService(options());
  const read = await other.getSession({ ...KEY, sessionId: session.id });
  const back = kind === 'value' ? read?.state.text : read?.events[0]?.content.parts[0].text;
  await other.close();
  return back?.length === (kind === 'value' ? text.length : text.length - 1_000)
    ? 'kept'
    : 'it comes back as another one';
}

function reasonOf(error) {
  const { code = error.name, message, cause } = error;
  return `${code}: ${[message, cause?.message].filter(Boolean).join(': ')}`.replaceAll(/\s+/g, ' ').slice(0, 160);
}
