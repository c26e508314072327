/**
 * A store in Redis, for any number of processes at once: over a client of `ioredis`, `redis` or `@upstash/redis`. Every
 * operation is one script, which is one round trip.
 *
 * @packageDocumentation
 */

import { newId } from '../ids.js';
import { isStoreError, StoreError } from '../store-error.js';
import { decodeLoaded, decodePage, decodeScope, listArgs, loadArgs } from './lib/redis-answers.js';
import { decodeAnswer, encodeChanges } from './lib/redis-changes.js';
import { scriptRunner, textOf, type RedisClient } from './lib/redis-client.js';
import { hintText, watchers, type RedisSubscriber } from './lib/redis-hints.js';
import { baseOf, channelOf, memberOf, scopeKey, sessionKeys, userKeys, versionKey } from './lib/redis-keys.js';
import { listScript, loadScript } from './lib/redis-reads.js';
import { commitScript, removeScopeScript, removeScript, scopeScript, versionScript } from './lib/redis-scripts.js';
import type { Change, Committed, Durability, Migrate, SessionStore } from '../store.js';

export type { SessionStore } from '../store.js';
export type { IoredisClient, NodeRedisClient, RedisClient, UpstashClient } from './lib/redis-client.js';
export type { IoredisSubscriber, NodeRedisSubscriber, RedisSubscriber, UpstashSubscriber } from './lib/redis-hints.js';

/** Which version of the keys this is. */
const VERSION = '1';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** What all keys begin with, `statepad` unless told otherwise. It has no braces. */
  readonly prefix?: string;
  /**
   * A second client that listens to what other stores have changed: the store has `watch` then. Of `ioredis` and `redis` it
   * can do nothing else meanwhile; of `@upstash/redis` it may be the first one again.
   */
  readonly subscriber?: RedisSubscriber;
  /**
   * How durable the server makes a write before it answers. `os` unless told otherwise, which is true of a server with
   * `appendonly yes`: its default, `appendfsync everysec`, may lose the last second when the machine fails. It is `disk`
   * with `appendfsync always`, and `memory` with snapshots alone. The store does not ask the server.
   */
  readonly durability?: Durability;
}

