/**
 * A store in Redis, for any number of processes at once: over a client of `ioredis`, `redis` or `@upstash/redis`.
 * Every operation is one script, which is one round trip; only the first change of an app is three.
 *
 * @packageDocumentation
 */

import { newId } from '../../model/ids.js';
import { isStoreError } from '../../store/store-error.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { appRunner } from './apps.js';
import { encodeChanges, outcomeIn } from './commit.js';
import { countExpired } from './count-expired.js';
import { scriptRunner, textOf, type RedisClient } from './client.js';
import { checkRemoved, claimArgs, decodeClaim, decodeLease, decodeLeaseRow, leaseArgs } from './lease.js';
import { decodePage, listArgs } from './list.js';
import { readLogBy } from './log.js';
import { decodeLoaded, decodeScope, loadArgs } from './read.js';
import { commitScript } from './scripts/commit.js';
import { hintText, watchers } from './hints.js';
import { appKeys, appsKey, appVersionKey, baseOf, channelOf, claimKey, memberOf } from './keys.js';
import { scopeKeys, sessionKeys, userKeys } from './keys.js';
import { decodeNames, decodeOwners, namesArgs, ownersArgs } from './names.js';
import { checkArguments, type RedisStoreOptions } from './options.js';
import { findStore } from './open.js';
import { claimScript, leaseScript, readLeaseScript } from './scripts/lease.js';
import { listScript } from './scripts/list.js';
import { readLogScript, trimLogScript } from './scripts/log.js';
import { appsScript, ownersScript, registerScript, usersScript } from './scripts/names.js';
import { loadScript, scopeScript } from './scripts/read.js';
import { removeScopeScript, removeScript } from './scripts/remove.js';
import { askServers } from './server.js';
import { removalKeys, sessionRemovalKeys, sweep } from './sweep.js';
import { upgrader } from './upgrade.js';
import { hintOf } from '../shared/keys.js';
import { committedOr, type Outcome } from '../shared/outcome.js';
import type { Change, ScopeName, SessionStore, StoreFeature } from '../../store/contract.js';

