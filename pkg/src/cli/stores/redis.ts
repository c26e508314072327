// Redis by the user's ioredis or redis: a client for commands, and one that listens. Both connect again by themselves.

import { installedDriver, type Driver } from './drivers.js';
import { CommandError } from '../errors.js';
import type { RedisClient, RedisSubscriber } from '../../stores/redis/index.js';
import type { OpenedStore, OpenOptions } from './opened.js';

/** A client of either package, which is not connected yet. */
interface Client {
  connect(): Promise<unknown>;
  duplicate(): Client;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Of both packages: closes at once. */
  disconnect(): unknown;
}

/** The way to make a client of each package. */
const CLIENTS: Readonly<Record<string, (driver: Driver, url: string) => Client>> = {
  ioredis: (driver, url) => {
    const Redis = driver.member('Redis') as new (url: string, options: { lazyConnect: true }) => Client;
    return new Redis(url, { lazyConnect: true });
  },
  redis: (driver, url) => {
    const createClient = driver.member('createClient') as (options: { url: string }) => Client;
    return createClient({ url });
  },
};

/** Opens a server. Throws `CommandError` without a package, and for a server that cannot be reached. */
export async function openRedis(url: string, { folder, onError }: OpenOptions): Promise<OpenedStore> {
  const driver = await installedDriver(folder, 'Redis', [{ name: 'ioredis' }, { name: 'redis' }]);
  const client = (CLIENTS[driver.name] as (driver: Driver, url: string) => Client)(driver, url);
  const subscriber = client.duplicate();
  const clients = [client, subscriber];
  const close = async (): Promise<void> => {
    clients.forEach((each) => void each.disconnect());
  };
  let onBroken: (error: Error) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => {
    onBroken = reject;
  });
  clients.forEach((each) => each.on('error', (error) => onBroken(error)));
  try {
    // Their own promises wait for a server that may come up.
    await Promise.race([Promise.all(clients.map((each) => each.connect())), broken]);
  } catch (error) {
    onBroken = () => undefined;
    await close();
    throw new CommandError('redis cannot be reached', { cause: error });
  }
  onBroken = onError;
  const { redisStore } = await import('../../stores/redis/index.js');
  const store = redisStore(client as unknown as RedisClient, {
    subscriber: subscriber as unknown as RedisSubscriber,
  });
  return { store, close };
}