/**
 * Makes a store in Redis 6 or newer, or what speaks its language (Valkey, Upstash). The client stays the caller's: it has to
 * be connected, and `close` leaves it open. A client that never gives up on a lost connection keeps its callers waiting.
 *
 * - The server must not drop keys by itself: `maxmemory-policy` has to be `noeviction`. Sessions of which a part is missing
 *   are `corrupt`.
 * - A failover to a replica may lose what was acknowledged shortly before: Redis replicates afterwards.
 * - All keys of an app lie in one slot of a cluster, which is what makes a change of it atomic there; `commitMany` makes one
 *   round trip for each app. While a slot moves to another server, its apps are `unavailable`.
 * - An update that is sent again is known for a day.
 * - The user needs the rights to run scripts and every command in them, on all keys under the prefix; `open` makes sure of it.
 *   Without the right to publish under the prefix nobody who watches hears of a change.
 *
 * Throws a `TypeError` when the client or the subscriber is of none of the three packages, or the prefix has braces.
 *
 * @example
 * ```ts
 * const store = redisStore(new Redis('redis://localhost'), { subscriber: new Redis('redis://localhost') });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SessionStore {
  const { prefix = 'statepad', subscriber, durability = 'os' } = options;
  if (/[{}]/.test(prefix)) {
    throw new TypeError(`prefix "${prefix}" must not have braces`);
  }
  const run = scriptRunner(client);
  const [channel, sender] = [channelOf(prefix), newId()];
  const hints = subscriber && watchers(subscriber, channel, sender);

  const commitApp = async (changes: readonly [Change, ...Change[]]): Promise<(Committed | StoreError)[]> => {
    const { keys, args } = encodeChanges(prefix, changes);
    const answers = (await run(commitScript, keys, [channel, sender, ...args])) as readonly unknown[];
    return changes.map((change, index) => decodeAnswer(change, answers[index]));
  };

  return {
    durability,
    open: async ({ migrate }) => {
      const answer = await run(versionScript, [versionKey(prefix)], [VERSION, migrate === 'check' ? '' : 'create']);
      checkVersion(prefix, answer, migrate);
    },
    commit: async (change) => {
      const [answer] = await commitApp([change]);
      if (isStoreError(answer)) {
        throw answer;
      }
      return answer as Committed;
    },
    commitMany: async (changes) => {
      const groups = groupsByApp(changes);
      if (groups.length <= 1) {
        return groups[0] === undefined ? [] : commitApp(groups[0]);
      }
      // Every app is waited for, also when one of them fails: nothing is on its way any more when this is over.
      const settled = await Promise.allSettled(groups.map(commitApp));
      const answers = new Map(
        settled.map((outcome, index) => {
          const group = groups[index] as [Change, ...Change[]];
          return [group[0].key.appName, answersOf(outcome, group.length)];
        }),
      );
      return changes.map(({ key }) => answers.get(key.appName)?.shift() as Committed | StoreError);
    },
    load: async (key, query) => {
      const base = baseOf(prefix, key.appName);
      const [values, events, times] = sessionKeys(base, memberOf(key));
      const keys = [values, events, times, `${base}l`, `${base}a`, userKeys(base, key.userId)[0]];
      return decodeLoaded(key, await run(loadScript, keys, loadArgs(key, query)));
    },
    list: async (query) => {
      const base = baseOf(prefix, query.app);
      const list = query.user === undefined ? `${base}l` : userKeys(base, query.user)[1];
      return decodePage(query, await run(listScript, [list, `${base}a`], listArgs(query)));
    },
    remove: async (key) => {
      const base = baseOf(prefix, key.appName);
      const member = memberOf(key);
      const keys = [...sessionKeys(base, member), `${base}l`, userKeys(base, key.userId)[1]];
      await run(removeScript, keys, [channel, sender, hintText(key), member]);
    },
    loadScope: async (scope) => {
      const what = scope.user === undefined ? `state of app "${scope.app}"` : `state of user "${scope.user}"`;
      return decodeScope(what, await run(scopeScript, [scopeKey(prefix, scope)], []));
    },
    removeScope: async (scope) => {
      const { app: appName, user: userId } = scope;
      const hint = hintText(userId === undefined ? { appName } : { appName, userId });
      await run(removeScopeScript, [scopeKey(prefix, scope)], [channel, sender, hint]);
    },
    ...(hints && { watch: hints.watch, close: hints.close }),
  };
}

/** The changes of each app, in their order. */
function groupsByApp(changes: readonly Change[]): [Change, ...Change[]][] {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const group = groups.get(change.key.appName);
    if (group === undefined) {
      groups.set(change.key.appName, [change]);
    } else {
      group.push(change);
    }
  }
  return [...groups.values()];
}

/** The answers to the changes of one app: the same refusal for all of them when it is certain that none was written. */
function answersOf(outcome: PromiseSettledResult<(Committed | StoreError)[]>, count: number): (Committed | StoreError)[] {
  if (outcome.status === 'fulfilled') {
    return outcome.value;
  }
  const reason: unknown = outcome.reason;
  if (!isStoreError(reason)) {
    throw reason;
  }
  return Array.from({ length: count }, () => reason);
}

function checkVersion(prefix: string, answer: unknown, migrate: Migrate): void {
  const [status, found] = answer as readonly unknown[];
  if (textOf(status) === 'denied') {
    throw new StoreError('rejected', `redis does not allow the user the commands ${textOf(found)}`);
  }
  if (found === null) {
    throw new StoreError('rejected', `there is no store under the prefix "${prefix}", and migrate: '${migrate}' makes none`);
  }
  const version = textOf(found);
  if (version !== VERSION) {
    throw new StoreError('rejected', `the store under the prefix "${prefix}" is of version ${version}, not ${VERSION}`);
  }
}
