// Redis by the user's ioredis or redis: a client for commands, and one that listens. Both connect again by themselves.

import { installedDriver, type Driver } from './drivers.js';
import { CommandError } from '../errors.js';
import type { RedisClient, RedisSubscriber } from '../../stores/redis/index.js';
import type { OpenedStore, OpenOptions } from './opened.js';

/** A client of either package, which is not connected yet. */
interface Client {
  connect(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Of both packages: closes at once. */
  disconnect(): unknown;
}

/** The way to make a client of each package: one that sends commands, and one that listens. */
interface Maker {
  readonly sender: (driver: Driver, url: string) => Client;
  readonly subscriber: (driver: Driver, url: string) => Client;
}

/**
 * Without a connection commands fail at once, and the service decides whether it tries again: a client that kept them
 * would let requests wait, and send them when nobody waits any more.
 */
const MAKERS: Readonly<Record<string, Maker>> = {
  ioredis: {
    sender: (driver, url) =>
      newIoredis(driver, url, {
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
      }),
    subscriber: (driver, url) => newIoredis(driver, url, {}),
  },
  redis: {
    sender: (driver, url) => newNodeRedis(driver, { url, disableOfflineQueue: true }),
    subscriber: (driver, url) => newNodeRedis(driver, { url }),
  },
};

function newIoredis(driver: Driver, url: string, options: Readonly<Record<string, unknown>>): Client {
  const Redis = driver.member('Redis') as new (url: string, options: object) => Client;
  return new Redis(url, { lazyConnect: true, connectionName: 'statepad', ...options });
}

function newNodeRedis(driver: Driver, options: Readonly<Record<string, unknown>>): Client {
  const createClient = driver.member('createClient') as (options: object) => Client;
  return createClient({ name: 'statepad', ...options });
}

/** Opens a server. Throws `CommandError` without a package, and for a server that cannot be reached. */
export async function openRedis(url: string, { folder, onError }: OpenOptions): Promise<OpenedStore> {
  const driver = await installedDriver(folder, 'Redis', [{ name: 'ioredis' }, { name: 'redis' }]);
  const { sender: makeSender, subscriber: makeSubscriber } = MAKERS[driver.name] as Maker;
  const client = makeSender(driver, url);
  const subscriber = makeSubscriber(driver, url);
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
  return { store, isEncryptable: true, close };
}
