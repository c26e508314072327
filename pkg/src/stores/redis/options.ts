// The options of `redisStore`, and the checks of its arguments.

import { describe } from '../../model/value-types.js';
import { checkOptions, invalid } from '../../checks/arguments.js';
import { checkChoice } from '../shared/options.js';
import { kindOf } from './client.js';
import type { RedisSubscriber } from './hints.js';
import type { Durability } from '../../store/contract.js';

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** The prefix of all keys, `statepad` by default. It has no braces. */
  readonly prefix?: string;
  /**
   * A second client that listens to what other stores have changed: the store has `watch` then. Of `ioredis` and
   * `redis` it can do nothing else meanwhile; of `@upstash/redis` it may be the first one again.
   */
  readonly subscriber?: RedisSubscriber;
  /**
   * The durability of a write that the server has answered, where the server does not report it: managed servers may
   * not, and that of Upstash does not. `os` by default. The store warns once then, and believes it. A server's report
   * comes first: `memory` without an append-only file, `os` with `appendfsync everysec` or `no`, `disk` with `always`.
   */
  readonly durability?: Durability;
  /**
   * True (the default) keeps a log of app and user values, which tells their past. It lies in the memory of the server
   * until it is trimmed. All stores under a prefix should have the same setting: where some keep none, the log of an
   * app or a user begins anew after each change of theirs.
   */
  readonly log?: boolean;
}

const OPTIONS = ['prefix', 'subscriber', 'durability', 'log'];
const DURABILITIES = ['disk', 'os', 'memory', 'replicated'];
const EXAMPLE =
  "new Redis('redis://localhost') of ioredis, a connected createClient() of redis, or " +
  'new Redis({ url, token }) of @upstash/redis';

/** Throws `INVALID_ARGUMENT` for a client or options that cannot be used. */
export function checkArguments(client: unknown, options: unknown): void {
  checkClient('client', client);
  checkOptions(options, OPTIONS);
  const { prefix, subscriber, durability, log } = options as Record<string, unknown>;
  if (prefix !== undefined && typeof prefix !== 'string') {
    invalid('prefix', `must be a string, not ${describe(prefix)}`);
  }
  if (typeof prefix === 'string' && /[{}]/.test(prefix)) {
    invalid('prefix', `must not have braces, which choose the slot of a cluster: "${prefix}"`);
  }
  if (durability !== undefined && !DURABILITIES.includes(durability as string)) {
    invalid('durability', `must be one of ${DURABILITIES.join(', ')}, not ${describe(durability)}`);
  }
  checkChoice('log', log, [true, false]);
  if (subscriber !== undefined) {
    checkClient('subscriber', subscriber);
    if (subscriber === client && kindOf(client as object) !== 'upstash') {
      const why = 'while it listens it can do nothing else. Use client.duplicate()';
      invalid('subscriber', `must be another client than the first: ${why}`);
    }
    if (typeof (subscriber as { subscribe?: unknown }).subscribe !== 'function') {
      invalid('subscriber', 'must be a client that can subscribe');
    }
  }
}

function checkClient(path: string, client: unknown): void {
  if (typeof client === 'function') {
    invalid(path, `must be a connected client, not a function that creates one: pass ${EXAMPLE}`);
  }
  if (typeof client !== 'object' || client === null) {
    invalid(path, `must be a connected client, not ${describe(client)}: pass ${EXAMPLE}`);
  }
  if (kindOf(client) === undefined) {
    invalid(path, `is none of ioredis, redis or @upstash/redis: pass ${EXAMPLE}`);
  }
  const { isOpen, status } = client as { isOpen?: unknown; status?: unknown };
  if (isOpen === false) {
    invalid(path, 'is not connected: await client.connect() first');
  }
  if (status === 'end') {
    invalid(path, 'is not connected any more: pass one that is');
  }
}
