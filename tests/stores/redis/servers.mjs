// A server for the tests of one file, with the clients, prefixes and stores that they need.

import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { redisStore } from 'statepad/stores/redis';
import { deleteKeys, startRedisCluster } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { context, create, keyOf, values } from './words.mjs';

/**
 * A server that `start` has started: `startRedis`, or `startRedisServer` where it must be of our own. It ends after
 * the tests of the file, with all clients of it. `admin` is one of `ioredis`.
 */
export async function serverForTests(start) {
  const server = await start();
  const opened = [];
  /** A client, and what belongs to it, from one of `clients`. */
  const open = async (make, ...args) => {
    const one = await make(server.url, ...args);
    opened.push(one);
    return one;
  };
  const clientOf = async (...args) => (await open(...args)).client;
  const admin = await clientOf(openIoredis);
  after(async () => {
    await Promise.all(opened.map(({ end }) => end()));
    await server.stop();
  });

  /** A prefix that no other test has, also in a server that others use. */
  const newPrefix = () => `statepad-test-${randomUUID()}`;
  /** Runs `action` with such a prefix, and deletes what lies under it. */
  const withPrefix = async (action) => {
    const prefix = newPrefix();
    try {
      await action(prefix);
    } finally {
      await deleteKeys(admin, `${prefix}:`);
    }
  };
  /** A store under a prefix of its own, with a session. */
  const fresh = async (client = admin) => {
    const prefix = newPrefix();
    const store = redisStore(client, { prefix });
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', keyOf('s'), { session: values({ a: 1 }), app: values({ b: 1 }) }), context);
    return { store, prefix };
  };
  /** Everything under a prefix. */
  const contentsOf = async (prefix) => {
    const keys = (await admin.keys(`${prefix}:*`)).sort();
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, (await admin.dumpBuffer(key)).toString('base64')])),
    );
  };
  return { server, admin, open, clientOf, newPrefix, withPrefix, fresh, contentsOf };
}

/** A cluster with a client of each library, by its name. It ends after the tests of the file, as its clients do. */
export async function clusterForTests() {
  const cluster = await startRedisCluster();
  const ioredis = new Cluster(cluster.nodes, { retryDelayOnTryAgain: 5 });
  const nodeRedis = createCluster({ rootNodes: cluster.servers.map(({ url }) => ({ url })) });
  nodeRedis.on('error', () => {});
  await nodeRedis.connect();
  after(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
    await cluster.stop();
  });
  return { cluster, clients: { ioredis, 'node-redis': nodeRedis } };
}
