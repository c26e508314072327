// The three clients, each with all that a store needs of it.

import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { serveRest } from './rest.mjs';

/** A client of `ioredis`, and how it ends. */
export async function openIoredis(url, options) {
  const client = new Redis(url, options);
  // Tests that cut the wire look at what the commands say.
  client.on('error', () => {});
  return { client, end: async () => client.disconnect() };
}

/** A client of `redis`. */
export async function openNodeRedis(url, options) {
  const client = createClient({ url, ...options });
  client.on('error', () => {});
  await client.connect();
  return { client, end: async () => client.destroy() };
}

/** A client of `@upstash/redis` before a server of its protocol. */
export async function openUpstash(url, options) {
  const rest = await serveRest(url);
  const client = new Upstash({ url: rest.url, token: rest.token, enableTelemetry: false, ...options });
  return { client, rest, end: rest.stop };
}

export const clients = { ioredis: openIoredis, 'node-redis': openNodeRedis, upstash: openUpstash };
