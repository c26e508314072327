// Clients of Redis, known by what they can do: each runs scripts in its own words.

import { isUnknownScript, meaningOf, tooMuch } from './errors.js';
import type { Script } from './scripts/script.js';

/** The members of a client of `ioredis` that the store needs: `new Redis(…)` or `new Cluster(…)`. */
export interface IoredisClient {
  defineCommand(name: string, definition: { lua: string }): void;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(hash: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/**
 * The members of a client of `redis` that the store needs, as `createClient` or `createCluster` makes it. It has to be
 * connected.
 */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(hash: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The members of a client of `@upstash/redis` that the store needs: `new Redis({ url, token })`. */
export interface UpstashClient {
  createScript(script: string): unknown;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalsha(hash: string, keys: string[], args: string[]): Promise<unknown>;
}

/** A client that the store can work with. */
export type RedisClient = IoredisClient | NodeRedisClient | UpstashClient;

/** Runs a script. Throws a `StoreError` where it is certain what became of it. */
export type RunScript = (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** The package that a client is of, if any of the three. */
export function kindOf(client: object): 'ioredis' | 'node-redis' | 'upstash' | undefined {
  const { evalSha, defineCommand, createScript } = client as Record<
    'evalSha' | 'defineCommand' | 'createScript',
    unknown
  >;
  if (typeof evalSha === 'function') {
    return 'node-redis';
  }
  if (typeof defineCommand === 'function') {
    return 'ioredis';
  }
  return typeof createScript === 'function' ? 'upstash' : undefined;
}

/** Makes the function that runs scripts by a client. */
export function scriptRunner(client: RedisClient): RunScript {
  const hashes = new Map<Script, Promise<string>>();
  const send = senderOf(client);
  return async (script, keys, args) => {
    const hash = hashes.get(script) ?? hashOf(script.text);
    hashes.set(script, hash);
    try {
      return await send('evalsha', await hash, keys, args).catch((error: unknown) => {
        if (isUnknownScript(error)) {
          return send('eval', script.text, keys, args);
        }
        throw error;
      });
    } catch (error) {
      throw tooMuch(error, args) ?? meaningOf(error, script.onForeign);
    }
  };
}

/** A reply that is a text. Some clients make a number of one that looks like it. */
export function textOf(reply: unknown): string {
  return String(reply);
}

type Send = (
  command: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly string[],
) => Promise<unknown>;

function senderOf(client: RedisClient): Send {
  switch (kindOf(client)) {
    case 'ioredis': {
      const ioredis = client as IoredisClient;
      return (command, script, keys, args) => ioredis[command](script, keys.length, ...keys, ...args);
    }
    case 'node-redis': {
      const redis = client as NodeRedisClient;
      return (command, script, keys, args) =>
        redis[command === 'eval' ? 'eval' : 'evalSha'](script, { keys: [...keys], arguments: [...args] });
    }
    case 'upstash': {
      const upstash = client as UpstashClient;
      return (command, script, keys, args) => upstash[command](script, [...keys], [...args]);
    }
    default:
      // Options are checked before.
      throw new TypeError('the client is none of ioredis, redis or @upstash/redis');
  }
}

/** The hash by which Redis knows a script. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
