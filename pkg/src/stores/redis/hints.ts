// Hints by publish and subscribe: stores announce their changes to each other.

import { defined } from '../../model/defined.js';
import { kindOf, textOf } from './client.js';
import type { Hint } from '../../store/contract.js';

/** The members that the store needs of a second client of `ioredis` that does nothing but listen. */
export interface IoredisSubscriber {
  defineCommand(name: string, definition: { lua: string }): void;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
}

/** The members that the store needs of a second client of `redis` that does nothing but listen. */
export interface NodeRedisSubscriber {
  evalSha: unknown;
  subscribe(channel: string, listener: (message: unknown) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: unknown) => void): Promise<unknown>;
}

/**
 * The members of a client of `@upstash/redis` that the store needs to listen; it may be the same that it writes with.
 */
export interface UpstashSubscriber {
  createScript(script: string): unknown;
  subscribe(channels: string[]): {
    on(event: 'message', listener: (data: { channel: string; message: unknown }) => void): void;
    unsubscribe(channels: string[]): Promise<unknown>;
  };
}

/** A client that can listen. */
export type RedisSubscriber = IoredisSubscriber | NodeRedisSubscriber | UpstashSubscriber;

/** The watchers of one store. */
export interface Watchers {
  /** Calls `onHint` until the function that it returns is called. */
  readonly watch: (onHint: (hint: Hint) => void) => () => void;
  /** Stops listening. */
  readonly close: () => Promise<void>;
}

/** Listens by `subscriber` to `channel` while there are watchers, but not to what `sender` says itself. */
export function watchers(subscriber: RedisSubscriber, channel: string, sender: string): Watchers {
  const listeners = new Set<(hint: Hint) => void>();
  const onMessage = (message: unknown): void => {
    const [from, ...hints] = textOf(message).split(' ');
    if (from !== sender) {
      hints.map(hintOf).forEach((hint) => hint && listeners.forEach((onHint) => onHint(hint)));
    }
  };
  const { start, stop } = listenerOf(subscriber, channel, onMessage);
  let isListening = false;
  let turn = Promise.resolve();
  // One step after the other, and nothing waits for them: a client that has no connection may take forever. A store
  // that cannot listen gets no hints, and is only slower.
  const follow = (): void => {
    turn = turn.then(async () => {
      const isWanted = listeners.size > 0;
      if (isWanted !== isListening) {
        isListening = isWanted;
        try {
          await (isWanted ? start() : stop());
        } catch {
          isListening = false;
        }
      }
    });
  };
  return {
    watch: (onHint) => {
      // A function that is passed twice is called twice.
      const listener = (hint: Hint): void => onHint(hint);
      listeners.add(listener);
      follow();
      return () => {
        listeners.delete(listener);
        follow();
      };
    },
    close: async () => {
      listeners.clear();
      follow();
    },
  };
}

/** A hint as it is published. It has no blanks: several are joined by them. */
export function hintText({ appName, userId, sessionId }: Hint): string {
  return [appName, userId, sessionId]
    .filter((part) => part !== undefined)
    .map(encodeURIComponent)
    .join('/');
}

/** Reads a hint; `undefined` for anything else that was published on the channel. */
function hintOf(text: string): Hint | undefined {
  try {
    const [appName = '', userId, sessionId] = text.split('/').map(decodeURIComponent);
    return defined({ appName, userId, sessionId });
  } catch {
    return undefined;
  }
}

interface Listener {
  readonly start: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

function listenerOf(subscriber: RedisSubscriber, channel: string, onMessage: (message: unknown) => void): Listener {
  switch (kindOf(subscriber)) {
    case 'ioredis': {
      const ioredis = subscriber as IoredisSubscriber;
      const onAny = (from: string, message: string): void => {
        if (from === channel) {
          onMessage(message);
        }
      };
      return {
        start: () => {
          ioredis.on('message', onAny);
          return ioredis.subscribe(channel);
        },
        stop: () => {
          ioredis.off('message', onAny);
          return ioredis.unsubscribe(channel);
        },
      };
    }
    case 'node-redis': {
      const redis = subscriber as NodeRedisSubscriber;
      return { start: () => redis.subscribe(channel, onMessage), stop: () => redis.unsubscribe(channel, onMessage) };
    }
    case 'upstash': {
      const upstash = subscriber as UpstashSubscriber;
      let subscription: ReturnType<UpstashSubscriber['subscribe']> | undefined;
      return {
        start: async () => {
          subscription = upstash.subscribe([channel]);
          subscription.on('message', ({ message }) => onMessage(message));
        },
        stop: async () => subscription?.unsubscribe([channel]),
      };
    }
    default:
      throw new TypeError('the subscriber is none of ioredis, redis or @upstash/redis');
  }
}
