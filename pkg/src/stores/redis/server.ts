// The report of a server about itself: it drops keys or not, takes writes or not, and makes them durable to a degree.

import { warn } from '../../model/warnings.js';
import { StoreError } from '../../store/store-error.js';
import { kindOf, textOf, type RedisClient } from './client.js';
import type { Durability } from '../../store/contract.js';

/** Sends one command to one server. */
export type SendCommand = (command: readonly string[]) => Promise<unknown>;

/** The members of a client that are looked at beyond running scripts: it need not have any of them. */
interface Members {
  call?(command: string, ...args: string[]): Promise<unknown>;
  sendCommand?(command: string[]): Promise<unknown>;
  scan?(cursor: string, options: { match: string; count: number }): Promise<[string | number, string[]]>;
  nodes?(role: 'master'): Members[];
  masters?: unknown[];
  nodeClient?(node: unknown): Promise<Members>;
}

/**
 * The servers behind a client that take writes: the primaries of a cluster, or the one server. None when the client
 * has no way to send them any command, as that of Upstash.
 */
export async function serversOf(client: RedisClient): Promise<SendCommand[]> {
  const clients = await clientsOf(client as Members);
  return clients.flatMap((one): SendCommand[] => {
    switch (kindOf(one)) {
      case 'ioredis':
        return typeof one.call === 'function' ? [async ([name = '', ...args]) => one.call?.(name, ...args)] : [];
      case 'node-redis':
        return typeof one.sendCommand === 'function' ? [async (command) => one.sendCommand?.([...command])] : [];
      default:
        return [];
    }
  });
}

async function clientsOf(client: Members): Promise<Members[]> {
  if (typeof client.nodes === 'function') {
    return client.nodes('master');
  }
  const { masters } = client;
  if (Array.isArray(masters) && typeof client.nodeClient === 'function') {
    return Promise.all(masters.map(async (node) => (await client.nodeClient?.(node)) ?? {}));
  }
  return [client];
}

/** The names of all keys that begin with `start`, some at a time, each at least once. */
export async function* keysOf(client: RedisClient, start: string): AsyncGenerator<readonly string[]> {
  const upstash = client as Members;
  const { options } = client as { options?: { keyPrefix?: unknown } };
  // A prefix that `ioredis` puts before all keys is not put before patterns.
  const before = typeof options?.keyPrefix === 'string' ? options.keyPrefix : '';
  const match = `${`${before}${start}`.replace(/[*?[\]\\]/g, '\\$&')}*`;
  const servers =
    kindOf(client) === 'upstash' && typeof upstash.scan === 'function'
      ? [async ([, cursor = '0']: readonly string[]) => upstash.scan?.(cursor, { match, count: 1_000 })]
      : await serversOf(client);
  if (servers.length === 0) {
    throw new StoreError(
      'rejected',
      'the client cannot list keys, which an upgrade needs: pass one that can send SCAN',
    );
  }
  for (const send of servers) {
    let cursor = '0';
    do {
      const [next, keys] = (await send(['SCAN', cursor, 'MATCH', match, 'COUNT', '1000'])) as [
        unknown,
        readonly unknown[],
      ];
      yield keys.map((key) => textOf(key).slice(before.length));
      cursor = textOf(next);
    } while (cursor !== '0');
  }
}

/**
 * Asks every server. Throws `rejected` for one that does not suit, and answers how durable the weakest makes a write.
 */
export async function askServers(client: RedisClient, fallback: Durability): Promise<Durability> {
  const servers = await serversOf(client);
  const reports = await Promise.all(servers.map(ask));
  if (reports.length === 0 || reports.includes(undefined)) {
    warnOnce(fallback);
  }
  const order: readonly Durability[] = ['memory', 'os', 'disk', 'replicated'];
  const all = reports.length === 0 ? [fallback] : reports.map((one) => one ?? fallback);
  return order.find((one) => all.includes(one)) ?? fallback;
}

/** The durability that one server reports; nothing when it reports none. */
async function ask(send: SendCommand): Promise<Durability | undefined> {
  const info = await send(['INFO']).then(textOf, isUnanswered);
  if (info === undefined) {
    return undefined;
  }
  const lineOf = (name: string): string | undefined => new RegExp(`^${name}:([^\r\n]*)`, 'm').exec(info)?.[1];
  if (lineOf('role') === 'slave') {
    const primary = `${lineOf('master_host') ?? 'its primary'}:${lineOf('master_port') ?? ''}`;
    throw new StoreError('rejected', `this redis is a replica, which takes no lasting writes: connect to ${primary}`);
  }
  const policy = lineOf('maxmemory_policy') ?? '';
  if (policy.startsWith('allkeys-') && lineOf('maxmemory') !== '0') {
    throw new StoreError(
      'rejected',
      `redis drops keys when its memory is full (maxmemory-policy ${policy}): CONFIG SET maxmemory-policy noeviction`,
    );
  }
  if (lineOf('aof_enabled') !== '1') {
    return lineOf('aof_enabled') === '0' ? 'memory' : undefined;
  }
  const fsync = await send(['CONFIG', 'GET', 'appendfsync']).then(configValue, isUnanswered);
  return fsync === undefined ? undefined : fsync === 'always' ? 'disk' : 'os';
}

/** The server has understood, and does not answer that. Anything else is for the caller. */
function isUnanswered(error: unknown): undefined {
  if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) {
    return undefined;
  }
  throw error;
}

/** The value in what `CONFIG GET` answers: a list of names and values, or a record of them. */
function configValue(reply: unknown): string | undefined {
  const values: unknown[] = Array.isArray(reply)
    ? reply.slice(1)
    : reply instanceof Map
      ? [...(reply as ReadonlyMap<unknown, unknown>).values()]
      : Object.values(reply ?? {});
  return values.length === 0 ? undefined : textOf(values[0]);
}

let hasWarned = false;

function warnOnce(fallback: Durability): void {
  if (!hasWarned) {
    hasWarned = true;
    warn(
      'STATEPAD_REDIS',
      'redis does not report its settings. It must not drop keys (maxmemory-policy noeviction), and durability is taken to be ' +
        `'${fallback}', as the option says: set it to the durability of your server`,
    );
  }
}
