// What `redisStore` is given, looked at before anything is asked of a server.

import { StatepadError } from '../../errors.js';
import { kindOf } from './redis-client.js';

/** The names of all options. */
const KNOWN = ['prefix', 'subscriber', 'durability'];
const DURABILITIES = ['disk', 'os', 'memory', 'replicated'];
const EXAMPLE = "new Redis('redis://localhost') of ioredis, a connected createClient() of redis, or new Redis({ url, token }) of @upstash/redis";

/** Throws `INVALID_ARGUMENT` for a client or options that cannot be used. */
export function checkRedisOptions(client: unknown, options: unknown): void {
  checkClient('client', client);
  if (typeof options !== 'object' || options === null) {
    refuse('options', `must be an object, not ${described(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    refuse(unknown, `is not an option of redisStore, which has ${KNOWN.join(', ')}`);
  }
  const { prefix, subscriber, durability } = options as Record<string, unknown>;
  if (prefix !== undefined && typeof prefix !== 'string') {
    refuse('prefix', `must be a string, not ${described(prefix)}`);
  }
  if (typeof prefix === 'string' && /[{}]/.test(prefix)) {
    refuse('prefix', `must not have braces, which choose the slot of a cluster: "${prefix}"`);
  }
  if (durability !== undefined && !DURABILITIES.includes(durability as string)) {
    refuse('durability', `must be one of ${DURABILITIES.join(', ')}`);
  }
  if (subscriber !== undefined) {
    checkClient('subscriber', subscriber);
    if (subscriber === client && kindOf(client as object) !== 'upstash') {
      refuse('subscriber', 'must be another client than the first: while it listens it can do nothing else. Use client.duplicate()');
    }
    if (typeof (subscriber as { subscribe?: unknown }).subscribe !== 'function') {
      refuse('subscriber', 'must be a client that can subscribe');
    }
  }
}

function checkClient(path: string, client: unknown): void {
  if (typeof client === 'function') {
    refuse(path, `must be a connected client, not what makes one: pass ${EXAMPLE}`);
  }
  if (typeof client !== 'object' || client === null) {
    refuse(path, `must be a connected client, not ${described(client)}: pass ${EXAMPLE}`);
  }
  if (kindOf(client) === undefined) {
    refuse(path, `is none of ioredis, redis or @upstash/redis: pass ${EXAMPLE}`);
  }
  const { isOpen, status } = client as { isOpen?: unknown; status?: unknown };
  if (isOpen === false) {
    refuse(path, 'is not connected: await client.connect() first');
  }
  if (status === 'end') {
    refuse(path, 'is not connected any more: pass one that is');
  }
}

function described(value: unknown): string {
  return typeof value === 'string' ? `the text "${value}"` : value === null ? 'null' : `a value of type ${typeof value}`;
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