export type { RedisStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';
export type { IoredisClient, NodeRedisClient, RedisClient, UpstashClient } from './client.js';
export type { IoredisSubscriber, NodeRedisSubscriber, RedisSubscriber, UpstashSubscriber } from './hints.js';

/**
 * Makes a store in Redis 6.2 or 7, or what speaks its language (Valkey, Upstash). The client stays the caller's: it
 * has to be connected, and `close` leaves it open. A client that never gives up on a lost connection keeps its callers
 * waiting.
 *
 * - The server must not drop keys by itself: one with a `maxmemory` and a `maxmemory-policy` of `allkeys-*` is
 *   refused. Sessions of which a part is missing are `corrupt`, also when that part is the state of their user or app.
 * - A replica is refused. A failover to one may lose what was acknowledged shortly before: Redis replicates
 *   afterwards. Marks show a service that it has happened.
 * - All keys of an app lie in one slot of a cluster, which is what makes a change of it atomic there; `commitMany`
 *   makes one round trip for each app. While a slot moves to another server, its apps are `unavailable`.
 * - The list of all apps lies in a slot of its own: an app gets into it before its first change is written. Where a
 *   cluster fails over to a replica just then, that app may be missing from `listApps`, and from nothing else.
 * - Sessions expire by the clock of the server, and stay in it until they are removed: by `sweep`, or where another
 *   one takes their place. The server's own `EXPIRE` is not used.
 * - An update that is sent again is known for a day, and so are refused calls and the creations of removed sessions.
 * - The user needs the rights to run scripts and every command in them, on all keys under the prefix; `open` makes
 *   sure of it. Without the right to publish under the prefix no store that watches hears of a change.
 * - `migrate: 'upgrade'` upgrades one app after the other, while services of either version may run: what an older one
 *   writes to an app that has been begun with fails. It lists all keys of the server (`SCAN`), and may be ended and
 *   begun again. No slot of a cluster may move meanwhile.
 *
 * Throws `INVALID_ARGUMENT` when the client or the subscriber is of none of the three packages or not connected, when
 * the prefix has braces, and for an option that it does not know.
 *
 * @example
 * ```ts
 * const store = redisStore(new Redis('redis://localhost'), { subscriber: new Redis('redis://localhost') });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SessionStore {
  checkArguments(client, options);
  const { prefix = 'statepad', subscriber, log: isLogged = true } = options;
  let { durability = 'os' } = options;
  const run = scriptRunner(client);
  const [channel, sender] = [channelOf(prefix), newId()];
  const hints = subscriber && watchers(subscriber, channel, sender);
  const ask = appRunner(run, prefix);
  const logged = isLogged ? 'log' : '';
  const scopeKeysOf = (scope: ScopeName): string[] => {
    const base = baseOf(prefix, scope.app);
    return [appVersionKey(base), ...scopeKeys(base, scope)];
  };
  const upgrade = upgrader(client, run, prefix);

  const commitApp = async (changes: readonly [Change, ...Change[]]): Promise<Outcome[]> => {
    const { appName } = changes[0].key;
    const { keys, args } = encodeChanges(prefix, changes, isLogged);
    const send = async (isRegistered: boolean): Promise<readonly unknown[]> => {
      const registered = isRegistered ? 'registered' : '';
      return (await ask(appName, commitScript, keys, [channel, sender, registered, ...args])) as readonly unknown[];
    };
    let answers = await send(false);
    if (isOfNewApp(answers)) {
      await run(registerScript, [appsKey(prefix)], [`=${appName}`]);
      answers = await send(true);
    }
    return changes.map((change, index) => outcomeIn(change, answers[index]));
  };

  return {
    get durability() {
      return durability;
    },
    keeps: isLogged ? [...KEPT, 'log'] : KEPT,
    resolves: ['increment', 'append', 'setOnce', 'compareAndSet'],
    open: async ({ migrate }) => {
      // First: a replica refuses commands, too, and Redis before 7 cannot say that it is not the user's rights.
      durability = await askServers(client, options.durability ?? 'os');
      await findStore(run, prefix, migrate);
      if (migrate === 'upgrade') {
        await upgrade();
      }
    },
    commit: async (change) => committedOr((await commitApp([change]))[0]),
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
      return changes.map(({ key }) => answers.get(key.appName)?.shift() as Outcome);
    },
    load: async (key, query) => {
      const base = baseOf(prefix, key.appName);
      const [app, appMoves, sessions] = appKeys(base);
      const [user, userMoves] = userKeys(base, key.userId);
      const scopes = [app, appMoves, user, userMoves];
      const keys = [appVersionKey(base), ...sessionKeys(base, memberOf(key)), sessions, ...scopes];
      return decodeLoaded(key, await ask(key.appName, loadScript, keys, loadArgs(key, query), sessionTitle(key)));
    },
    list: async (query) => {
      const base = baseOf(prefix, query.app);
      const [app, appMoves, sessions, , , , , , , allExpiring] = appKeys(base);
      const [, , ofUser, expiring] = query.user === undefined ? [] : userKeys(base, query.user);
      const what = stateOf({ app: query.app });
      const keys = [appVersionKey(base), ofUser ?? sessions, expiring ?? allExpiring, app, appMoves];
      return decodePage(query, await ask(query.app, listScript, keys, listArgs(query), what));
    },
    owners: async (app, sessionId) => {
      const base = baseOf(prefix, app);
      const [, , sessions, , , , , ids, , expiring] = appKeys(base);
      const keys = [appVersionKey(base), ids, sessions, expiring];
      return decodeOwners(await ask(app, ownersScript, keys, ownersArgs(sessionId), 'the ids of sessions'));
    },
    listApps: async (query) => decodeNames(await run(appsScript, [appsKey(prefix)], namesArgs(query)), query),
    listUsers: async (app, query) => {
      const base = baseOf(prefix, app);
      const [, , sessions, , , , , , users] = appKeys(base);
      const keys = [appVersionKey(base), users, sessions];
      const reply = await ask(app, usersScript, keys, namesArgs(query), `the users of ${scopeTitle({ app })}`);
      return decodeNames((reply as readonly unknown[])[1], query);
    },
    remove: async (key, _context, { created, fence } = {}) => {
      const base = baseOf(prefix, key.appName);
      const keys = [...removalKeys(base), ...sessionRemovalKeys(base, key)];
      const guard = [created === undefined ? '' : `=${created}`, fence === undefined ? '' : String(fence)];
      const args = [channel, sender, hintText(key), memberOf(key), ...guard];
      checkRemoved(await ask(key.appName, removeScript, keys, args, sessionTitle(key)), fence);
    },
    loadScope: async (scope) => {
      const what = stateOf(scope);
      return decodeScope(what, await ask(scope.app, scopeScript, scopeKeysOf(scope), [], what));
    },
    removeScope: async (scope) => {
      const args = [channel, sender, hintText(hintOf(scope)), logged, scope.user === undefined ? '' : 'user'];
      const keys = [...scopeKeysOf(scope), ...appKeys(baseOf(prefix, scope.app)).slice(-1)];
      await ask(scope.app, removeScopeScript, keys, args, stateOf(scope));
    },
    sweep: (query, context) =>
      query.dry === true
        ? countExpired({ prefix, run, ask }, query, context)
        : sweep({ prefix, run, ask, channel, sender, isLogged }, query, context),
    claim: async (name, request) =>
      decodeClaim(name, request, await run(claimScript, [claimKey(prefix, name)], claimArgs(request))),
    lease: async (key, request) => {
      const base = baseOf(prefix, key.appName);
      const keys = [appVersionKey(base), sessionKeys(base, memberOf(key))[0], appKeys(base)[2]];
      const reply = await ask(key.appName, leaseScript, keys, leaseArgs(key, request), sessionTitle(key));
      return decodeLease(key, request, reply);
    },
    readLease: async (key) => {
      const base = baseOf(prefix, key.appName);
      const keys = [appVersionKey(base), sessionKeys(base, memberOf(key))[0]];
      return decodeLeaseRow(await ask(key.appName, readLeaseScript, keys, [], sessionTitle(key)));
    },
    ...(isLogged && {
      readLog: (scope, query) => {
        const what = stateOf(scope);
        const run = (args: readonly string[]): Promise<unknown> =>
          ask(scope.app, readLogScript, scopeKeysOf(scope), args, what);
        return readLogBy(run, query, what);
      },
      trimLog: async (scope, upTo) => {
        const place = String(Math.min(upTo, Number.MAX_SAFE_INTEGER));
        const reply = await ask(scope.app, trimLogScript, scopeKeysOf(scope), [place], stateOf(scope));
        return Number((reply as readonly unknown[])[1]);
      },
    }),
    ...(hints && { watch: hints.watch, close: hints.close }),
  };
}

/** The records that the store keeps, whatever its options. */
const KEPT: readonly StoreFeature[] = [
  'marks',
  'changed',
  'calls',
  'creations',
  'removals',
  'digests',
  'limits',
  'expiry',
];

/** True if nothing was written as nothing of the app is there yet: it has to be registered first. */
function isOfNewApp([first]: readonly unknown[]): boolean {
  return !Array.isArray(first) && textOf(first) === 'new';
}

/** The name of the values of a scope in messages. */
function stateOf(scope: ScopeName): string {
  return `the state of ${scopeTitle(scope)}`;
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

/**
 * The answers to the changes of one app: the same refusal for all of them when it is certain that none was written.
 */
function answersOf(outcome: PromiseSettledResult<Outcome[]>, count: number): Outcome[] {
  if (outcome.status === 'fulfilled') {
    return outcome.value;
  }
  const reason: unknown = outcome.reason;
  if (!isStoreError(reason)) {
    throw reason;
  }
  return Array.from({ length: count }, () => reason);
}
